"""Where objects are in the documents of their models, wherever these are: what references to them say."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neomodel import ids, layout
from neomodel.always import known
from neomodel.cohorts import PAGE
from neomodel.document_order import Frame, Walk
from neomodel.errors import InvalidValue, MetamodelNotFound, ModelNotFound
from neomodel.kinds import EClass, EFeature
from neomodel.stores import Row
from neomodel.xmi.forms import Form, Prefixes
from neomodel.xmi.fragments import Fragments, Place

if TYPE_CHECKING:
    from neomodel.model import Model

ELSEWHERE = ids.ELSEWHERE.encode()
"""What tokens begin with that lead to a file that was not imported."""


class Survey(Walk):
    """Enters the objects of a model into `fragments`, as a document of it would have them."""

    def __init__(self, model: "Model", fragments: Fragments, *, own_ids: bool) -> None:
        super().__init__(model)
        self.roots = 0
        self._fragments = fragments
        self.own_ids = own_ids
        self._forms: dict[EClass, Form] = {}

    def entered(self, parent: Frame, feature: EFeature, key: bytes, row: Row) -> Frame | None:
        kind, number = self.model.kind_of(row), b"%d" % parent.number
        if parent.note is None:
            path = b"/" + number
            self.roots += 1
        else:
            path = parent.note + b"/@" + feature.tag + (b"." + number if feature.many else b"")
        self._fragments.add(key, path, key if self.own_ids else self.called(row, kind))
        self._fragments.settle()
        return Frame(key, self.children(key, row, kind), path)

    def called(self, row: Row, kind: EClass) -> bytes | None:
        """What an object is called, if it is."""
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = Form(kind, Prefixes())
        return form.called(row)


class Directory:
    """The fragments of one document."""

    def __init__(self, fragments: Fragments, *, alone: bool) -> None:
        self.fragments = fragments
        self.alone = alone
        """Whether there is one root only."""
        self.named = True
        """Whether what objects are called counts."""

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What references to these objects say."""
        return {key: self._fragment(place) for key, place in self.fragments.find(keys).items()}

    def _fragment(self, place: Place) -> bytes:
        path, name = place
        if self.named and name is not None and self.fragments.unique(name):
            return name
        return b"/" + path[2:] if self.alone else path


class Places:
    """What is known of the objects that some references lead to: `look_up` says which."""

    def __init__(self, model: "Model", own: Directory, *, suffix: str, own_ids: bool) -> None:
        self.known: dict[bytes, bytes] = {}
        """The fragments of those that are there, by tokens."""
        self.kinds: dict[bytes, EClass] = {}
        self._model = model
        self._suffix = suffix
        self._own_ids = own_ids
        self._directories: dict[str, Directory | None] = {model.name: own}

    def close(self) -> None:
        for directory in self._directories.values():
            if directory is not None:
                directory.fragments.close()

    def look_up(self, tokens: Iterable[bytes], typed: set[bytes]) -> None:
        """Know where these lead to, and of some of them the classes. Of what was known before nothing is left."""
        self.known, self.kinds = {}, {}
        by_model: defaultdict[str, dict[bytes, bytes]] = defaultdict(dict)
        for token in tokens:
            if token[:1] != b"@":
                by_model[self._model.name][token] = token
            elif token[:2] == ELSEWHERE:
                self.known[token] = ids.split_elsewhere(token.decode())[1].encode()
            else:
                name, oid = ids.split_ref(token.decode())
                by_model[name or ""][oid.encode()] = token
        for name, keys in by_model.items():
            directory = self._directory(name)
            if directory is not None:
                self.known |= {keys[key]: found for key, found in directory.find(keys).items()}
                self._look_up_kinds(name, {key: token for key, token in keys.items() if token in typed})

    def file(self, token: bytes) -> str:
        """The file that an object is in, whose place is known; empty for this one."""
        if token[:1] != b"@":
            return ""
        if token[:2] == ELSEWHERE:
            return ids.split_elsewhere(token.decode())[0]
        return f"{ids.split_ref(token.decode())[0]}{self._suffix}"

    def said(self, token: bytes) -> tuple[str, str, str] | None:
        """Namespace, a prefix for it, and name of the class that an object of another file is of, if that is known."""
        there = known(token.decode())
        if there is not None:
            package = there.eClass.ePackage
            return package.nsURI, package.nsPrefix, there.eClass.name
        ns_uri, _, name = ids.split_elsewhere(token.decode())[2].rpartition("#")
        try:
            return (ns_uri, self._model.repository.metamodel(ns_uri).nsPrefix, name) if ns_uri else None
        except MetamodelNotFound:
            return ns_uri, "ns", name

    def _look_up_kinds(self, name: str, keys: dict[bytes, bytes]) -> None:
        model = self._home(name)
        asked = list(keys)
        for start in range(0, len(asked), PAGE):
            rows = model.table.get_many(asked[start : start + PAGE], at=model.as_of, columns=layout.TYPE)
            self.kinds |= {keys[key]: model.kind_of(row) for key, row in rows.items() if layout.ECLASS in row}

    def _home(self, name: str) -> "Model":
        return self._model if name == self._model.name else self._model.repository.opened(name, self._model)

    def _directory(self, name: str) -> Directory | None:
        """The fragments of a model; None if it is not there. One that is met for the first time is walked through."""
        if name not in self._directories:
            self._directories[name] = None
            try:
                fragments = Fragments()
                survey = Survey(self._home(name), fragments, own_ids=self._own_ids)
                survey.run()
                self._directories[name] = Directory(fragments, alone=survey.roots == 1)
            except (ModelNotFound, InvalidValue):
                return None
        return self._directories[name]
