"""The command line of an example: which model, which queries, which of the two ways."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import neomodel as nm
from neomodel.errors import NeomodelError
from spark.examples.tables import Tables
from spark.session import session
from spark.source import register

Objects = Callable[[str, nm.Model, Any], object]
"""The answer to the query of that name, by the objects of a model and their package."""
Job = Callable[[str, Tables], object]
"""The same, by Spark."""


def run(
    what: str, package: str, queries: Iterable[str], objects: Objects, job: Job, arguments: Sequence[str] | None = None
) -> None:
    """Print the answer to each query, a line each. Bad input: exit status 2 and one sentence."""
    names = list(queries)
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("query", nargs="*", choices=[[], *names], help=f"which of {', '.join(names)}; all, if none")
    parser.add_argument("--store", required=True, help="the URL of the store, such as lmdb:neomodel.db")
    parser.add_argument("--model", required=True, help="the name of the model")
    parser.add_argument("--spark", action="store_true", help="as a job of Spark instead of over objects")
    given = parser.parse_args(arguments)
    chosen = given.query or names
    try:
        if given.spark:
            started = session(what)
            register(started)
            tables = Tables(started, given.store, given.model, package)
            answers = ((name, job(name, tables)) for name in chosen)
        else:
            repo = nm.connect(given.store, create=False)
            model = repo.open(given.model, as_of="stable")
            kinds = model.metamodels.metamodel(package)
            answers = ((name, objects(name, model, kinds)) for name in chosen)
        for name, answer in answers:
            print(f"{name}: {answer}")
    except NeomodelError as exc:
        parser.exit(2, f"{exc}\n")
