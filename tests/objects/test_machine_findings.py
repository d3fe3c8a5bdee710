"""What the model machine found, or could only find with luck: each the shortest script that went wrong once."""

import uuid
from typing import Any

import pytest

import neomodel as nm
from neomodel.metamodel import ECORE, MANY, Attribute, Class, Package, Reference, TypeName

URI = "http://findings"
NODE = TypeName(URI, "Node")

PACKAGE = Package(
    "findings",
    URI,
    classifiers=[
        Class(
            "Node",
            features=[
                Attribute("name", TypeName(ECORE, "EString")),
                Attribute("sizes", TypeName(ECORE, "EDouble"), upper=MANY),
                Reference("child", NODE, containment=True, unsettable=True),
                Reference("children", NODE, containment=True, upper=MANY, opposite="parent"),
                Reference("few", NODE, containment=True, upper=2),
                Reference("parent", NODE, opposite="children"),
                Reference("next", NODE, opposite="previous"),
                Reference("previous", NODE, opposite="next"),
                Reference("friends", NODE, upper=MANY, unique=False, opposite="friends"),
                Reference("seen", NODE, upper=MANY),
            ],
        )
    ],
)


@pytest.fixture
def repository() -> nm.Repository:
    return nm.connect(f"memory:{uuid.uuid4().hex}")


@pytest.fixture
def node(repository: nm.Repository) -> Any:
    return repository.register(PACKAGE).Node


@pytest.fixture
def model(repository: nm.Repository, node: Any) -> nm.Model:
    return repository.create("m")


@pytest.fixture
def elsewhere(repository: nm.Repository, model: nm.Model) -> nm.Model:
    """The same model through another connection."""
    return nm.connect(repository.store.url).open("m")


def test_a_mirrored_list_holds_nothing_twice_even_if_declared_not_unique(model: nm.Model, node: Any) -> None:
    a, b = node(), node()
    model.roots.extend([a, b])
    a.friends.append(b)
    a.friends.append(b)

    assert a.friends == [b]
    assert b.friends == [a]


def test_of_two_new_objects_that_claim_the_same_partner_one_gets_it_from_both_sides(model: nm.Model, node: Any) -> None:
    held, claiming, partner = node(), node(), node()
    model.roots.append(partner)
    partner.previous = held
    claiming.next = partner
    model.roots.extend([claiming, held])

    (first,) = [one for one in (held, claiming) if one.next is partner]
    assert partner.previous is first


def test_an_object_that_leaves_and_one_that_was_never_stored_still_know_one_another(model: nm.Model, node: Any) -> None:
    left, new = node(), node()
    model.roots.append(left)
    left.next = new
    model.roots.remove(left)

    assert left.next is new
    assert new.previous is left


def test_a_bound_holds_for_children_of_a_transient_object(node: Any) -> None:
    parent = node()
    with pytest.raises(nm.InvalidValue):
        parent.few = [node(), node(), node()]

    assert parent.few == []


def test_a_value_is_there_once_if_it_is_the_same_to_the_last_bit(model: nm.Model, node: Any) -> None:
    transient, stored = node(), node()
    model.roots.append(stored)
    for one in (transient, stored):
        for size in (0.0, -0.0, float("nan"), float("nan"), -0.0):
            one.sizes.append(size)

    assert str(transient.sizes) == str(stored.sizes) == "[0.0, -0.0, nan]"


# edits


def test_an_edit_of_both_ends_of_a_link_to_itself_does_what_single_changes_do(model: nm.Model, node: Any) -> None:
    one, other = node(), node()
    model.roots.extend([one, other])
    with nm.edit(one):
        one.next = one
        one.previous = other

    assert one.next is None
    assert one.previous is other
    assert other.next is one


def test_a_child_that_comes_and_goes_within_an_edit_is_gone(model: nm.Model, node: Any, elsewhere: nm.Model) -> None:
    parent, child = node(), node()
    model.roots.append(parent)
    with nm.edit(parent):
        parent.child = child
        assert parent.child is child
        parent.child = None
        parent.children.append(child)
        parent.children.remove(child)

    assert (parent.eContents, child.eContainer()) == ([], None)
    assert elsewhere.roots[0].eContents == []


def test_a_child_that_goes_and_comes_within_an_edit_is_there(model: nm.Model, node: Any, elsewhere: nm.Model) -> None:
    parent, child = node(), node(name="c")
    model.roots.append(parent)
    parent.children.append(child)
    with nm.edit(parent):
        parent.children.remove(child)
        assert child not in parent.children
        parent.children.append(child)

    assert parent.children == [child]
    assert [found.name for found in elsewhere.roots[0].children] == ["c"]


def test_a_child_goes_from_one_feature_to_another_and_back_within_an_edit(model: nm.Model, node: Any) -> None:
    parent, child = node(), node()
    model.roots.append(parent)
    parent.children.append(child)
    with nm.edit(parent):
        parent.few.append(child)
        assert (list(parent.few), list(parent.children)) == ([child], [])
        parent.children.append(child)

    assert (list(parent.few), list(parent.children)) == ([], [child])
    assert child.eContainmentFeature().name == "children"


def test_a_child_of_another_that_comes_and_goes_within_an_edit_stays_where_it_was(model: nm.Model, node: Any) -> None:
    parent, other, child = node(), node(), node()
    model.roots.extend([parent, other])
    other.children.append(child)
    with nm.edit(parent):
        parent.children.append(child)
        parent.children.remove(child)

    assert (child.eContainer(), list(other.children), list(parent.children)) == (other, [child], [])


