"""neomodel: models too large for memory, kept in a table store, walked like plain objects.

This module is the public surface; everything in it is documented where it is defined. What is here is
imported when it is asked for: each Python process that Spark starts imports this package, and most need little of it.
No module has the name of something that is here, or it would take its place.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neomodel.backups import backup, restore, verify
    from neomodel.batches import Batch, batch
    from neomodel.checking import check
    from neomodel.declare import attribute, contains, derived, package, reference, timeline
    from neomodel.editing import edit, redo
    from neomodel.entries import Entry
    from neomodel.errors import (
        BatchExpired,
        Conflict,
        CorruptRow,
        DamagedBackup,
        FeatureNotFound,
        IncompatibleMetamodel,
        InvalidCondition,
        InvalidFile,
        InvalidModel,
        InvalidValue,
        JobEnded,
        MetamodelNotFound,
        ModelExists,
        ModelNotFound,
        NeomodelError,
        NotStable,
        NotWritable,
        ObjectNotFound,
        OutcomeUnknown,
        Purged,
        ReadOnly,
        RuleFailed,
        RunTaken,
        StepFailed,
        StoreUnavailable,
        UnfinishedImport,
    )
    from neomodel.findings import Finding, Report
    from neomodel.graphs import to_networkx
    from neomodel.leaving import Deleted, delete
    from neomodel.ledgers import Fact, Ledger
    from neomodel.model import Model
    from neomodel.objects import Element, identify, oid
    from neomodel.prefetching import prefetch
    from neomodel.purging import Purge, purge, purges
    from neomodel.repository import Repository, connect
    from neomodel.revisions import Change, Place, Revision, history
    from neomodel.rules.again import retransform
    from neomodel.rules.applying import trace
    from neomodel.rules.definition import Transformation
    from neomodel.rules.in_place import Repairs, repair
    from neomodel.rules.running import transform
    from neomodel.rules.runs import Run, runs
    from neomodel.rules.traces import Origin, what_became_of, why
    from neomodel.timelines import Timeline
    from neomodel.unstored import UNSET

__version__ = "0.1.0"

_HOMES = {
    "backups": ("backup", "restore", "verify"),
    "batches": ("Batch", "batch"),
    "checking": ("check",),
    "declare": ("attribute", "contains", "derived", "package", "reference", "timeline"),
    "editing": ("edit", "redo"),
    "entries": ("Entry",),
    "errors": (
        "BatchExpired",
        "Conflict",
        "CorruptRow",
        "DamagedBackup",
        "FeatureNotFound",
        "IncompatibleMetamodel",
        "InvalidCondition",
        "InvalidFile",
        "InvalidModel",
        "InvalidValue",
        "JobEnded",
        "MetamodelNotFound",
        "ModelExists",
        "ModelNotFound",
        "NeomodelError",
        "NotStable",
        "NotWritable",
        "ObjectNotFound",
        "OutcomeUnknown",
        "Purged",
        "ReadOnly",
        "RuleFailed",
        "RunTaken",
        "StepFailed",
        "StoreUnavailable",
        "UnfinishedImport",
    ),
    "findings": ("Finding", "Report"),
    "graphs": ("to_networkx",),
    "leaving": ("Deleted", "delete"),
    "ledgers": ("Fact", "Ledger"),
    "model": ("Model",),
    "objects": ("Element", "identify", "oid"),
    "prefetching": ("prefetch",),
    "purging": ("Purge", "purge", "purges"),
    "repository": ("Repository", "connect"),
    "revisions": ("Change", "Place", "Revision", "history"),
    "rules.again": ("retransform",),
    "rules.applying": ("trace",),
    "rules.definition": ("Transformation",),
    "rules.in_place": ("Repairs", "repair"),
    "rules.running": ("transform",),
    "rules.runs": ("Run", "runs"),
    "rules.traces": ("Origin", "what_became_of", "why"),
    "timelines": ("Timeline",),
    "unstored": ("UNSET",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'neomodel' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    found = globals()[name] = getattr(import_module(f"neomodel.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "UNSET",
    "Batch",
    "BatchExpired",
    "Change",
    "Conflict",
    "CorruptRow",
    "DamagedBackup",
    "Deleted",
    "Element",
    "Entry",
    "Fact",
    "FeatureNotFound",
    "Finding",
    "IncompatibleMetamodel",
    "InvalidCondition",
    "InvalidFile",
    "InvalidModel",
    "InvalidValue",
    "JobEnded",
    "Ledger",
    "MetamodelNotFound",
    "Model",
    "ModelExists",
    "ModelNotFound",
    "NeomodelError",
    "NotStable",
    "NotWritable",
    "ObjectNotFound",
    "Origin",
    "OutcomeUnknown",
    "Place",
    "Purge",
    "Purged",
    "ReadOnly",
    "Repairs",
    "Report",
    "Repository",
    "Revision",
    "RuleFailed",
    "Run",
    "RunTaken",
    "StepFailed",
    "StoreUnavailable",
    "Timeline",
    "Transformation",
    "UnfinishedImport",
    "attribute",
    "backup",
    "batch",
    "check",
    "connect",
    "contains",
    "delete",
    "derived",
    "edit",
    "history",
    "identify",
    "oid",
    "package",
    "prefetch",
    "purge",
    "purges",
    "redo",
    "reference",
    "repair",
    "restore",
    "retransform",
    "runs",
    "timeline",
    "to_networkx",
    "trace",
    "transform",
    "verify",
    "what_became_of",
    "why",
]
