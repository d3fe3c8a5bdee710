"""Every dialect of `.ecore` gives the same packages, and what is not said in it is said in a notice."""

import pytest

from neomodel.metamodel import (
    ECORE,
    Attribute,
    Class,
    DataType,
    Enum,
    Literal,
    Package,
    Reference,
    TypeName,
)
from neomodel.xmltype import XML_TYPE
from tests.xmi.ecore_files import (
    ANY,
    PLAIN,
    STRING,
    TEXT,
    Read,
    attribute,
    class_,
    ecore,
    kept,
    reference,
    the_class,
    the_feature,
    told,
    wrapped,
)

A_AND_B = class_("A", attribute("n")) + class_("B", reference("a", 'eType="#//A"'))


# the whole of it


def test_all_that_features_say_is_read(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_(
                "A",
                attribute("n", f'eType="{STRING}" lowerBound="1" iD="true" ordered="false" unique="false"')
                + attribute("many", f'eType="{STRING}" upperBound="-1" changeable="false" unsettable="true"')
                + attribute("v", f'eType="{STRING}" volatile="true" transient="true" derived="true"')
                + attribute("d", f'eType="{STRING}" defaultValueLiteral="x"')
                + reference("kids", 'upperBound="-1" eType="#//A" containment="true" eOpposite="#//A/up"')
                + reference("up", 'eType="#//A" eOpposite="#//A/kids" resolveProxies="false"')
                + reference("to", 'lowerBound="2" upperBound="5" eType="#//A" eKeys="#//A/n #//A/d"'),
                'abstract="true" interface="true"',
            )
        )
    )

    a = TypeName("http://p", "A")
    features = [
        Attribute("n", TEXT, lower=1, id=True, ordered=False, unique=False),
        Attribute("many", TEXT, upper=-1, changeable=False, unsettable=True),
        Attribute("v", TEXT, volatile=True, transient=True, derived=True),
        Attribute("d", TEXT, default="x"),
        Reference("kids", a, upper=-1, containment=True, opposite="up"),
        Reference("up", a, opposite="kids", resolve_proxies=False),
        Reference("to", a, lower=2, upper=5, keys=["n", "d"]),
    ]
    assert package == Package(
        "p", "http://p", classifiers=[Class("A", features=features, abstract=True, interface=True)]
    )
    assert notices == []


def test_data_types_and_enums_are_read(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            """
            <eClassifiers xsi:type="ecore:EDataType" name="D" instanceClassName="java.util.Date" serializable="false"/>
            <eClassifiers xsi:type="ecore:EDataType" name="M" instanceTypeName="java.util.Map&lt;K, V>"/>
            <eClassifiers xsi:type="ecore:EEnum" name="E">
              <eLiterals name="one" value="1" literal="1st"/>
              <eLiterals name="zero"/>
            </eClassifiers>
            """
            + class_("A", attribute("e", 'eType="#//E" defaultValueLiteral="1st"'))
            + class_("B", attribute("e", 'eType="#//E" defaultValueLiteral="one"'))
        )
    )

    date, map_, enum = package.classifiers[:3]
    assert date == DataType("D", instance_class="java.util.Date", serializable=False)
    assert isinstance(map_, DataType)
    assert map_.instance_class == "java.util.Map"
    assert kept(map_)["instanceTypeName"] == "java.util.Map<K, V>"
    assert enum == Enum("E", literals=[Literal("one", 1, text="1st"), Literal("zero", 0)])
    assert the_feature(package, "A.e").default == "1st"
    assert the_feature(package, "B.e").default == "one"
    assert notices == []


def test_an_upper_bound_of_minus_two_is_kept(read_ecores: Read) -> None:
    (package,), notices = read_ecores(ecore(class_("A", attribute("n", f'eType="{STRING}" upperBound="-2"'))))

    assert the_feature(package, "A.n").upper == -2
    assert the_feature(package, "A.n").many
    assert notices == []


# forms


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_every_encoding_is_read(read_ecores: Read, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n' + ecore(class_("Émile"))
    (package,), _ = read_ecores(text.encode(encoding))

    assert package.classifiers == (Class("Émile"),)


def test_types_are_named_by_xsi_or_xmi(read_ecores: Read) -> None:
    text = ecore(class_("A", attribute("n"))).replace("xsi:type", "xmi:type")

    assert read_ecores(text) == ([PLAIN], [])


def test_values_are_attributes_or_elements(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            f"""
            <name>p</name>
            <nsPrefix xsi:nil="true"/>
            <eClassifiers xsi:type="ecore:EClass"><name>A</name>
              <eStructuralFeatures xsi:type="ecore:EAttribute">
                <name>n</name>
                <eType xsi:type="ecore:EDataType" href="{ECORE}#//EString"/>
              </eStructuralFeatures>
            </eClassifiers>
            """,
            'nsURI="http://p"',
        )
    )

    assert package == PLAIN
    assert notices == []


