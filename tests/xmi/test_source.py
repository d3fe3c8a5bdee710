"""XML as events: names, encodings, archives; and what is refused."""

import tracemalloc
import zipfile
from pathlib import Path

import pytest

from neomodel.errors import InvalidFile
from neomodel.xmi import source
from neomodel.xmi.source import Source, split


class Told:
    """What a source told, in order; text in one piece."""

    def __init__(self, of: Source) -> None:
        self.of = of
        self.events: list[tuple[object, ...]] = []

    def start(self, name: str, attributes: list[str]) -> None:
        self.events.append(("start", name, dict(zip(attributes[::2], attributes[1::2], strict=True)), self.of.line))

    def end(self, name: str) -> None:
        self.events.append(("end", name))

    def text(self, data: str) -> None:
        if self.events[-1][0] == "text":
            data = f"{self.events.pop()[1]}{data}"
        self.events.append(("text", data))

    def comment(self, data: str) -> None:
        self.events.append(("comment", data))

    def cdata(self, begins: bool) -> None:
        self.events.append(("cdata", begins))


def told(path: Path) -> list[tuple[object, ...]]:
    handler = Told(Source(path))
    handler.of.parse(handler)
    return handler.events


def texts(path: Path) -> str:
    return "".join(str(event[1]) for event in told(path) if event[0] == "text")


def written(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def test_events_come_in_order_with_names_resolved_and_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.xmi",
        '<r xmlns="http://d" xmlns:p="http://p" a="1" p:b="2">\n  <p:c/>\n<!-- x --><![CDATA[<&]]>\n</r>\n',
    )

    assert told(path) == [
        ("start", "http://d r", {"a": "1", "http://p b": "2"}, 1),
        ("text", "\n  "),
        ("start", "http://p c", {}, 2),
        ("end", "http://p c"),
        ("text", "\n"),
        ("comment", " x "),
        ("cdata", True),
        ("text", "<&"),
        ("cdata", False),
        ("text", "\n"),
        ("end", "http://d r"),
    ]
    assert split("http://d r") == ("http://d", "r")
    assert split("r") == ("", "r")


def test_prefixes_are_known_where_they_are_in_force(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xmi", '<r xmlns:p="http://1"><s xmlns:p="http://2" xmlns="http://3"/><t/></r>')
    of = Source(path)
    seen = []

    class Watching(Told):
        def start(self, name: str, attributes: list[str]) -> None:
            super().start(name, attributes)
            seen.append((split(name)[1], of.namespace("p"), of.namespace(""), of.namespace("q"), of.prefixes()))

    of.parse(Watching(of))

    assert seen == [
        ("r", "http://1", None, None, {"p": "http://1"}),
        ("s", "http://2", "http://3", None, {"p": "http://2", "": "http://3"}),
        ("t", "http://1", None, None, {"p": "http://1"}),
    ]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", None),
        ("utf-8", "UTF-8"),
        ("utf-8", "utf8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-8-sig", "ASCII"),
        ("utf-16", "UTF-16"),
        ("utf-16", "UTF-8"),
        ("utf-16", None),
        ("utf-32", "UTF-32"),
        ("iso-8859-1", "ISO-8859-1"),
        ("iso-8859-1", "latin1"),
        ("iso-8859-15", "ISO-8859-15"),
        ("cp1252", "windows-1252"),
        ("shift_jis", "Shift_JIS"),
        ("gb18030", "GB18030"),
    ],
)
def test_every_encoding_is_read(tmp_path: Path, encoding: str, declared: str | None) -> None:
    text = {"shift_jis": "日本", "gb18030": "中文"}.get(encoding, "é")
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    long = text * 50_000  # so that pieces end within characters

    assert texts(written(tmp_path / "a.xmi", f"{declaration}<r>{long}</r>", encoding)) == long


def test_an_archive_of_one_file_is_read_and_one_of_two_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.zxmi"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ResourceContents", "<r>packed</r>")

    assert texts(path) == "packed"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("another", "<r/>")
    with pytest.raises(InvalidFile, match=r"a\.zxmi: it is an archive of 2 files, expected one"):
        told(path)


