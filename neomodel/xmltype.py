"""The package of XML's own types, which metamodels made from XML schemas use. It is always there, as Ecore's is.

`codecs` says what the values are of those data types whose text is another than that of Ecore's. Dates, durations and
qualified names are text: XML has forms of them that no Python value keeps.
"""

from functools import cache
from typing import Any

from neomodel.metamodel import ECORE, MANY, Annotation, Attribute, Class, DataType, Package, Reference, TypeName

XML_TYPE = "http://www.eclipse.org/emf/2003/XMLType"
EXTENDED = "http:///org/eclipse/emf/ecore/util/ExtendedMetaData"
"""The source of annotations that say how a feature is written in XML."""

_JAVA = {
    "java.lang.String": "AnyURI ENTITY ID IDREF Language Name NCName NMTOKEN NormalizedString String Token",
    "java.lang.Object": "AnySimpleType",
    "java.util.List": "ENTITIES ENTITIESBase IDREFS IDREFSBase NMTOKENS NMTOKENSBase",
    "javax.xml.datatype.XMLGregorianCalendar": "Date DateTime GDay GMonth GMonthDay GYear GYearMonth Time",
    "javax.xml.datatype.Duration": "Duration",
    "javax.xml.namespace.QName": "NOTATION QName",
    "java.math.BigInteger": "Integer NegativeInteger NonNegativeInteger NonPositiveInteger PositiveInteger "
    "UnsignedLong",
    "java.math.BigDecimal": "Decimal",
    "byte[]": "Base64Binary HexBinary",
    "boolean": "Boolean",
    "java.lang.Boolean": "BooleanObject",
    "byte": "Byte",
    "java.lang.Byte": "ByteObject",
    "short": "Short UnsignedByte",
    "java.lang.Short": "ShortObject UnsignedByteObject",
    "int": "Int UnsignedShort",
    "java.lang.Integer": "IntObject UnsignedShortObject",
    "long": "Long UnsignedInt",
    "java.lang.Long": "LongObject UnsignedIntObject",
    "float": "Float",
    "java.lang.Float": "FloatObject",
    "double": "Double",
    "java.lang.Double": "DoubleObject",
}


@cache
def xml_type() -> Package:
    """The package. Its classes hold what a schema leaves open: whole elements, as entries of feature maps."""
    types = [DataType(name, instance_class=java) for java, names in _JAVA.items() for name in names.split()]
    return Package(
        "type",
        XML_TYPE,
        ns_prefix="ecore.xml.type",
        classifiers=sorted([*types, *_classes()], key=lambda found: found.name.lower()),
    )


def _classes() -> list[Class]:
    any_type = Class(
        "AnyType",
        features=[
            _feature_map("mixed", kind="elementWildcard", name=":mixed"),
            _feature_map("any", unstored=True, kind="elementWildcard", wildcards="##any", name=":1"),
            _feature_map("anyAttribute", kind="attributeWildcard", wildcards="##any", name=":2"),
        ],
        annotations=[_said(name="anyType", kind="mixed")],
    )
    instruction = Class("ProcessingInstruction", features=[_text("data"), _text("target", lower=1)])
    simple = Class(
        "SimpleAnyType",
        supers=[TypeName(XML_TYPE, "AnyType")],
        features=[
            _text("rawValue", unstored=True),
            Attribute("value", TypeName(XML_TYPE, "AnySimpleType"), **_UNSTORED),
            Reference("instanceType", TypeName(ECORE, "EDataType"), lower=1),
        ],
    )
    return [any_type, instruction, simple]


_UNSTORED: dict[str, Any] = {"volatile": True, "transient": True, "derived": True}


def _said(**details: str) -> Annotation:
    return Annotation(EXTENDED, details)


def _feature_map(feature: str, *, unstored: bool = False, **details: str) -> Attribute:
    return Attribute(
        feature,
        TypeName(ECORE, "EFeatureMapEntry"),
        upper=MANY,
        unique=False,
        annotations=[_said(**details)],
        **(_UNSTORED if unstored else {}),
    )


def _text(name: str, *, lower: int = 0, unstored: bool = False) -> Attribute:
    return Attribute(name, TypeName(XML_TYPE, "String"), lower=lower, **(_UNSTORED if unstored else {}))