@pytest.mark.parametrize(
    "supers",
    [
        ('eSuperTypes="#//A #//B"', ""),
        ('eSuperTypes="//A //B"', ""),
        ('eSuperTypes="#/0/A #/0/B"', ""),
        ('eSuperTypes="/0/A /0/B"', ""),
        ('eSuperTypes="ecore:EClass #//A ecore:EClass #//B"', ""),
        ('eSuperTypes="#//@eClassifiers.0 #//@eClassifiers.1"', ""),
        ('eSuperTypes="#_a #_b"', ""),
        ('eSuperTypes="_a _b"', ""),
        ('eSuperTypes="#//A http://p#//B"', ""),
        ('eSuperTypes="a.ecore#//A a.ecore#/0/B"', ""),
        ("", '<eSuperTypes href="#//A"/><eSuperTypes href="#//B"/>'),
        ("", '<eSuperTypes xmi:idref="_a"/><eSuperTypes xmi:idref="_b"/>'),
        ("", "<eSuperTypes>#//A</eSuperTypes><eSuperTypes>//B</eSuperTypes>"),
        ("", '<eGenericSuperTypes eClassifier="#//A"/><eGenericSuperTypes eClassifier="#//B"/>'),
    ],
)
def test_references_are_written_in_many_ways(read_ecores: Read, supers: tuple[str, str]) -> None:
    given, inside = supers
    text = class_("A", given='xmi:id="_a"') + class_("B", given='xmi:id="_b"') + class_("C", inside, given)
    (package,), notices = read_ecores(ecore(text))

    assert the_class(package, "C").supers == (TypeName("http://p", "A"), TypeName("http://p", "B"))
    assert notices == []


@pytest.mark.parametrize(
    ("name", "path"),
    [("My Class", "My%20Class"), ("a/b", "a%2Fb"), ("100%", "100%25"), ("MOF::A", "MOF::A"), ("x.1", "x.1")],
)
def test_paths_are_percent_encoded(read_ecores: Read, name: str, path: str) -> None:
    (package,), notices = read_ecores(ecore(class_(name) + class_("C", reference("to", f'eType="#//{path}"'))))

    assert the_feature(package, "C.to").type == TypeName("http://p", name)
    assert notices == []


def test_a_reference_with_spaces_is_one_if_that_is_what_there_is(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(class_("My Own Class") + class_("B") + "\n" + class_("C", "", 'eSuperTypes="//My Own Class //B"'))
    )

    assert [found.name for found in the_class(package, "C").supers] == ["My Own Class", "B"]
    assert told(notices) == [
        "a.ecore:3: the reference '//My Own Class' has spaces; it is taken for one, Ecore would write %20"
    ]


def test_of_an_operation_and_a_feature_of_one_name_an_opposite_is_the_feature(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            class_("A", '<eOperations name="b"/>' + reference("b", 'eType="#//B" eOpposite="#//B/a"'))
            + class_("B", '<eOperations name="a"/>' + reference("a", 'eType="#//A" eOpposite="#//A/b"'))
        )
    )

    assert (the_feature(package, "A.b").opposite, the_feature(package, "B.a").opposite) == ("a", "b")
    assert notices == []


# packages


def test_a_package_without_nsuri_is_found_by_its_name_and_sub_packages_below_it(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(
            '<eSubpackages name="in">'
            + class_("A")
            + "</eSubpackages>"
            + class_("B", reference("a", 'eType="#//in/A"')),
            'name="p"',
        )
    )

    assert (package.ns_uri, package.ns_prefix, package.packages[0].ns_uri) == ("p", "p", "p/in")
    assert the_feature(package, "B.a").type == TypeName("p/in", "A")
    assert told(notices) == [
        "a.ecore:1: package p has no nsURI; it is found by 'p'",
        "a.ecore:2: package in has no nsURI; it is found by 'p/in'",
    ]


def test_several_packages_of_a_file_refer_to_one_another_by_number(read_ecores: Read) -> None:
    types = ecore('<eClassifiers xsi:type="ecore:EDataType" name="String"/>', 'name="PrimitiveTypes"')
    packages, notices = read_ecores(wrapped(types, ecore(class_("A", attribute("n", 'eType="/0/String"')), 'name="p"')))

    assert [package.ns_uri for package in packages] == ["p/PrimitiveTypes", "p"]
    assert the_feature(packages[1], "A.n").type == TypeName("p/PrimitiveTypes", "String")
    assert [notice.line for notice in notices] == [2, 5]


def test_the_types_of_two_such_files_do_not_get_into_one_anothers_way(read_ecores: Read) -> None:
    def file(name: str, type_: str) -> str:
        types = ecore(f'<eClassifiers xsi:type="ecore:EDataType" name="{type_}"/>', 'name="PrimitiveTypes"')
        return wrapped(types, ecore(class_("A", attribute("n", f'eType="/0/{type_}"')), f'name="{name}"'))

    packages, _ = read_ecores(file("x", "String"), file("y", "Text"))

    assert [package.ns_uri for package in packages] == ["x/PrimitiveTypes", "x", "y/PrimitiveTypes", "y"]


