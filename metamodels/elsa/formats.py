"""The formats of messages, by name."""

from metamodels.elsa.debezium import debezium
from metamodels.elsa.messages import Format, plain

FORMATS: dict[str, Format] = {"plain": plain, "debezium": debezium}
