"""What is registered is found again by any client, at any time since; what would do harm is refused."""

import attrs
import pytest

from neomodel.errors import IncompatibleMetamodel, InvalidModel, MetamodelNotFound, Purged, ReadOnly
from neomodel.metamodel import Class, Enum, Literal, Package, Reference, TypeName
from neomodel.registry import LONGEST, TABLE, Registry
from neomodel.stores import Store
from neomodel.stores.wrappers import Counting, Reading
from tests.metamodel.java import JAVA, attribute, class_, java, package

DOC = f"{JAVA}/doc"


def grown(name: str = "New") -> Package:
    """Java with one more class: compatible."""
    return attrs.evolve(java(), classifiers=[*java().classifiers, class_(name, supers="Element")])


def user(name: str = "user", to: str = "Element", ns_uri: str = JAVA) -> Package:
    """A package with a class Mine that refers to a class of another one."""
    feature = Reference("to", TypeName(ns_uri, to))
    return Package(name, f"http://{name}", classifiers=[Class("Mine", features=[feature])])


def test_what_is_registered_is_loaded_by_another_client(store: Store) -> None:
    assert Registry(store).register(java()) == (java(),)

    assert Registry(store).load(JAVA) == java()
    assert Registry(store).names() == [JAVA]
    assert list(Registry(store).find()) == [java()]


def test_the_ns_uri_of_a_sub_package_leads_to_the_root(store: Store) -> None:
    Registry(store).register(java())

    assert Registry(store).load(DOC) == java()
    assert [number for number, _, _ in Registry(store).versions(DOC)] == [1]


def test_a_store_without_metamodels_says_so_and_stays_as_it_is(store: Store) -> None:
    registry = Registry(store)

    assert (registry.names(), list(registry.find()), registry.register()) == ([], [], ())
    for ask in (registry.load, registry.versions):
        with pytest.raises(MetamodelNotFound, match="none is registered; fix"):
            ask(JAVA)
    with pytest.raises(InvalidModel):
        registry.register(package(class_("A", supers="Nil")))
    assert TABLE not in store.tables()


def test_a_compatible_change_is_a_new_version_and_the_old_one_can_be_read(store: Store) -> None:
    registry = Registry(store)
    registry.register(java())
    before = store.table(TABLE).now()

    registry.register(grown())

    assert registry.load(JAVA) == grown()
    assert registry.load(JAVA, at=before) == registry.load(DOC, at=before) == java()
    (first, then, old), (second, now, new) = registry.versions(JAVA)
    assert (first, old, second, new) == (1, java(), 2, grown())
    assert then <= before < now


def test_registering_the_same_again_writes_nothing(store: Store) -> None:
    Registry(store).register(java())
    counting = Counting(store)

    Registry(counting).register(java())

    assert counting.calls == {"get_many": 1}
    assert len(Registry(store).versions(JAVA)) == 1


def test_an_incompatible_change_is_refused_with_all_it_would_break(store: Store) -> None:
    registry = Registry(store)
    registry.register(java())
    changed = package(class_("Package", attribute("name")))

    with pytest.raises(IncompatibleMetamodel) as caught:
        registry.register(changed)

    told = str(caught.value)
    assert repr(JAVA) in told
    assert "class java.Element is removed; " in told
    assert "; sub-package java.doc (http://java/doc) is removed" in told
    assert registry.load(JAVA) == java()


def test_packages_that_refer_to_one_another_are_registered_in_one_call(store: Store) -> None:
    one, other = user("one", "Mine", "http://other"), user("other", "Mine", "http://one")
    registry = Registry(store)
    with pytest.raises(InvalidModel, match=r"one\.Mine\.to .* http://other#Mine does not exist"):
        registry.register(one)

    assert registry.register(one, other) == (one, other)

    assert registry.names() == ["http://one", "http://other"]


def test_a_package_may_refer_to_one_that_is_registered(store: Store) -> None:
    registry = Registry(store)
    registry.register(java())

    registry.register(user(), user("second", "Comment", DOC))

    assert registry.names() == [JAVA, "http://second", "http://user"]


def test_if_one_package_of_a_call_is_refused_none_is_written(store: Store) -> None:
    registry = Registry(store)
    registry.register(java())

    with pytest.raises(IncompatibleMetamodel):
        registry.register(Package("fine", "http://fine"), package())
    with pytest.raises(InvalidModel):
        registry.register(Package("fine", "http://fine"), user(to="Nil"))

    assert registry.names() == [JAVA]


def test_a_change_that_makes_nonsense_of_another_package_is_refused(store: Store) -> None:
    registry = Registry(store)
    mine = Class("Mine", features=[attribute("size")], supers=[TypeName(JAVA, "Named")])
    registry.register(java(), Package("user", "http://user", classifiers=[mine]))
    named = class_("Named", attribute("size", "EInt"), supers="Element EObject")
    changed = attrs.evolve(java(), classifiers=[named if one.name == "Named" else one for one in java().classifiers])

    with pytest.raises(InvalidModel, match=r"user\.Mine\.size .* inherited from http://java#Named"):
        registry.register(changed)

    assert registry.load(JAVA) == java()


