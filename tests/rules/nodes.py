"""Nodes that contain and refer to one another in every way, and rules that make boxes of them in every way."""

import random
from typing import Any

import neomodel as nm

nodes = nm.package("nodes", "http://nodes")
boxes = nm.package("boxes", "http://boxes")


@nodes.define
class Node:
    name: str = ""
    flag: bool = False
    parts: list["Node"] = nm.contains(opposite="whole")
    whole: "Node | None" = nm.reference(opposite="parts")
    best: "Node | None" = nm.reference()
    others: list["Node"] = nm.reference()


@boxes.define
class Box:
    label: str = ""
    inner: list["Box"] = nm.contains(opposite="outer")
    outer: "Box | None" = nm.reference(opposite="inner")
    peers: list["Box"] = nm.reference(opposite="peer_of")
    peer_of: list["Box"] = nm.reference(opposite="peers")
    mate: "Box | None" = nm.reference(opposite="mate_of")
    mate_of: list["Box"] = nm.reference(opposite="mate")
    shade: "Box | None" = nm.reference()


boxing = nm.Transformation("boxing")


@boxing.helper
def label(node: Any) -> str:
    return f"{node.name} of {node.whole.name if node.whole else 'none'}"


@boxing.constant
def count(model: nm.Model) -> str:
    return ",".join(sorted(one.name for one in model.roots))[:3]


@boxing.lazy(unique=True)
def shade_of(node: Node, shade: Box) -> None:
    shade.label = f"shade of {node.name}"


@boxing.lazy
def tag_of(node: Node, tag: Box) -> None:
    tag.label = f"tag of {node.name}"


@boxing.rule(when=lambda node: node.flag)
def flagged(node: Node, box: Box, extra: Box) -> None:
    box.label = label(node)
    box.inner = [extra, tag_of(node), *(nm.trace(part, "box") for part in node.parts if part.flag)]
    box.peers = [nm.trace(other, "box") for other in node.others]
    box.mate = nm.trace(node.best, "box")
    extra.label = f"extra {len(node.parts)} {count()}"
    if node.best is not None:
        box.shade = shade_of(node.best)


@boxing.rule(when=lambda node: not node.flag)
def plain(node: Node, box: Box) -> None:
    box.label = node.name.upper()
    if node.whole is not None and node.whole.flag:
        box.outer = nm.trace(node.whole, "box")
    box.peers = [nm.trace(other, "box") for other in node.others if other.flag]


@boxing.rule(key=lambda node: node.name[:1], when=lambda node: node.best is not None and node.best.flag)
def initials(some: Node, group: Box) -> None:
    group.label = f"{len(some)} like {some[0].name}"
    group.peers = [nm.trace(one, rule="flagged" if one.flag else "plain") for one in some]


def grown(model: nm.Model, size: int, chance: random.Random) -> None:
    """Fill a model with nodes."""
    made: list[Any] = []
    for number in range(size):
        node = Node(name=chance.choice("abcd") + str(number), flag=chance.random() < 0.5)
        parents = [one for one in made if chance.random() < 0.2]
        (chance.choice(parents).parts if parents else model.roots).append(node)
        made.append(node)
    for node in made:
        if chance.random() < 0.5:
            node.best = chance.choice(made)
        node.others = chance.sample(made, min(len(made), chance.randrange(3)))


def changed(model: nm.Model, chance: random.Random) -> None:
    """Change something."""
    found = list(model.all(Node))
    if not found:
        model.roots.append(Node(name="a"))
        return
    node = chance.choice(found)
    what = chance.randrange(8)
    if what == 0:
        node.name = chance.choice("abcd") + node.name[1:]
    elif what == 1:
        node.flag = not node.flag
    elif what == 2:
        node.best = chance.choice([*found, None])
    elif what == 3:
        node.others = chance.sample(found, min(len(found), chance.randrange(4)))
    elif what == 4:
        node.parts.append(Node(name=f"d{chance.randrange(100)}", flag=chance.random() < 0.5, best=node))
    elif what == 5:
        below = {id(one) for one in node.eAllContents()}
        above = [one for one in found if one is not node and id(one) not in below]
        (chance.choice(above).parts if above else model.roots).append(node)
    elif what == 6 and len(found) > 3:
        gone = {nm.oid(one) for one in (node, *node.eAllContents())}
        for one in found:
            if nm.oid(one) not in gone:
                if one.best is not None and nm.oid(one.best) in gone:
                    one.best = None
                one.others = [other for other in one.others if nm.oid(other) not in gone]
        nm.delete(node)
    else:
        model.roots.append(Node(name=chance.choice("abcd"), flag=True))


def rows(model: nm.Model) -> dict[bytes, dict[bytes, bytes]]:
    """What a model holds, cell by cell: but for versions, for what is noted of reads, and where long lists lie."""
    found = {}
    for key, row in model.table.scan():
        kept = {c: v for c, v in row.items() if c != b"t:version" and (c[:2] != b"x:" or c[2:3] == b"\0")}
        if kept and (key != b"ROOT" or len(kept) > 2):  # a row of roots that had some once says of which package
            found[key] = kept
    return found
