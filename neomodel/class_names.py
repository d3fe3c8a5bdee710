"""Classes by their names: ``Method``, ``java.Method`` or ``http://java#Method``."""

from collections.abc import Iterable

from neomodel.errors import FeatureNotFound, InvalidValue, near
from neomodel.kinds import EClass
from neomodel.packages import EPackage
from neomodel.repository import Repository


def classes_in(repository: Repository) -> list[EClass]:
    """All classes that are registered now."""
    return classes_of(repository.metamodel(ns_uri) for ns_uri in repository.metamodels())


def class_named(kinds: list[EClass], name: str, store: str) -> EClass:
    """The class of that name among these: `FeatureNotFound` if there is none, `InvalidValue` if there
    are several."""
    found = [kind for kind in kinds if name in _names(kind)]
    if not found:
        raise FeatureNotFound(f"store {store}", name, near(name, {kind.name for kind in kinds}))
    if len(found) > 1:
        names = ", ".join(sorted(f"{kind.ePackage.nsURI}#{kind.name}" for kind in found))
        raise InvalidValue("the name of a class", name, f"one that tells which is meant: {names}")
    return found[0]


def classes_of(packages: Iterable[EPackage]) -> list[EClass]:
    return [
        kind
        for package in packages
        for part in package.with_subpackages()
        for kind in part.eClassifiers
        if isinstance(kind, EClass)
    ]


def _names(kind: EClass) -> tuple[str, str, str]:
    return kind.name, str(kind), f"{kind.ePackage.nsURI}#{kind.name}"
