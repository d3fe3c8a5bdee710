"""Where references between results lead, what is told of why an object is there, and of runs."""

import pytest

import neomodel as nm
from neomodel.rules.runs import Runs
from tests.processes import in_another_process
from tests.rules.shapes import Label, Leaf, Node, Special, Thing, cut_at, everywhere, made, named, names

FAR = nm.Transformation("Far")


@FAR.rule
def thing(node: Node, thing: Thing, label: Label):
    thing.name = node.name
    thing.labels = [label]
    thing.far = [nm.trace(one) for one in node.known]
    thing.likes = nm.trace(node.next)
    label.text = node.name


def test_a_trace_leads_to_what_is_made_of_an_object_whoever_makes_it_and_when(source: nm.Model) -> None:
    for number, engine in enumerate([None, everywhere(source), cut_at([b"b"], [1, 0])]):
        model = made(FAR, source, f"out{number}", engine=engine)
        assert names(named(model, "other").far) == ["a"]
        assert names(named(model, "b").far) == ["a"]
        assert (named(model, "a").likes.name, names(named(model, "b").fans)) == ("b", ["a"])
        assert named(model, "top").likes is None


def two_rules(of_other: object) -> nm.Transformation:
    """`of_other` is called for the top node, in a body that assigns `core`."""
    transformation = nm.Transformation("Two")

    @transformation.rule(when=lambda node: node.parent is None)
    def root(node: Node, thing: Thing, second: Special):
        thing.name = node.name
        second.name = f"{node.name} second"
        thing.parts = [second]
        if node.name == "top":
            thing.core = of_other(node)

    @transformation.rule
    def leaf(node: Leaf, thing: Thing, third: Thing):
        thing.name = node.name
        third.name = f"{node.name} third"
        thing.parts = [third]

    @transformation.rule
    def label(node: Leaf, other: Special, label: Label):
        other.name = f"{node.name} other"
        other.labels = [label]
        label.text = node.name

    return transformation


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (lambda top: nm.trace(top.children[1], rule="leaf"), "b"),
        (lambda top: nm.trace(top.children[1], rule="label"), "b other"),
        (lambda top: nm.trace(top.children[1], "other"), "b other"),
        (lambda top: nm.trace(top.children[1], "thing"), "b"),
        (lambda top: nm.trace(top.children[0], default=None), None),
        (lambda top: nm.trace(top.children[1], "nothing", default=None), None),
        (lambda _: nm.trace(None), None),
    ],
)
def test_a_trace_goes_by_output_by_rule_or_has_a_default(source: nm.Model, asked: object, expected: str) -> None:
    model = made(two_rules(asked), source)

    core = named(model, "top").core
    assert (core and core.name) == expected


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda top: nm.trace(top.children[1]), r"trace of src\.Leaf .*\bb\b.* to a rule.*several match: leaf, label"),
        (lambda top: nm.trace(top.children[0]), r"trace of src\.Node .*\ba\b.* to a rule.*none matches"),
        (lambda top: nm.trace(top.children[1], "nothing"), r"trace of src\.Leaf .*\bb\b.* to output nothing of a rule"),
        (lambda top: nm.trace(top.children[1], rule="root"), r"trace of src\.Leaf .*\bb\b.* to rule root"),
        (lambda top: nm.trace(top.children[1], "third", rule="label"), "to output third of label"),
        (lambda _: nm.trace("b"), "what to trace.*'b'"),
    ],
)
def test_an_ambiguous_or_missing_trace_names_both_sides(source: nm.Model, asked: object, told: str) -> None:
    with pytest.raises(nm.RuleFailed, match=r"rule root failed on src\.Node .*top.* at thing\.core: .*" + told):
        nm.transform(two_rules(asked), source, "out")


def test_a_trace_leads_to_the_same_each_time_and_by_an_output_still_elsewhere(source: nm.Model) -> None:
    twice = nm.Transformation("Twice")

    @twice.rule
    def both(node: Node, first: Thing, second: Thing):
        first.name, second.name = node.name, f"{node.name}, second"
        if node.next is not None:
            found = [nm.trace(node.next), nm.trace(node.next, "second"), nm.trace(node.next)]
            assert found[0] == found[2]
            first.far = found[:2]

    assert names(named(made(twice, source), "a").far) == ["b", "b, second"]


def test_a_trace_goes_to_the_rule_that_extends(source: nm.Model) -> None:
    extending = nm.Transformation("Extending")

    @extending.rule
    def node(node: Node, thing: Thing):
        thing.name = node.name
        thing.parts = [nm.trace(child) for child in node.children]

    @extending.rule(extends=node, when=lambda leaf: leaf.size == 2)
    def leaf(leaf: Leaf, thing: Special):
        pass

    top = named(made(extending, source), "top")
    assert [(part.name, part.eClass.name) for part in top.parts] == [("a", "Thing"), ("b", "Special")]


def test_a_trace_is_of_use_in_rules_only(source: nm.Model) -> None:
    with pytest.raises(nm.InvalidValue, match=r"trace\(\)"):
        nm.trace(source.roots[0])


# after the run


def test_why_an_object_is_there(source: nm.Model) -> None:
    model = made(FAR, source)
    (run,) = nm.runs(model)
    label = named(model, "b").labels[0]

    origin = nm.why(label)
    assert (origin.rule, origin.output, origin.source.name, origin.key) == ("thing", "label", "b", None)
    assert origin.token == run.token


def test_why_tells_of_the_source_as_it_was(source: nm.Model) -> None:
    model = made(FAR, source)
    named(source, "b", Node).name = "changed"

    assert nm.why(named(model, "b")).source.name == "b"


