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
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_MASK = 0xA282EAD8
_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_KINDS = {
    "BytesList": FieldDescriptorProto.TYPE_BYTES,
    "FloatList": FieldDescriptorProto.TYPE_FLOAT,
    "Int64List": FieldDescriptorProto.TYPE_INT64,
}


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
    file = FileDescriptorProto(name="example.proto", package="tensorflow", syntax="proto3")
    for name, kind in _KINDS.items():
        _add_field(file.message_type.add(name=name), "value", 1, kind, label=_REPEATED)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (field, name) in enumerate(
        [("bytes_list", "BytesList"), ("float_list", "FloatList"), ("int64_list", "Int64List")], 1
    ):
        _add_message(feature, field, number, f".tensorflow.{name}").oneof_index = 0
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    _add_field(entry, "key", 1, FieldDescriptorProto.TYPE_STRING)
    _add_message(entry, "value", 2, ".tensorflow.Feature")
    _add_message(features, "feature", 1, ".tensorflow.Features.FeatureEntry").label = _REPEATED
    _add_message(file.message_type.add(name="Example"), "features", 1, ".tensorflow.Features")
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))


def _add_field(
    message: DescriptorProto,
    name: str,
    number: int,
    kind: "FieldDescriptorProto.Type.ValueType",
    *,
    label: "FieldDescriptorProto.Label.ValueType" = FieldDescriptorProto.LABEL_OPTIONAL,
) -> FieldDescriptorProto:
    return message.field.add(name=name, number=number, type=kind, label=label)


def _add_message(
    message: DescriptorProto, name: str, number: int, type_name: str
) -> FieldDescriptorProto:
    field = _add_field(message, name, number, FieldDescriptorProto.TYPE_MESSAGE)
    field.type_name = type_name
    return field


_Example = _message_class()