def test_a_package_without_a_name_gets_one(read_ecores: Read) -> None:
    (by_uri,), notices = read_ecores(ecore(class_("A"), 'nsURI="http://x/y/shop"'))
    (by_file,), _ = read_ecores(town=ecore(class_("A"), 'nsURI="#"'))

    assert (by_uri.name, by_file.name) == ("shop", "town")
    assert told(notices) == ["a.ecore:1: the package has no name; it is called 'shop' here"]


def test_sub_packages_with_one_nsuri_are_told_apart(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore('<eSubpackages name="a" nsURI="http://p"/>\n<eSubpackages name="b" nsURI="http://p/a.1"/>')
    )

    assert [found.ns_uri for found in package.packages] == ["http://p/a.1", "http://p/b.1"]
    assert [notice.line for notice in notices] == [2, 3]
    assert "is that of the package in a.ecore:1 too; it is found by 'http://p/a.1'" in str(notices[0])


# several files


def test_files_that_are_given_together_refer_to_one_another(read_ecores: Read) -> None:
    first = ecore(class_("A", "", 'eSuperTypes="b.ecore#//B"') + class_("X"))
    second = ecore(class_("B", reference("x", 'eType="ecore:EClass a.ecore#//X"')), 'name="q" nsURI="http://q"')
    packages, notices = read_ecores(first, second)

    assert the_class(packages[0], "A").supers == (TypeName("http://q", "B"),)
    assert the_feature(packages[1], "B.x").type == TypeName("http://p", "X")
    assert notices == []


@pytest.mark.parametrize(
    "uri", ["platform:/resource/some/model/b.ecore", "platform:/plugin/x/b.ecore", "http://q", "../elsewhere/b.ecore"]
)
def test_a_file_is_found_by_its_name_or_namespace_wherever_it_was(read_ecores: Read, uri: str) -> None:
    packages, notices = read_ecores(
        ecore(class_("A", reference("b", f'eType="ecore:EClass {uri}#//B"'))),
        ecore(class_("B"), 'name="q" nsURI="http://q"'),
    )

    assert the_feature(packages[0], "A.b").type == TypeName("http://q", "B")
    assert notices == []


@pytest.mark.parametrize("uri", ["http://q", "q.ecore", "platform:/resource/x/Q.ecore"])
def test_a_package_that_is_registered_is_found(read_ecores: Read, uri: str) -> None:
    inner = Package("in", "http://q/in", classifiers=[Class("C", features=[Reference("a", ANY)])])
    known = Package("q", "http://q", classifiers=[Class("B")], packages=[inner])
    given = class_("A", reference("b", f'eType="ecore:EClass {uri}#//B"') + reference("c", f'eType="{uri}#//in/C"'))
    (package,), notices = read_ecores(ecore(given), registered=[known])

    assert the_feature(package, "A.b").type == TypeName("http://q", "B")
    assert the_feature(package, "A.c").type == TypeName("http://q/in", "C")
    assert notices == []


def test_a_part_of_a_package_may_be_in_another_file(read_ecores: Read) -> None:
    packages, _ = read_ecores(
        ecore('<eSubpackages href="b.ecore#/"/>' + class_("A", reference("b", 'eType="#//q/B"'))),
        ecore(class_("B", reference("a", 'eType="ecore:EClass a.ecore#//A"')), 'name="q" nsURI="http://q"'),
    )

    assert [package.name for package in packages] == ["p"]
    assert [below.name for below in packages[0].packages] == ["q"]
    assert the_feature(packages[0], "A.b").type == TypeName("http://q", "B")
    assert the_feature(packages[0].packages[0], "B.a").type == TypeName("http://p", "A")


# types of Ecore and of XML


@pytest.mark.parametrize(
    "uri",
    [
        ECORE,
        "platform:/plugin/org.eclipse.emf.ecore/model/Ecore.ecore",
        "../../org.eclipse.emf.ecore/model/Ecore.ecore",
    ],
)
def test_the_types_of_ecore_are_always_there(read_ecores: Read, uri: str) -> None:
    inside = attribute("n", f'eType="ecore:EDataType {uri}#//EInt"') + reference(
        "o", f'eType="ecore:EClass {uri}#//EObject"'
    )
    (package,), notices = read_ecores(ecore(class_("A", inside, f'eSuperTypes="{uri}#//EModelElement"')))

    assert the_feature(package, "A.n").type == TypeName(ECORE, "EInt")
    assert the_feature(package, "A.o").type == ANY
    assert the_class(package, "A").supers == (TypeName(ECORE, "EModelElement"),)
    assert notices == []


def test_the_types_of_xml_are_always_there(read_ecores: Read) -> None:
    (package,), notices = read_ecores(
        ecore(class_("A", attribute("n", f'eType="ecore:EDataType {XML_TYPE}#//Boolean" defaultValueLiteral="1"')))
    )

    assert the_feature(package, "A.n") == Attribute("n", TypeName(XML_TYPE, "Boolean"), default="1")
    assert notices == []