def test_why_tells_of_the_run_that_a_past_state_is_of(source: nm.Model) -> None:
    model = made(FAR, source)
    before, (first,) = model.table.now(), nm.runs(model)
    source.roots.remove(named(source, "other", Node))
    nm.retransform(FAR, source, model.name)

    origin = nm.why(named(source.repository.open(model.name, as_of=before), "other"))
    assert (origin.source.name, origin.token) == ("other", first.token)


def test_a_run_that_is_put_on_record_twice_is_one(source: nm.Model) -> None:
    model = made(FAR, source)
    (run,) = nm.runs(model)
    Runs(source.repository.store).add(run)  # as who finishes one that was cut short does

    assert nm.runs(model) == [run]


def test_runs_of_a_model_that_had_the_name_before_are_not_those_of_the_model(source: nm.Model) -> None:
    repository = source.repository
    made(FAR, source, "out")
    repository.drop("out")
    model = repository.create("out")

    assert nm.runs(model) == []
    with pytest.raises(nm.InvalidValue, match="expected one that transform"):
        nm.retransform(FAR, source, "out")
    repository.drop("out")
    assert len(nm.runs(made(FAR, source, "out"))) == 1


def test_why_tells_that_no_run_is_on_record(source: nm.Model) -> None:
    model = made(FAR, source)
    source.repository.store.table("_runs").drop()

    with pytest.raises(nm.InvalidValue, match="expected one of a model whose run is on record; make"):
        nm.why(named(model, "b"))


def test_why_tells_of_lazy_and_of_grouped_rules(source: nm.Model) -> None:
    others = nm.Transformation("Others")

    @others.lazy
    def label(node: Node, label: Label):
        label.text = node.name

    @others.lazy(unique=True)
    def once(node: Node, thing: Special):
        thing.name = "once"

    @others.rule(key=lambda node: node.name[0])
    def letter(nodes: Node, thing: Thing):
        thing.name = nodes[0].name[0]
        thing.labels = [label(nodes[0])]
        if thing.name == "t":
            thing.core = once(nodes[0])

    model = made(others, source)
    found = nm.why(named(model, "a"))
    assert (found.rule, found.source, found.key) == ("letter", None, "a")
    of_label = nm.why(named(model, "a").labels[0])
    assert (of_label.rule, of_label.source.name) == ("label", "a")
    of_once = nm.why(named(model, "once"))
    assert (of_once.rule, of_once.source.name) == ("once", "top")


def test_what_no_run_has_made_can_not_be_explained(source: nm.Model) -> None:
    for unexplained in (source.roots[0], Thing(name="new")):
        with pytest.raises(nm.InvalidValue, match="what to explain"):
            nm.why(unexplained)


def test_what_became_of_an_object(source: nm.Model) -> None:
    asked = two_rules(lambda top: nm.trace(top.children[1], rule="leaf"))
    model = made(asked, source)
    sources = {name: named(source, name, Node) for name in ("a", "b", "top")}

    became = nm.what_became_of(sources["b"], model, asked)
    assert {key: nm.oid(one) for key, one in became.items()} == {
        ("leaf", "thing"): nm.oid(named(model, "b")),
        ("leaf", "third"): nm.oid(named(model, "b third")),
        ("label", "other"): nm.oid(named(model, "b other")),
        ("label", "label"): nm.oid(named(model, "b other").labels[0]),
    }
    assert nm.what_became_of(sources["a"], model, asked) == {}
    assert set(nm.what_became_of(sources["top"], model, asked)) == {("root", "thing"), ("root", "second")}


def test_runs_are_on_record(source: nm.Model) -> None:
    model = made(FAR, source, engine=cut_at([b"b"]))

    (run,) = nm.runs(source.repository.open("out"))
    assert (run.target, run.elements, run.results, run.roots) == ("out", 5, 10, 5)
    assert run.applications == {"thing": 5}
    assert [(part["start"], part["stop"], part["elements"]) for part in run.parts] == [("", "b", 2), ("b", None, 3)]
    assert '"Far"' in run.token
    assert FAR.version in run.token
    assert nm.runs(source) == []
    assert model.name == "out"


def test_another_text_under_the_same_version_is_refused(source: nm.Model) -> None:
    first, second = nm.Transformation("Same", version="1"), nm.Transformation("Same", version="1")

    @first.rule
    def thing(node: Leaf, thing: Thing):
        thing.name = node.name

    @second.rule(when=lambda node: node.size)
    def other(node: Leaf, thing: Thing):
        thing.name = node.name

    made(first, source)
    made(first, source, "again")
    with pytest.raises(nm.InvalidValue, match="version 1 of transformation Same"):
        nm.transform(second, source, "other")
    assert source.repository.models() == ["again", "in", "out"]


def test_a_version_follows_from_the_text_of_rules_guards_and_helpers() -> None:
    def version(change: int) -> str:
        transformation = nm.Transformation("Same")
        if change == 1:

            @transformation.helper
            def helper(node: Node) -> int:
                return 1

        elif change == 2:

            @transformation.helper
            def helper(node: Node) -> int:
                return 2

        @transformation.rule(when=(lambda node: node.size) if change == 3 else None)
        def thing(node: Leaf, thing: Thing):
            thing.name = node.name

        return transformation.version

    assert len({version(change) for change in range(4)}) == 4
    assert version(0) == version(0)


def test_a_version_is_the_same_in_every_process_also_of_rules_without_a_text() -> None:
    program = (
        "import neomodel as nm; t = nm.Transformation('Typed'); "
        't.helper(eval(\'lambda node: node in {"a", "b", "c", "d"}\')); print(t.version)'
    )
    assert len({in_another_process(program, seed) for seed in range(4)}) == 1
