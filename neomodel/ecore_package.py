"""Ecore's own package, which is always there: metamodels use its types, and files of Ecore are models of it.

It is as EMF has it but for what no row could hold. A typed element's type, and the Java names of classifiers, which EMF
computes from one another, are stored as files have them; the container's side of a containment is never stored; a
factory is none of our business.
"""

from functools import cache
from typing import Any

from neomodel.metamodel import (
    ECORE,
    MANY,
    Attribute,
    Class,
    Classifier,
    DataType,
    Feature,
    Package,
    Reference,
    TypeName,
)

_JAVA = {
    "EBigDecimal": "java.math.BigDecimal",
    "EBigInteger": "java.math.BigInteger",
    "EBoolean": "boolean",
    "EBooleanObject": "java.lang.Boolean",
    "EByte": "byte",
    "EByteArray": "byte[]",
    "EByteObject": "java.lang.Byte",
    "EChar": "char",
    "ECharacterObject": "java.lang.Character",
    "EDate": "java.util.Date",
    "EDouble": "double",
    "EDoubleObject": "java.lang.Double",
    "EFloat": "float",
    "EFloatObject": "java.lang.Float",
    "EInt": "int",
    "EIntegerObject": "java.lang.Integer",
    "EJavaClass": "java.lang.Class",
    "EJavaObject": "java.lang.Object",
    "ELong": "long",
    "ELongObject": "java.lang.Long",
    "EShort": "short",
    "EShortObject": "java.lang.Short",
    "EString": "java.lang.String",
}
_UNSERIALIZABLE = {
    "EDiagnosticChain": "org.eclipse.emf.common.util.DiagnosticChain",
    "EEList": "org.eclipse.emf.common.util.EList",
    "EEnumerator": "org.eclipse.emf.common.util.Enumerator",
    "EFeatureMap": "org.eclipse.emf.ecore.util.FeatureMap",
    "EFeatureMapEntry": "org.eclipse.emf.ecore.util.FeatureMap$Entry",
    "EInvocationTargetException": "java.lang.reflect.InvocationTargetException",
    "EMap": "java.util.Map",
    "EResource": "org.eclipse.emf.ecore.resource.Resource",
    "EResourceSet": "org.eclipse.emf.ecore.resource.ResourceSet",
    "ETreeIterator": "org.eclipse.emf.common.util.TreeIterator",
}
ECORE_DATA_TYPES = frozenset({*_JAVA, *_UNSERIALIZABLE})
"""The data types of `ECORE`, by name. Every other name there is a class: EObject, EClass and so on."""

_COMPUTED: dict[str, Any] = {"volatile": True, "transient": True, "derived": True, "changeable": False}


@cache
def ecore_package() -> Package:
    """The package."""
    types = [DataType(name, instance_class=java) for name, java in _JAVA.items()]
    types += [DataType(name, instance_class=java, serializable=False) for name, java in _UNSERIALIZABLE.items()]
    classifiers: list[Classifier] = [*types, *_elements(), *_classifiers(), *_features()]
    return Package("ecore", ECORE, classifiers=sorted(classifiers, key=lambda found: found.name))


def _elements() -> list[Class]:
    """What is no classifier and has no type."""
    return [
        _class("EObject", abstract=True),
        _class("EModelElement", _contains("eAnnotations", "EAnnotation", opposite="eModelElement"), abstract=True),
        _class("ENamedElement", _text("name"), above="EModelElement", abstract=True),
        _class(
            "EAnnotation",
            _text("source"),
            _contains("details", "EStringToStringMapEntry"),
            _up("eModelElement", "EModelElement", "eAnnotations"),
            _contains("contents", "EObject"),
            _refers("references", "EObject", upper=MANY, resolve_proxies=True),
            above="EModelElement",
        ),
        _class("EStringToStringMapEntry", _text("key"), _text("value"), instance_class="java.util.Map$Entry"),
        _class("EFactory", _refers("ePackage", "EPackage", lower=1, **_COMPUTED), above="EModelElement"),
        _class(
            "EPackage",
            _text("nsURI"),
            _text("nsPrefix"),
            _refers("eFactoryInstance", "EFactory", lower=1, **_COMPUTED),
            _contains("eClassifiers", "EClassifier", opposite="ePackage"),
            _contains("eSubpackages", "EPackage", opposite="eSuperPackage"),
            _up("eSuperPackage", "EPackage", "eSubpackages"),
            above="ENamedElement",
        ),
        _class(
            "EEnumLiteral",
            _value("value", "EInt"),
            _value("instance", "EEnumerator", volatile=True, transient=True),
            _text("literal"),
            _up("eEnum", "EEnum", "eLiterals"),
            above="ENamedElement",
        ),
        _class("ETypeParameter", _contains("eBounds", "EGenericType"), above="ENamedElement"),
        _class(
            "EGenericType",
            _contains("eUpperBound", "EGenericType", upper=1),
            _contains("eTypeArguments", "EGenericType"),
            _refers("eRawType", "EClassifier", lower=1, **_COMPUTED),
            _contains("eLowerBound", "EGenericType", upper=1),
            _refers("eTypeParameter", "ETypeParameter", resolve_proxies=False),
            _refers("eClassifier", "EClassifier"),
        ),
    ]


