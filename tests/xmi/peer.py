"""PyEcore as the peer: its packages as values, and what it loads told in plain terms."""

from pathlib import Path
from typing import Any

from pyecore import ecore
from pyecore.resources import URI, ResourceSet

from neomodel import metamodel as mm
from neomodel.metamodel import ECORE, TypeName


def load_packages(*paths: Path) -> tuple[ResourceSet, list[Any]]:
    """The packages of .ecore files, and a resource set that knows them."""
    resources = ResourceSet()
    packages = []
    for path in paths:
        for root in resources.get_resource(URI(str(path))).contents:
            packages.append(root)
            for package in _with_subpackages(root):
                resources.metamodel_registry[package.nsURI] = package
    return resources, packages


def converted(package: Any) -> mm.Package:
    return mm.Package(
        package.name,
        package.nsURI or package.name,
        ns_prefix=package.nsPrefix or package.name,
        classifiers=[_classifier(one) for one in package.eClassifiers],
        packages=[converted(one) for one in package.eSubpackages],
    )


def _with_subpackages(package: Any) -> list[Any]:
    return [package, *(found for sub in package.eSubpackages for found in _with_subpackages(sub))]


def _type(kind: Any) -> TypeName:
    kind = getattr(kind, "_wrapped", None) or kind
    uri = kind.ePackage.nsURI or kind.ePackage.name
    return TypeName(ECORE if uri == ECORE else uri, kind.name)


def _classifier(one: Any) -> Any:
    if isinstance(one, ecore.EEnum):
        return mm.Enum(
            one.name, literals=[mm.Literal(n.name, n.value, text=n.literal or n.name) for n in one.eLiterals]
        )
    if isinstance(one, ecore.EDataType):
        return mm.DataType(one.name, instance_class=one.instanceClassName)
    return mm.Class(
        one.name,
        features=[_feature(feature) for feature in one.eStructuralFeatures],
        supers=[_type(parent) for parent in one.eSuperTypes],
        abstract=one.abstract,
        interface=one.interface,
    )


def _feature(one: Any) -> Any:
    common = {
        "lower": one.lowerBound,
        "upper": one.upperBound,
        "ordered": one.ordered,
        "unique": one.unique,
        "changeable": one.changeable,
        "volatile": one.volatile,
        "transient": one.transient,
        "unsettable": one.unsettable,
        "derived": one.derived,
    }
    if isinstance(one, ecore.EAttribute):
        default = getattr(one, "defaultValueLiteral", None)
        return mm.Attribute(one.name, _type(one.eType), id=one.iD, default=default, **common)
    opposite = one.eOpposite.name if one.eOpposite else None
    return mm.Reference(one.name, _type(one.eType), containment=one.containment, opposite=opposite, **common)
