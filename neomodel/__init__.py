"""neomodel: models too large for memory, kept in a table store, walked like plain objects.

This module is the public surface; everything in it is documented where it is defined.
"""

from neomodel.batches import Batch, batch
from neomodel.declare import attribute, contains, derived, package, reference
from neomodel.editing import edit, redo
from neomodel.errors import (
    BatchExpired,
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
    NotStable,
    ObjectNotFound,
    OutcomeUnknown,
    Purged,
    ReadOnly,
    StoreUnavailable,
)
from neomodel.history import Change, Place, Revision, history
from neomodel.leaving import Deleted, delete
from neomodel.model import Model
from neomodel.objects import Element, identify, oid
from neomodel.repository import Repository, connect
from neomodel.states import UNSET

__version__ = "0.1.0"

__all__ = [
    "UNSET",
    "Batch",
    "BatchExpired",
    "Change",
    "Conflict",
    "CorruptRow",
    "Deleted",
    "Element",
    "FeatureNotFound",
    "IncompatibleMetamodel",
    "InvalidModel",
    "InvalidValue",
    "MetamodelNotFound",
    "Model",
    "ModelExists",
    "ModelNotFound",
    "NeomodelError",
    "NotStable",
    "ObjectNotFound",
    "OutcomeUnknown",
    "Place",
    "Purged",
    "ReadOnly",
    "Repository",
    "Revision",
    "StoreUnavailable",
    "attribute",
    "batch",
    "connect",
    "contains",
    "delete",
    "derived",
    "edit",
    "history",
    "identify",
    "oid",
    "package",
    "redo",
    "reference",
]
