"""ELSA: external systems mirrored bitemporally, so that what was computed from them can be computed again.

    store = elsa.open(repo)
    crm = store.system("crm")
    crm.insert("customer-7", event, {"name": "Ann"})
    token = store.token(event=then)
    crm.get("customer-7", token=token)  # the same for ever

`docs/elsa.md` is the guide. The papers are by Kricke, Grimmer and Schmeißer, 2017.
"""

from metamodels.elsa.records import Record, System, elsa
from metamodels.elsa.store import ElsaStore, open  # noqa: A004  elsa.open, as it is called
from metamodels.elsa.systems import ExternalSystem
from metamodels.elsa.tokens import Token
from metamodels.elsa.values import described
from metamodels.elsa.versions import DELETE, INSERT, Version

__all__ = [
    "DELETE",
    "INSERT",
    "ElsaStore",
    "ExternalSystem",
    "Record",
    "System",
    "Token",
    "Version",
    "described",
    "elsa",
    "open",
]
