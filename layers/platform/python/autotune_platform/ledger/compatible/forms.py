"""Reading multipart/form-data (RFC 7578) with one file, in time and memory that its length bounds.

The parser of headers is the standard library's. Its parser of whole messages is not used: it
follows parts within parts to any depth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser

from autotune.protocol.problems import FieldProblem
from autotune_platform.runtime.errors import MalformedRequestError, UnsupportedMediaTypeError

_MOST_PARTS = 20
_LONGEST_HEAD = 8_192
_LONGEST_BOUNDARY = 70


@dataclass(frozen=True)
class Form:
    """A form's texts and files, by name; a file is its own name and its content."""

    texts: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes]]


def form_of(content_type: str, body: bytes) -> Form:
    """Return what a form holds.

    Raises:
        UnsupportedMediaTypeError: it is no form.
        MalformedRequestError: it is cut off, has too many parts, or one that cannot be read.
    """
    header = Message()
    header["Content-Type"] = content_type
    try:
        boundary = header.get_boundary()
    except ValueError:  # it names an encoding of its own that it is not in, or none (RFC 2231)
        boundary = None
    if header.get_content_type() != "multipart/form-data" or not boundary:
        raise UnsupportedMediaTypeError("the body must be multipart/form-data with a boundary")
    if len(boundary) > _LONGEST_BOUNDARY or not boundary.isascii():
        raise _malformed(f"a boundary of at most {_LONGEST_BOUNDARY} ASCII characters")
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary.encode(), _MOST_PARTS + 2)
    ends = [place for place, part in enumerate(parts) if place and part.startswith(b"--")]
    if not ends:
        raise _malformed(f"at most {_MOST_PARTS} parts, and the boundary that ends the last one")
    texts: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    for part in parts[1 : ends[0]]:
        name, filename, content = _read(part)
        if name in texts or name in files:
            raise _malformed(f"one part named {name[:100]!r}")
        if filename is None:
            try:
                texts[name] = content.decode()
            except UnicodeDecodeError as error:
                raise _malformed(f"UTF-8 in the part {name[:100]!r}") from error
        else:
            files[name] = (filename, content)
    return Form(texts=texts, files=files)


def _read(part: bytes) -> tuple[str, str | None, bytes]:
    # What stands between the boundary and the end of its line is padding.
    padding, _, rest = part.partition(b"\r\n")
    head, found, content = (b"\r\n" + rest).partition(b"\r\n\r\n")
    if padding.strip() or not found or len(head) > _LONGEST_HEAD:
        raise _malformed(f"parts with headers of at most {_LONGEST_HEAD} bytes and a content")
    headers = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n"))
    try:
        name = headers.get_param("name", header="content-disposition")
        filename = headers.get_filename()
    except ValueError as error:
        raise _malformed("a name and a filename in the encoding that they say") from error
    if headers.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise _malformed("Content-Disposition: form-data with a name in each part")
    return name, filename, content


def _malformed(expected: str) -> MalformedRequestError:
    return MalformedRequestError(
        f"the form cannot be read: expected {expected}",
        fields=[FieldProblem(field="body", expected=expected)],
    )
