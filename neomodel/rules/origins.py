"""What lies with each result of where it comes from: the rule that made it, by which name, and of which source."""

GROUP = "="
"""What the source of a grouped rule begins with; then comes the key."""


def group(key: str) -> str:
    """The source that a key is for a grouped rule."""
    return GROUP + key


def trace_cell(rule: str, output: str, source: str) -> bytes:
    """The cell that says it."""
    return f"{rule}\0{output}\0{source}".encode()


def traced(cell: bytes) -> tuple[str, str, str]:
    """Rule, output and source, as the cell has them."""
    rule, output, source = cell.decode().split("\0")
    return rule, output, source
