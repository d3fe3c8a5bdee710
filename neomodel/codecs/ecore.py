"""The codec of every data type of Ecore, and of every Java class that stands for one."""

import attrs

from neomodel.codecs.base import Codec
from neomodel.codecs.dates import date
from neomodel.codecs.numbers import big_integer, decimal, double, integer, single
from neomodel.codecs.texts import binary, boolean, character, text

# What has no counterpart outside a Java program is text here. EMF does not store most of it at all.
_OPAQUE = (
    "EJavaClass EJavaObject EDiagnosticChain EEList EEnumerator EFeatureMap EFeatureMapEntry "
    "EInvocationTargetException EMap EResource EResourceSet ETreeIterator"
)

_PRIMITIVES = {
    "EInt": (integer("EInt", 32), "EIntegerObject", "int", "java.lang.Integer"),
    "ELong": (integer("ELong", 64), "ELongObject", "long", "java.lang.Long"),
    "EShort": (integer("EShort", 16), "EShortObject", "short", "java.lang.Short"),
    "EByte": (integer("EByte", 8), "EByteObject", "byte", "java.lang.Byte"),
    "EFloat": (single("EFloat"), "EFloatObject", "float", "java.lang.Float"),
    "EDouble": (double("EDouble"), "EDoubleObject", "double", "java.lang.Double"),
    "EBoolean": (boolean("EBoolean"), "EBooleanObject", "boolean", "java.lang.Boolean"),
    "EChar": (character("EChar"), "ECharacterObject", "char", "java.lang.Character"),
}

_OBJECTS = {
    "EString": (text("EString"), "java.lang.String"),
    "EBigInteger": (big_integer("EBigInteger"), "java.math.BigInteger"),
    "EBigDecimal": (decimal("EBigDecimal"), "java.math.BigDecimal"),
    "EDate": (date("EDate"), "java.util.Date"),
    "EByteArray": (binary("EByteArray"), "byte[]"),
}

_BY_NAME: dict[str, Codec] = {name: text(name) for name in _OPAQUE.split()}
_BY_JAVA: dict[str, Codec] = {}

for _name, (_found, _java) in _OBJECTS.items():
    _BY_NAME[_name] = _BY_JAVA[_java] = _found
for _name, (_found, _boxed, _java, _java_boxed) in _PRIMITIVES.items():
    _BY_NAME[_name] = _BY_JAVA[_java] = _found
    _BY_NAME[_boxed] = _BY_JAVA[_java_boxed] = attrs.evolve(_found, name=_boxed, primitive=False, default=None)

NAMES = tuple(sorted(_BY_NAME))
"""The names of all data types of Ecore."""


def codec(name: str) -> Codec | None:
    """The codec of the data type of Ecore with that name; None if it has none of that name."""
    return _BY_NAME.get(name)


def codec_of_java(instance_class: str | None) -> Codec:
    """The codec for a data type that stands for this Java class; for a class unknown here, or none, that of text."""
    return _BY_JAVA.get(instance_class or "", _BY_NAME["EString"])
