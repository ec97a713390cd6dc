"""TFRecord files of ``tf.train.Example`` messages.

The messages are TensorFlow's ``example.proto`` and ``feature.proto``
(https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core/example), described here so
that protobuf alone can write them. The format of the file is
https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details.
"""

import struct
from pathlib import Path
from typing import Any

import crc32c
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_MASK = 0xA282EAD8
_SCHEMA = """
name: "example.proto" package: "tensorflow" syntax: "proto3"
message_type { name: "BytesList"
  field { name: "value" number: 1 type: TYPE_BYTES label: LABEL_REPEATED } }
message_type { name: "FloatList"
  field { name: "value" number: 1 type: TYPE_FLOAT label: LABEL_REPEATED } }
message_type { name: "Int64List"
  field { name: "value" number: 1 type: TYPE_INT64 label: LABEL_REPEATED } }
message_type { name: "Feature"
  oneof_decl { name: "kind" }
  field { name: "bytes_list" number: 1 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".tensorflow.BytesList" oneof_index: 0 }
  field { name: "float_list" number: 2 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".tensorflow.FloatList" oneof_index: 0 }
  field { name: "int64_list" number: 3 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".tensorflow.Int64List" oneof_index: 0 } }
message_type { name: "Features"
  nested_type { name: "FeatureEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_MESSAGE label: LABEL_OPTIONAL
      type_name: ".tensorflow.Feature" } }
  field { name: "feature" number: 1 type: TYPE_MESSAGE label: LABEL_REPEATED
    type_name: ".tensorflow.Features.FeatureEntry" } }
message_type { name: "Example"
  field { name: "features" number: 1 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".tensorflow.Features" } }
"""


class ExampleFile:
    """Writes examples into a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def write(self, features: dict[str, list[bytes] | list[float] | list[int]]) -> int:
        """Add an example; return its bytes. Integers have 64 bits, other numbers 32."""
        example = _Example()
        for name, values in features.items():
            feature = example.features.feature[name]
            # Set even if the list is empty, because a feature without a kind cannot be read.
            kind = _kind(values)
            getattr(feature, kind).SetInParent()
            getattr(feature, kind).value.extend(values)
        message = example.SerializeToString(deterministic=True)
        length = struct.pack("<Q", len(message))
        pieces = (length, _checksum(length), message, _checksum(message))
        return sum(map(self._file.write, pieces))

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def _kind(values: list[bytes] | list[float] | list[int]) -> str:
    first: Any = values[0] if values else b""
    if isinstance(first, int):
        return "int64_list"
    return "float_list" if isinstance(first, float) else "bytes_list"


def _checksum(data: bytes) -> bytes:
    checksum = crc32c.crc32c(data)
    rotated = checksum >> 15 | checksum << 17
    return struct.pack("<I", (rotated + _MASK) & 0xFFFFFFFF)


def _message_class() -> Any:
    """Return the class of ``tensorflow.Example``."""
    pool = DescriptorPool()
    pool.Add(text_format.Parse(_SCHEMA, FileDescriptorProto()))
    return GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))


_Example = _message_class()
