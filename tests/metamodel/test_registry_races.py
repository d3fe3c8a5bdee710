"""Several clients register at once, and stores fail halfway: nothing is lost, and what is there makes sense."""

import time
from collections import Counter
from typing import Literal

import attrs
import pytest

from neomodel.errors import IncompatibleMetamodel, MetamodelNotFound, OutcomeUnknown, StoreUnavailable
from neomodel.metamodel import Class, Package, TypeName
from neomodel.registry import ROOT, TABLE, Registry
from neomodel.stores import Store
from neomodel.stores.wrappers import Faulty
from tests.metamodel.java import JAVA, class_, java, package
from tests.stores.processes import run_each

DOC = f"{JAVA}/doc"
RIVALS = 3
ROUNDS = 10


def with_class(name: str) -> Package:
    return attrs.evolve(java(), classifiers=[*java().classifiers, class_(name)])


def before_the_first(operation: str, store: Store, package: Package) -> Store:
    """The store, where somebody else registers `package` just before the first such operation of ours."""
    ahead = [package]

    def fault(asked: str, _key: bytes | None) -> None:
        if asked == operation and ahead:
            Registry(store).register(ahead.pop())

    return Faulty(store, fault)


@pytest.mark.parametrize("operation", ["get_many", "scan", "create", "swap"])
def test_if_somebody_else_registers_the_same_first_nothing_is_written_twice(store: Store, operation: str) -> None:
    Registry(before_the_first(operation, store, java())).register(java())

    assert [(number, value) for number, _, value in Registry(store).versions(JAVA)] == [(1, java())]


@pytest.mark.parametrize("operation", ["scan", "create", "swap"])
def test_if_somebody_else_was_first_with_less_ours_is_the_next_version(store: Store, operation: str) -> None:
    Registry(before_the_first(operation, store, java())).register(with_class("Ours"))

    found = [value for _, _, value in Registry(store).versions(JAVA)]
    assert found == [java(), with_class("Ours")]


@pytest.mark.parametrize("operation", ["scan", "create", "swap"])
def test_if_somebody_else_was_first_with_something_else_ours_is_refused(store: Store, operation: str) -> None:
    with pytest.raises(IncompatibleMetamodel, match=r"class java\.Theirs is removed"):
        Registry(before_the_first(operation, store, with_class("Theirs"))).register(with_class("Ours"))

    assert Registry(store).load(JAVA) == with_class("Theirs")


def test_a_namespace_that_somebody_else_takes_first_is_not_taken_from_them(store: Store) -> None:
    theirs = Package("doc", DOC, classifiers=[Class("Theirs")])

    with pytest.raises(ValueError, match="its ns_uri 'http://java/doc' is taken by package 'http://java/doc'"):
        Registry(before_the_first("swap", store, theirs)).register(java())

    assert Registry(store).names() == [DOC]


@pytest.mark.parametrize("fault", ["refused", "lost"])
@pytest.mark.parametrize("failing", [DOC, JAVA])
def test_what_failed_halfway_is_not_seen_and_can_be_registered_again(
    store: Store, failing: str, fault: Literal["refused", "lost"]
) -> None:
    Registry(store).register(Package("other", "http://other"))
    faulty = Faulty(store, lambda operation, key: fault if (operation, key) == ("swap", failing.encode()) else None)

    with pytest.raises((StoreUnavailable, OutcomeUnknown)):
        Registry(faulty).register(java())
    written = (failing, fault) == (JAVA, "lost")
    assert (JAVA in Registry(store).names()) == written
    if not written:
        for ask in (Registry(store).load, Registry(store).versions):
            with pytest.raises(MetamodelNotFound):
                ask(DOC)

    Registry(store).register(java())
    assert Registry(store).load(DOC) == java()
    assert len(Registry(store).versions(JAVA)) == 1


def test_a_package_left_without_what_it_refers_to_stands_in_nobodys_way(store: Store) -> None:
    one = Package("one", "one", classifiers=[Class("A", supers=[TypeName("two", "B")])])
    two = Package("two", "two", classifiers=[class_("B")])
    failing = Faulty(store, lambda operation, key: "refused" if (operation, key) == ("swap", b"two") else None)
    with pytest.raises(StoreUnavailable):
        Registry(failing).register(one, two)

    Registry(store).register(java())
    Registry(store).register(one, two)

    assert Registry(store).names() == [JAVA, "one", "two"]


# processes


def test_processes_that_register_the_same_make_one_version_of_it(lmdb: Store) -> None:
    run_each([(_register_together, (rival,), {}) for rival in range(RIVALS)], lmdb.url)

    assert [(number, value) for number, _, value in Registry(lmdb).versions(JAVA)] == [(1, java())]
    assert (lmdb.table(TABLE).get(DOC.encode()) or {})[ROOT] == JAVA.encode()


def _register_together(store: Store, rival: int) -> None:
    _wait_for_all(store, rival)
    Registry(store).register(java())


def test_no_class_that_a_process_adds_is_lost(lmdb: Store) -> None:
    refused = run_each([(_add_classes, (rival,), {}) for rival in range(RIVALS)], lmdb.url)

    versions = Registry(lmdb).versions(JAVA)
    names = Counter(found.name for found in versions[-1][2].classifiers)
    assert names == Counter(f"C{rival}x{number}" for rival in range(RIVALS) for number in range(ROUNDS))
    assert [number for number, _, _ in versions] == list(range(1, RIVALS * ROUNDS + 1))
    assert sum(refused) > 0, "the processes never met"


def _add_classes(store: Store, rival: int) -> int:
    """Add classes to what is registered, again from what is there if somebody else was first; how often that was."""
    registry, refused = Registry(store), 0
    _wait_for_all(store, rival)
    for number in range(ROUNDS):
        while True:
            now = registry.load(JAVA) if JAVA in registry.names() else package()
            try:
                registry.register(attrs.evolve(now, classifiers=[*now.classifiers, class_(f"C{rival}x{number}")]))
            except IncompatibleMetamodel:
                refused += 1
            else:
                break
    return refused


def _wait_for_all(store: Store, rival: int) -> None:
    """Until all rivals have made a table that says so."""
    store.table(f"rival{rival}").create("p")
    deadline = time.monotonic() + 60
    while sum(name.startswith("rival") for name in store.tables()) < RIVALS:
        assert time.monotonic() < deadline, "a rival never came"
        time.sleep(0.001)