def test_a_partner_of_another_that_comes_and_goes_within_an_edit_stays_with_it(model: nm.Model, node: Any) -> None:
    one, other, partner = node(), node(), node()
    model.roots.extend([one, other, partner])
    other.next = partner
    with nm.edit(one):
        one.next = partner
        one.next = None

    assert (one.next, other.next, partner.previous) == (None, partner, other)


def test_a_container_given_within_an_edit_of_the_child_counts_once_the_edit_is_written(
    model: nm.Model, node: Any, elsewhere: nm.Model
) -> None:
    old, new, child = node(), node(), node()
    model.roots.extend([old, new])
    old.children.append(child)
    with pytest.raises(nm.FeatureNotFound), nm.edit(child):  # noqa: PT012  the edit is what fails
        child.parent = new
        child.nothing = "of that name"
    assert (child.parent, old.children, new.children) == (old, [child], [])

    with nm.edit(child):
        child.name = "moved"
        child.parent = new
    assert (child.parent, old.children, new.children) == (new, [], [child])
    assert [found.name for found in elsewhere.roots[1].children] == ["moved"]


def test_an_object_and_its_child_become_roots_at_once(model: nm.Model, node: Any, elsewhere: nm.Model) -> None:
    parent, child = node(name="p"), node(name="c", few=[node(name="g")])
    parent.children.append(child)
    model.roots.extend([parent, child])

    assert [root.name for root in elsewhere.roots] == ["p", "c"]
    assert (len(parent.children), child.parent, child.eContainer()) == (0, None, None)
    assert [found.name for found in elsewhere.roots[1].few] == ["g"]


def test_an_object_and_its_child_leave_the_model_at_once(model: nm.Model, node: Any, elsewhere: nm.Model) -> None:
    parent, child, home = node(name="p"), node(name="c", few=[node(name="g")]), node()
    parent.children.append(child)
    model.roots.append(parent)
    home.children.extend([parent, child])

    assert len(elsewhere.roots) == 0
    assert (list(home.children), list(parent.children), child.parent) == ([parent, child], [], home)
    assert [found.name for found in child.few] == ["g"]


@pytest.mark.parametrize("feature", ["next", "friends"])
def test_a_reference_made_while_its_target_was_stored_is_mirrored_when_both_are_stored_anew(
    model: nm.Model, node: Any, elsewhere: nm.Model, feature: str
) -> None:
    new, old = node(name="new"), node(name="old")
    model.roots.append(old)
    new.eSet(feature, [old] if feature == "friends" else old)
    new.children.append(old)
    model.roots.append(new)

    far = old.eGet("friends" if feature == "friends" else "previous")
    assert (list(far) if feature == "friends" else [far]) == [new]
    found = elsewhere.roots[0].children[0]
    assert [one.name for one in (found.friends if feature == "friends" else [found.previous])] == ["new"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_child_that_an_edit_takes_to_another_feature_of_the_object_is_where_it_ends(
    model: nm.Model, node: Any, kept: bool
) -> None:
    parent, child = node(), node(name="c", few=[node(name="g")])
    parent.children.append(child)
    model.roots.append(parent)
    with nm.edit(parent):
        parent.child = child
        if not kept:
            parent.child = None

    assert (parent.child, parent.children) == (child if kept else None, [])
    assert (child.eContainer(), child.eResource) == ((parent, model) if kept else (None, None))
    assert [found.name for found in child.few] == ["g"]


def test_an_object_that_is_being_edited_is_not_moved_by_others(model: nm.Model, node: Any) -> None:
    parent, child = node(), node()
    model.roots.extend([parent, child])
    with nm.edit(child):
        with pytest.raises(nm.InvalidValue):
            parent.children.append(child)
        with pytest.raises(nm.InvalidValue):
            model.roots.remove(child)
        with pytest.raises(nm.InvalidValue):
            nm.delete(child)

    assert (model.roots, parent.children) == ([parent, child], [])


@pytest.mark.parametrize("deep", [False, True])
def test_what_an_edit_assigns_last_holds_against_what_came_into_it_before(
    model: nm.Model, node: Any, deep: bool
) -> None:
    edited, new, partner = node(), node(), node()
    model.roots.extend([edited, partner])
    new.previous = edited
    new.friends.append(edited)
    with nm.edit(edited):
        edited.child = node(child=new) if deep else new
        edited.next = partner
        edited.friends = [partner]

    assert (edited.next, partner.previous, new.previous) == (partner, edited, None)
    assert (edited.friends, partner.friends, new.friends) == ([partner], [edited], [])


def test_what_comes_into_an_edit_last_holds_against_what_it_assigned_before(model: nm.Model, node: Any) -> None:
    edited, new, partner = node(), node(), node()
    model.roots.extend([edited, partner])
    new.previous = edited
    with nm.edit(edited):
        edited.next = partner
        edited.child = new

    assert (edited.next, partner.previous, new.previous) == (new, None, edited)


# what can't be stored


def test_what_refers_to_a_deleted_object_is_refused_and_nothing_has_changed(model: nm.Model, node: Any) -> None:
    parent, new, deleted = node(), node(), node()
    model.roots.extend([parent, deleted])
    new.seen.append(deleted)
    nm.delete(deleted)
    with pytest.raises(nm.InvalidValue):
        parent.children.append(new)

    assert len(parent.children) == 0
    assert new.eContainer() is None
    new.seen.clear()
    parent.children.append(new)
    assert parent.children == [new]