REFUSED = {
    "": r"a\.xmi:1: the XML is broken: no element found, at column 1",
    "<r>\n<a></r>": r"a\.xmi:2: the XML is broken: mismatched tag",
    "<r>": r"a\.xmi:1: the XML is broken: no element found",
    "<r/><r/>": r"a\.xmi:1: the XML is broken: junk after document element",
    '<r a="1" a="2"/>': r"a\.xmi:1: the XML is broken: duplicate attribute",
    "<p:r/>": r"a\.xmi:1: the XML is broken: unbound prefix",
    "<r>\n&x;</r>": r"a\.xmi:2: the XML is broken: undefined entity",
    '<?xml version="1.0" encoding="klingon"?><r/>': r"a\.xmi:1: nothing is known of the encoding klingon",
    '<?xml version="1.0" encoding="zip"?><r/>': r"a\.xmi:1: nothing is known of the encoding zip",
    '<?xml version="1.0" encoding="idna"?><r/>': r"a\.xmi:1: idna is no encoding of XML",
    '<?xml version="1.0" encoding="utf-16"?><r/>': r"a\.xmi:1: it says that its encoding is utf-16, which it is not",
    '\n<!DOCTYPE r SYSTEM "other.dtd"><r/>': r"a\.xmi:2: its document type is in another file, other\.dtd",
    '<!DOCTYPE r [\n<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>': r"a\.xmi:2: it declares the entity x",
    '<!DOCTYPE r [<!ENTITY % x SYSTEM "o.dtd"> %x;]><r>&y;</r>': r"a\.xmi:1: it declares the entity x",
    '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><r>&b;</r>': r"a\.xmi:1: it declares the entity a",
    "<r>" * 1001: r"a\.xmi:1: elements lie more than 1000 deep",
}


@pytest.mark.parametrize("content", REFUSED)
def test_what_is_wrong_or_unsafe_is_refused_with_file_and_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(InvalidFile, match=REFUSED[content]):
        told(written(tmp_path / "a.xmi", content))


def test_bytes_that_are_not_in_the_declared_encoding_are_refused(tmp_path: Path) -> None:
    declared = b'<?xml version="1.0" encoding="%s"?><r>\xff\xff\xff</r>'

    with pytest.raises(InvalidFile, match=r"a\.xmi:1: the XML is broken: not well-formed"):
        told(written(tmp_path / "a.xmi", declared % b"UTF-8"))
    with pytest.raises(InvalidFile, match=r"a\.xmi:1: this is not in the encoding shift_jis"):
        told(written(tmp_path / "a.xmi", declared % b"Shift_JIS"))


def test_a_document_type_that_lies_in_the_file_is_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xmi", '<!DOCTYPE r [<!ELEMENT r ANY><!ATTLIST r a CDATA "made up">]><r/>')

    assert told(path) == [("start", "r", {}, 1), ("end", "r")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "there is no such file"), (b"PK\3\4 and no more", "the file can't be read")],
)
def test_what_is_no_file_of_xml_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "a.xmi"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InvalidFile, match=rf"a\.xmi: {reason}"):
        told(path)
    with pytest.raises(InvalidFile, match="it is a folder; name a file"):
        told(tmp_path)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zxmi"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ResourceContents", "".join(f"<r{n}/>" for n in range(9000)))
    content = bytearray(path.read_bytes())
    content[200:5000] = bytes(4800)
    path.write_bytes(content)

    with pytest.raises(InvalidFile):
        told(path)


def test_a_long_attribute_is_whole_and_its_cost_grows_with_its_length(tmp_path: Path) -> None:
    value = "//@a.1 " * 2_000_000
    (start, _) = told(written(tmp_path / "a.xmi", f'<r a="{value}"/>'))

    assert start[2] == {"a": value}


def test_a_tag_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST", 1 << 20)

    with pytest.raises(InvalidFile, match=r"a\.xmi:2: a tag takes more than 1048576 bytes"):
        told(written(tmp_path / "a.xmi", "<r>\n<s a='" + "x" * 5_000_000))


def test_reading_takes_no_more_memory_for_a_larger_file(tmp_path: Path) -> None:
    class Deaf:
        def start(self, name: str, attributes: list[str]) -> None: ...

        def end(self, name: str) -> None: ...

        def text(self, data: str) -> None: ...

    peaks = []
    for count in (20_000, 200_000):
        path = written(tmp_path / "a.xmi", "<r>" + "<s a='1'>text</s>\n" * count + "</r>")
        tracemalloc.start()
        Source(path).parse(Deaf())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 100_000


def test_what_a_handler_raises_comes_through(tmp_path: Path) -> None:
    class Failing(Told):
        def end(self, name: str) -> None:
            raise ConnectionError(f"not about {name}")

    of = Source(written(tmp_path / "a.xmi", "<r/>"))
    with pytest.raises(ConnectionError, match="not about r"):
        of.parse(Failing(of))
