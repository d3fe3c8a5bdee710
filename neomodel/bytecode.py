"""Functions that have no text, as they were typed at a prompt: told by what Python made of them."""

from types import CodeType


def told(code: CodeType) -> str:
    """What a function does and names, with all functions in it; the same in every process of one version of Python."""
    constants = [_constant(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names!r} {constants!r}"


def _constant(value: object) -> str:
    if isinstance(value, CodeType):
        return told(value)
    if isinstance(value, frozenset):  # which has its values in another order in each process
        return f"frozenset({', '.join(sorted(map(repr, value)))})"
    return repr(value)
