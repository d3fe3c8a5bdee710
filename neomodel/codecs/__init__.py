"""Values and their bytes: which values a data type of Ecore has, and how they lie in cells, files and keys."""

from neomodel.codecs.base import Codec
from neomodel.codecs.cells import (
    NULL,
    decode_many,
    decode_refs,
    decode_single,
    encode_many,
    encode_refs,
    encode_single,
)
from neomodel.codecs.ecore import NAMES, codec, codec_of_java
from neomodel.codecs.keys import key_text
from neomodel.codecs.texts import enum_codec
from neomodel.codecs.xml_types import in_xml, xml_codec

__all__ = [
    "NAMES",
    "NULL",
    "Codec",
    "codec",
    "codec_of_java",
    "decode_many",
    "decode_refs",
    "decode_single",
    "encode_many",
    "encode_refs",
    "encode_single",
    "enum_codec",
    "in_xml",
    "key_text",
    "xml_codec",
]
