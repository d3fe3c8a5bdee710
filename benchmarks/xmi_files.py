"""Models to read: files of as many elements as one likes, with references of the usual kinds, written as a stream."""

from pathlib import Path

BODIES = 8
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<code:Model xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:code="http://code" name="generated">\n'
)

ECORE = """<?xml version="1.0" encoding="UTF-8"?>
<ecore:EPackage xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ecore="http://www.eclipse.org/emf/2002/Ecore"
    name="code" nsURI="http://code" nsPrefix="code">
  <eClassifiers xsi:type="ecore:EClass" name="Named" abstract="true">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="name"
        eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EString"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Model" eSuperTypes="#//Named">
    <eStructuralFeatures xsi:type="ecore:EReference" name="types" upperBound="-1" eType="#//Type" containment="true"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Type" eSuperTypes="#//Named">
    <eStructuralFeatures xsi:type="ecore:EReference" name="members" upperBound="-1" eType="#//Member"
        containment="true"/>
    <eStructuralFeatures xsi:type="ecore:EReference" name="extends" eType="#//Type" eOpposite="#//Type/extended"/>
    <eStructuralFeatures xsi:type="ecore:EReference" name="extended" upperBound="-1" eType="#//Type"
        eOpposite="#//Type/extends"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Member" abstract="true" eSuperTypes="#//Named">
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="line"
        eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EInt"/>
    <eStructuralFeatures xsi:type="ecore:EAttribute" name="static"
        eType="ecore:EDataType http://www.eclipse.org/emf/2002/Ecore#//EBoolean"/>
    <eStructuralFeatures xsi:type="ecore:EReference" name="type" eType="#//Type"/>
  </eClassifiers>
  <eClassifiers xsi:type="ecore:EClass" name="Field" eSuperTypes="#//Member"/>
  <eClassifiers xsi:type="ecore:EClass" name="Method" eSuperTypes="#//Member">
    <eStructuralFeatures xsi:type="ecore:EReference" name="calls" upperBound="-1" eType="#//Method"/>
  </eClassifiers>
</ecore:EPackage>
"""


def write(path: Path, elements: int) -> int:
    """A file of about so many elements; how many it has, and a reference for most of them."""
    types = elements // (BODIES + 1)
    with path.open("w") as file:
        file.write(HEAD)
        for number in range(types):
            above = f' extends="//@types.{number // 4}"' if number else ""
            below = " ".join(f"//@types.{n}" for n in range(max(1, 4 * number), min(4 * number + 4, types)))
            extended = f' extended="{below}"' if below else ""
            file.write(f'  <types name="Type{number}"{above}{extended}>\n')
            file.writelines(_member(number, at, types) for at in range(BODIES))
            file.write("  </types>\n")
        file.write("</code:Model>\n")
    return types * (BODIES + 1) + 1


def _member(number: int, at: int, types: int) -> str:
    other = (number * 7919 + at) % types
    said = f'name="member{at}" line="{number + at}" type="//@types.{other}"'
    if at % 2:
        return f'    <members xsi:type="code:Field" {said} static="true"/>\n'
    return f'    <members xsi:type="code:Method" {said} calls="//@types.{other}/@members.{at}"/>\n'
