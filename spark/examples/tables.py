"""The classes of one model as DataFrames, all of one time."""

from pyspark.sql import DataFrame, SparkSession

from spark.snapshots import Snapshot


class Tables:
    """``tables("Route", "entry")`` is a DataFrame of all routes, with the columns `_id` and `entry`."""

    def __init__(self, session: SparkSession, store: str, model: str, package: str) -> None:
        """`package` is the namespace of the classes. The time is the stable one, taken here. `MetamodelNotFound` if
        there is no such package."""
        self._package = package
        snapshot = Snapshot.taken(store, model)
        snapshot.open().metamodels.metamodel(package)
        options = {"store": snapshot.store, "model": model, "as_of": str(snapshot.at)}
        self._loaded: dict[tuple[str, ...], DataFrame] = {}
        self._reader = session.read.format("neomodel").options(**options)

    def __call__(self, kind: str, *columns: str) -> DataFrame:
        found = self._loaded.get((kind, *columns))
        if found is None:
            wanted = ",".join(("_id", *columns))
            found = self._reader.options(type=f"{self._package}#{kind}", columns=wanted).load()
            self._loaded[kind, *columns] = found
        return found