def _classifiers() -> list[Class]:
    return [
        _class(
            "EClassifier",
            _text("instanceClassName"),
            _value("instanceClass", "EJavaClass", **_COMPUTED),
            _value("defaultValue", "EJavaObject", **_COMPUTED),
            _text("instanceTypeName"),
            _up("ePackage", "EPackage", "eClassifiers"),
            _contains("eTypeParameters", "ETypeParameter"),
            above="ENamedElement",
            abstract=True,
        ),
        _class("EDataType", _flag("serializable", default="true"), above="EClassifier"),
        _class("EEnum", _contains("eLiterals", "EEnumLiteral", opposite="eEnum"), above="EDataType"),
        _class(
            "EClass",
            _flag("abstract"),
            _flag("interface"),
            _refers("eSuperTypes", "EClass", upper=MANY),
            _contains("eOperations", "EOperation", opposite="eContainingClass"),
            _refers("eAllAttributes", "EAttribute", upper=MANY, **_COMPUTED),
            _refers("eAllReferences", "EReference", upper=MANY, **_COMPUTED),
            _refers("eReferences", "EReference", upper=MANY, **_COMPUTED),
            _refers("eAttributes", "EAttribute", upper=MANY, **_COMPUTED),
            _refers("eAllContainments", "EReference", upper=MANY, **_COMPUTED),
            _refers("eAllOperations", "EOperation", upper=MANY, **_COMPUTED),
            _refers("eAllStructuralFeatures", "EStructuralFeature", upper=MANY, **_COMPUTED),
            _refers("eAllSuperTypes", "EClass", upper=MANY, **_COMPUTED),
            _refers("eIDAttribute", "EAttribute", **_COMPUTED),
            _contains("eStructuralFeatures", "EStructuralFeature", opposite="eContainingClass"),
            _contains("eGenericSuperTypes", "EGenericType"),
            _refers("eAllGenericSuperTypes", "EGenericType", upper=MANY, **_COMPUTED),
            above="EClassifier",
        ),
    ]


def _features() -> list[Class]:
    """What has a type."""
    return [
        _class(
            "ETypedElement",
            _flag("ordered", default="true"),
            _flag("unique", default="true"),
            _value("lowerBound", "EInt"),
            _value("upperBound", "EInt", default="1"),
            _flag("many", **_COMPUTED),
            _flag("required", **_COMPUTED),
            _refers("eType", "EClassifier"),
            _contains("eGenericType", "EGenericType", upper=1),
            above="ENamedElement",
            abstract=True,
        ),
        _class("EParameter", _up("eOperation", "EOperation", "eParameters"), above="ETypedElement"),
        _class(
            "EOperation",
            _up("eContainingClass", "EClass", "eOperations"),
            _contains("eTypeParameters", "ETypeParameter"),
            _contains("eParameters", "EParameter", opposite="eOperation"),
            _refers("eExceptions", "EClassifier", upper=MANY),
            _contains("eGenericExceptions", "EGenericType"),
            above="ETypedElement",
        ),
        _class(
            "EStructuralFeature",
            _flag("changeable", default="true"),
            _flag("volatile"),
            _flag("transient"),
            _text("defaultValueLiteral"),
            _value("defaultValue", "EJavaObject", **_COMPUTED),
            _flag("unsettable"),
            _flag("derived"),
            _up("eContainingClass", "EClass", "eStructuralFeatures"),
            above="ETypedElement",
            abstract=True,
        ),
        _class(
            "EAttribute",
            _flag("iD"),
            _refers("eAttributeType", "EDataType", lower=1, **_COMPUTED),
            above="EStructuralFeature",
        ),
        _class(
            "EReference",
            _flag("containment"),
            _flag("container", **_COMPUTED),
            _flag("resolveProxies", default="true"),
            _refers("eOpposite", "EReference"),
            _refers("eReferenceType", "EClass", lower=1, **_COMPUTED),
            _refers("eKeys", "EAttribute", upper=MANY),
            above="EStructuralFeature",
        ),
    ]


def _class(name: str, *features: Feature, above: str | None = None, **options: Any) -> Class:
    return Class(name, features=features, supers=[_type(above)] if above else [], **options)


def _type(name: str) -> TypeName:
    return TypeName(ECORE, name)


def _value(name: str, type_: str, **options: Any) -> Attribute:
    return Attribute(name, _type(type_), **options)


def _text(name: str) -> Attribute:
    return _value(name, "EString")


def _flag(name: str, **options: Any) -> Attribute:
    return _value(name, "EBoolean", **options)


def _refers(name: str, type_: str, **options: Any) -> Reference:
    return Reference(name, _type(type_), **options)


def _contains(name: str, type_: str, *, upper: int = MANY, opposite: str | None = None) -> Reference:
    return _refers(name, type_, upper=upper, containment=True, opposite=opposite, resolve_proxies=False)


def _up(name: str, type_: str, opposite: str) -> Reference:
    """The child's side of a containment."""
    return _refers(name, type_, opposite=opposite, changeable=False, resolve_proxies=False)
