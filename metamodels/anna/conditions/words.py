"""The words of conditions, and limits on how long and how deep a text may be."""

import re
import unicodedata

import attrs

import neomodel as nm

LONGEST, DEEPEST = 4000, 12
"""Characters of a text; nesting of brackets, and of the tree."""

FUNCTIONS = (
    "abs", "coalesce", "concat", "day", "length", "lookup", "lower", "ltrim", "month", "nullif", "rtrim", "substring",
    "trim", "upper", "year",
)  # fmt: skip
_BEFORE_BRACKET = {"and", "or", "not", "in", "when", "then", "else", "between", "like", "case"}

_WORD = re.compile(
    r"""(?P<space>[ \t\r\n]+) | (?P<text>'(?:[^']|'')*') | (?P<name>"(?:[^"]|"")+") |
    (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?(?![\w.])) | (?P<word>[^\W\d]\w*) |
    (?P<sign><=|>=|<>|!=|\|\||[-+*/%=<>(),])""",
    re.VERBOSE,
)


@attrs.frozen
class Refusal:
    """Makes errors that tell of which text they are."""

    text: str

    def __call__(self, reason: str) -> nm.InvalidCondition:
        return nm.InvalidCondition(self.text if len(self.text) <= 80 else f"{self.text[:80]}…", reason)


def words(text: str, refused: Refusal) -> list[tuple[str, str]]:
    """The words of a text, with their kinds: text, name, number, word or sign; or `InvalidCondition`, if it is too
    long, nested too deep, or has other words or functions than conditions have."""
    found_: list[tuple[str, str]] = []
    if not text.strip():
        raise refused("it is empty")
    if len(text) > LONGEST:
        raise refused(f"it has {len(text):,} characters, {LONGEST:,} are allowed")
    at = depth = 0
    before, kind_before = "", ""
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise refused(f"{text[at]!r} at character {at + 1} means nothing here")
        if text.startswith(("--", "/*"), at):
            raise refused(f"comments, as at character {at + 1}, are not part of the language; say why in the reason")
        word, kind, at = found[0], str(found.lastgroup), found.end()
        if kind == "space":
            continue
        if kind == "word":
            if unicodedata.normalize("NFKC", word) != word:
                raise refused(f"{word!r} can be taken for another word; write it plainly, or in double quotes")
        elif kind in ("text", "name"):
            _check_quoted(word, refused)
            if kind_before == "text":
                raise refused(f"{word} follows a text; || joins texts")
        elif word == "(":
            depth += 1
            if depth > DEEPEST:
                raise refused(f"its brackets are nested deeper than {DEEPEST}")
            if kind_before == "word" and before.lower() not in (*_BEFORE_BRACKET, *FUNCTIONS):
                raise refused(f"there is no function {before!r}; there are {', '.join(FUNCTIONS)}")
            if kind_before == "name":
                raise refused(f"there is no function {before}; there are {', '.join(FUNCTIONS)}")
        elif word == ")":
            depth -= 1
        found_.append((kind, word))
        before, kind_before = word, kind
    if depth:
        raise refused("its brackets don't match")
    return found_


def _check_quoted(word: str, refused: Refusal) -> None:
    try:
        word.encode()
    except UnicodeEncodeError:
        raise refused("it has text that UTF-8 has not") from None
    if "\0" in word:
        raise refused("it has a character 0")
