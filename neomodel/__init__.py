"""neomodel: models too large for memory, kept in a table store, walked like plain objects.

This module is the public surface; everything in it is documented where it is defined.
"""

from neomodel.declare import attribute, contains, derived, package, reference, timeline
from neomodel.editing import edit, redo
from neomodel.entries import Entry
from neomodel.errors import (
    Conflict,
    CorruptRow,
    FeatureNotFound,
    IncompatibleMetamodel,
    InvalidModel,
    InvalidValue,
    MetamodelNotFound,
    ModelExists,
    ModelNotFound,
    NeomodelError,
    ObjectNotFound,
    OutcomeUnknown,
    ReadOnly,
    StoreUnavailable,
)
from neomodel.leaving import Deleted, delete
from neomodel.model import Model
from neomodel.objects import Element, identify, oid
from neomodel.prefetching import prefetch
from neomodel.repository import Repository, connect
from neomodel.timelines import Timeline

__version__ = "0.1.0"

__all__ = [
    "Conflict",
    "CorruptRow",
    "Deleted",
    "Element",
    "Entry",
    "FeatureNotFound",
    "IncompatibleMetamodel",
    "InvalidModel",
    "InvalidValue",
    "MetamodelNotFound",
    "Model",
    "ModelExists",
    "ModelNotFound",
    "NeomodelError",
    "ObjectNotFound",
    "OutcomeUnknown",
    "ReadOnly",
    "Repository",
    "StoreUnavailable",
    "Timeline",
    "attribute",
    "connect",
    "contains",
    "delete",
    "derived",
    "edit",
    "identify",
    "oid",
    "package",
    "prefetch",
    "redo",
    "reference",
    "timeline",
]
