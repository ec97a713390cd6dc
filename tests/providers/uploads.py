"""Reads multipart/form-data as files are uploaded in it."""

import re

from tests.providers.wire import ProviderError, Request

_BOUNDARY = re.compile(r'boundary="?([^";]+)"?')
_NAME = re.compile(rb'(?<![a-z])name="([^"]*)"')
_FILENAME = re.compile(rb'filename="([^"]*)"')


def read_form(request: Request) -> tuple[dict[str, str], dict[str, tuple[str, bytes]]]:
    """The form's fields, and its files with their names.

    Raises:
        ProviderError: If it is no such form.
    """
    match = _BOUNDARY.search(request.headers.get("content-type", ""))
    if match is None:
        raise ProviderError(400, "invalid", "Expected multipart/form-data.")
    fields: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    delimiter = b"--" + match[1].encode()
    parts = (b"\r\n" + request.body).split(b"\r\n" + delimiter)
    if parts[-1].strip() != b"--":
        raise ProviderError(400, "invalid", "The form has no end.")
    for part in parts[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is None:
            raise ProviderError(400, "invalid", "A part of the form has no name.")
        if filename := _FILENAME.search(head):
            files[name[1].decode()] = (filename[1].decode(), content)
        else:
            fields[name[1].decode()] = content.decode()
    return fields, files
