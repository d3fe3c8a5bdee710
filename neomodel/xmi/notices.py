"""What was odd about a file, but not so odd that it could not be read: told with file and line, or refused."""

import attrs

from neomodel.errors import InvalidFile, one_line


@attrs.frozen
class Notice:
    """One oddity: where it is, and what was made of it."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.file}:{self.line}: {self.text}")


class Notices:
    """Collects notices; if `strict`, the first one is `InvalidFile`."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.found: list[Notice] = []

    def add(self, file: str, line: int, text: str) -> None:
        """Keep it, or refuse the file for it."""
        if self.strict:
            raise InvalidFile(f"{file}:{line}", f"{text}; that is refused, because strict was asked for")
        self.found.append(Notice(file, line, text))