def test_a_namespace_has_one_owner(store: Store) -> None:
    registry = Registry(store)
    registry.register(java(), Package("a", "http://a"))

    with pytest.raises(InvalidModel, match="its ns_uri 'http://java/doc' is taken by package 'http://java'"):
        registry.register(Package("doc", DOC))
    with pytest.raises(InvalidModel, match="its ns_uri 'http://a' is taken by package 'http://a'"):
        registry.register(Package("b", "http://b", packages=[Package("a", "http://a")]))
    with pytest.raises(InvalidModel, match="its ns_uri 'http://java/doc' is taken by package 'http://java'"):
        registry.register(Package("b", "http://b", packages=[Package("doc", DOC)]))
    with pytest.raises(InvalidModel, match="its ns_uri 'http://b' is that of b too"):
        registry.register(Package("b", "http://b"), Package("b", "http://b"))


def test_a_new_sub_package_is_found_from_then_on(store: Store) -> None:
    registry = Registry(store)
    registry.register(package())

    registry.register(package(packages=[Package("doc", DOC)]))

    assert registry.load(DOC).packages == (Package("doc", DOC),)
    assert [number for number, _, _ in registry.versions(DOC)] == [2]
    assert [number for number, _, _ in registry.versions(JAVA)] == [1, 2]


def test_what_is_not_there_is_told_with_what_is_like_it(store: Store) -> None:
    registry = Registry(store)
    registry.register(java(), Package("unlike", "urn:x"))

    for ask in (registry.load, registry.versions):
        with pytest.raises(MetamodelNotFound) as caught:
            ask("http://jaba")
        assert isinstance(caught.value, KeyError)
        assert "'http://jaba'" in str(caught.value)
        assert "the nearest are: http://java, http://java/doc;" in str(caught.value)


@pytest.mark.parametrize("ns_uri", ["", "x" * (LONGEST + 1), "ä" * (LONGEST // 2 + 1)])
def test_a_namespace_that_is_no_key_is_refused(ns_uri: str, lmdb: Store) -> None:
    registry = Registry(lmdb)
    registry.register(java())

    with pytest.raises(InvalidModel, match=r"its ns_uri has [0-9]+ bytes, expected 1 to 200"):
        registry.register(Package("x", ns_uri))
    with pytest.raises(InvalidModel, match=r"its ns_uri has [0-9]+ bytes, expected 1 to 200"):
        registry.register(package(packages=[Package("x", ns_uri)]))
    with pytest.raises(MetamodelNotFound):
        registry.load(ns_uri)


def test_the_longest_namespace_there_can_be_is_taken(store: Store) -> None:
    ns_uri = "ä" * (LONGEST // 2)

    Registry(store).register(Package("x", ns_uri))

    assert Registry(store).names() == [ns_uri]


def test_a_store_that_is_only_read_can_have_metamodels_loaded_and_not_changed(store: Store) -> None:
    Registry(store).register(java())
    registry = Registry(Reading(store))

    assert registry.load(JAVA) == java()
    assert registry.register(java()) == (java(),)
    with pytest.raises(ReadOnly):
        registry.register(grown())


def test_a_time_that_was_purged_is_refused(store: Store) -> None:
    registry = Registry(store)
    registry.register(java())
    before = store.table(TABLE).now()
    registry.register(grown())

    store.table(TABLE).purge(store.table(TABLE).now())

    assert [(number, value) for number, _, value in registry.versions(JAVA)] == [(2, grown())]
    with pytest.raises(Purged):
        registry.load(JAVA, at=before)


def test_what_reading_and_registering_cost(store: Store) -> None:
    counting = Counting(store)
    registry = Registry(counting)
    registry.register(java())

    def cost(work: object) -> dict[str, int]:
        counting.reset()
        assert callable(work)
        work()
        return dict(counting.calls)

    assert cost(lambda: registry.load(JAVA)) == {"get": 1}
    assert cost(lambda: registry.load(DOC)) == {"get": 2}
    assert cost(registry.names) == {"scan": 1}
    assert cost(lambda: list(registry.find())) == {"scan": 1}
    assert cost(lambda: registry.versions(JAVA)) == {"get": 1, "history": 1}
    assert cost(lambda: registry.versions(DOC)) == {"get": 1, "history": 1}
    assert cost(lambda: registry.register(grown())) == {"get_many": 1, "scan": 1, "swap": 1}
    assert cost(lambda: registry.register(user())) == {"get_many": 1, "scan": 1, "swap": 1}
    assert cost(lambda: registry.register(grown(), user())) == {"get_many": 1}


def test_an_enum_that_gains_a_literal_is_compatible_and_one_that_loses_it_is_not(store: Store) -> None:
    small, large = (
        package(Enum("E", literals=[Literal(name, number) for number, name in enumerate(names)]))
        for names in ("a", "ab")
    )
    registry = Registry(store)
    registry.register(small)
    registry.register(large)

    with pytest.raises(IncompatibleMetamodel, match=r"literal java\.E\.b is removed"):
        registry.register(small)
