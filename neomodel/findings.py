"""What a check found: values, for people and for programs.

===============  =========================================================================  ====================
kind             what is wrong                                                              mended by
===============  =========================================================================  ====================
``entry``        a list of children names one that lies elsewhere or nowhere, or twice      taking it off
``unlisted``     an object lies in a container whose list does not name it                  listing it
``displaced``    it lies in a feature that holds one child, which is another by now         removing it
``lost``         its containers end at one that is not there: half stored, half deleted     removing it
``remnant``      a row has cells but no class, so that it is no object                      removing it
``twofold``      it was copied to another model to be moved there, and not erased           removing the copy
``opposite``     a reference is known at one end only                                       following the later end
``dangling``     a reference leads to what is not there                                     see below
``orphan``       an object has no container
``cycle``        an object lies in itself
``place``        its container's class has no such feature, or one that takes no such child
``type``         its class is not known or abstract, or that of what it refers to unfit
``cell``         a cell belongs to no feature, or can't be read
``key``          an id is not the one that its key makes
``bound``        a collection holds more than it may
``twice``        a unique collection holds something twice
===============  =========================================================================  ====================

A dangling reference is cleared if it has an opposite: nobody else can have left it there but who removed the target.
Without one it may be meant for an object that is still to come, and only a person can tell.
"""

import attrs

from neomodel.kinds import EFeature


@attrs.frozen
class Finding:
    """One thing that is wrong, or was: of which object and feature, and in one sentence."""

    kind: str
    oid: str
    feature: str | None
    sentence: str
    mended: bool = False


@attrs.frozen
class Report:
    """What a check of a model found, by ids. Of more than `LIMIT` things it has the first, and the number of all."""

    model: str
    objects: int
    findings: tuple[Finding, ...]
    number: int

    @property
    def left(self) -> int:
        """How many things are still wrong."""
        return self.number - sum(finding.mended for finding in self.findings)

    @property
    def clean(self) -> bool:
        return self.left == 0


# what mends a finding


@attrs.frozen
class Change:
    """Let a reference in a row hold a token, or hold it no more (`times` is 0), as long as the row is the one that was
    looked at. A token that is held already is left once."""

    model: str
    oid: str
    version: bytes | None
    feature: EFeature
    token: str
    times: int


@attrs.frozen
class Removal:
    """Remove a row, as long as it is the one that was looked at."""

    model: str
    oid: str
    version: bytes | None


@attrs.frozen
class Choice:
    """Of a reference that is known at one end only: let that end go, or let the other one follow."""

    go: Change
    follow: Change


@attrs.frozen
class Touch:
    """Give a row another version, as long as it is the one that was looked at: who saw that can change it no more."""

    model: str
    oid: str
    version: bytes | None


Mend = Change | Removal | Choice | Touch


@attrs.frozen
class Suspect:
    """What was found at first sight. Another look tells whether it stays."""

    kind: str
    oid: str
    feature: str | None
    token: str | None
    sentence: str = attrs.field(eq=False)
    mend: Mend | None = attrs.field(eq=False, default=None)

    def finding(self, *, mended: bool) -> Finding:
        return Finding(self.kind, self.oid, self.feature, self.sentence, mended)


LIMIT = 50_000
"""Findings that are kept, and mended, in one pass."""
