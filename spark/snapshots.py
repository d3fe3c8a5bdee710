"""Which state of which model a job is about, as it goes to every task: names and a time, nothing live."""

import attrs

from neomodel.class_names import class_named, classes_of
from neomodel.errors import InvalidValue
from neomodel.kinds import EClass
from neomodel.model import Model
from neomodel.repository import Repository
from neomodel.sharing import shared
from neomodel.stores import Table
from neomodel.times import STABLE, Time
from spark.options import absolute


@attrs.frozen
class Snapshot:
    """A model as of a time."""

    store: str
    model: str
    at: int
    unstable: bool = False

    @classmethod
    def taken(cls, store: str, model: str, as_of: Time | str = STABLE, *, unstable: bool = False) -> "Snapshot":
        """That of the model as of a time, by default the latest that is stable; refused as `Repository.open` does."""
        url = reached(store)
        opened = shared(url).open(model, as_of=as_of, unstable=unstable)
        assert opened.as_of is not None
        return cls(url, model, opened.as_of, opened.unstable)

    @classmethod
    def of(cls, model: "Model | Snapshot", as_of: Time | str = STABLE) -> "Snapshot":
        """That of a model: of one that is as of a time, at that time, else as `taken`."""
        if not isinstance(model, Model | Snapshot):
            raise InvalidValue("what a job is about", model, "a model, or a snapshot of one")
        if isinstance(model, Model) and model.as_of is None:
            return cls.taken(model.repository.store.url, model.name, as_of)
        if as_of != STABLE:
            raise InvalidValue("as_of", as_of, f"none, since {model!r} is of a time already")
        if isinstance(model, Snapshot):
            return model
        assert model.as_of is not None
        return cls(reached(model.repository.store.url), model.name, model.as_of, model.unstable)

    @property
    def repository(self) -> Repository:
        return shared(self.store)

    @property
    def table(self) -> Table:
        """Its rows, for who reads them once: nothing of them is kept."""
        return self.repository.store.table(self.model)

    def open(self) -> Model:
        """The model as of that time, which was found to be stable, or taken as it is, when the snapshot was taken."""
        if not self.unstable:
            self.repository.batches.vouch(self.at)
        return self.repository.open(self.model, as_of=self.at, unstable=self.unstable)

    def kind(self, name: str) -> EClass:
        """The class of that name among all that were registered at that time: ``Method``, ``java.Method`` or
        ``http://java#Method``. `FeatureNotFound` if there is none, `InvalidValue` if there are several."""
        return class_named(self.kinds(), name, self.store)

    def kinds(self) -> list[EClass]:
        """All classes that were registered at that time."""
        metamodels = self.open().metamodels
        return classes_of(metamodels.metamodel(ns_uri) for ns_uri in self.repository.registry.names(at=self.at))


def reached(store: str) -> str:
    """The URL of a store as all processes of a job reach it, or `InvalidValue`."""
    url = absolute(store)
    if url.startswith("memory:"):
        raise InvalidValue("a store for Spark", url, "one that other processes reach: lmdb: or hbase:")
    return url
