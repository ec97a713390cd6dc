"""Imports of the served ledger: files are taken in at once when they are started."""

import json
from datetime import UTC, datetime
from typing import Any

from autotune.protocol import llm_imports
from autotune.protocol.ids import derived_id


class ServedImports:
    """Takes files; a line that is no JSON object is rejected, and each other one is enqueued.

    Attributes:
        files: what was uploaded, by import.
        looks: how often an import is read before it is over.
    """

    base_url: str

    def __init__(self) -> None:
        self.imports: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.looks = 1

    def _create_import(self, body: bytes, key: str) -> dict[str, Any]:
        asked = llm_imports.CreateLlmImportRequest.model_validate_json(body)
        import_id = derived_id("lim", key)
        if import_id not in self.imports:
            now = datetime.now(UTC).isoformat()
            fields = asked.model_dump(mode="json", by_alias=True, exclude={"defaults"})
            self.imports[import_id] = {
                **fields,
                "id": import_id,
                "state": "awaiting_upload",
                "counts": {},
                "createdAt": now,
                "expiresAt": now,
                "upload": {
                    "url": f"{self.base_url}/files/{import_id}?X-Amz-Signature=secret",
                    "headers": {"Content-Length": str(asked.bytes), "Content-Type": "a/b"},
                    "expiresAt": now,
                },
            }
        return self._import(import_id)

    def _upload(self, import_id: str, body: bytes, query: dict[str, str]) -> dict[str, Any]:
        assert query["X-Amz-Signature"]
        assert len(body) == self.imports[import_id]["bytes"]
        self.files[import_id] = body
        return {}

    def _start_import(self, import_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        one = self.imports[import_id]
        if one["state"] == "awaiting_upload":
            assert import_id in self.files
            one |= {"state": "running", "upload": None, "looks": self.looks}
        return self._import(import_id)

    def _read_import(self, import_id: str, _body: bytes, _query: Any) -> dict[str, Any]:
        one = self.imports[import_id]
        if one["state"] == "running":
            one["looks"] -= 1
            if one["looks"] <= 0:
                self._take_in(import_id)
        return self._import(import_id)

    def _take_in(self, import_id: str) -> None:
        one = self.imports[import_id]
        lines = self.files[import_id].splitlines()
        errors = [
            {"line": number, "message": "it is no JSON object"}
            for number, line in enumerate(lines, start=1)
            if not line.startswith(b"{")
        ]
        url = f"{self.base_url}/reports/{import_id}?X-Amz-Signature=secret"
        report = {"url": url, "bytes": 1, "lines": len(errors)}
        one |= {
            "state": "completed",
            "counts": {
                "lines": len(lines),
                "bytes": one["bytes"],
                "enqueued": len(lines) - len(errors),
                "rejected": len(errors),
            },
            "all_errors": errors,
            "errors": errors[:20],
            "report": report if errors else None,
        }

    def report_of(self, import_id: str) -> bytes:
        errors = self.imports[import_id]["all_errors"]
        return b"".join(json.dumps(error).encode() + b"\n" for error in errors)

    def _delete_import(self, import_id: str, _body: bytes, _query: Any) -> None:
        self.imports[import_id]["state"] = "canceled"

    def _list_imports(self, _body: bytes, query: dict[str, str]) -> dict[str, Any]:
        state = query.get("state")
        found = [
            llm_imports.LlmImport.model_validate({**one, "upload": None, "report": None})
            for one in reversed(self.imports.values())
            if state in (None, one["state"])
        ]
        start, size = int(query.get("nextToken", 0)), int(query.get("limit", 50))
        page = llm_imports.LlmImportList(
            imports=found[start : start + size],
            next_token=str(start + size) if start + size < len(found) else None,
        )
        return page.model_dump(mode="json", by_alias=True)

    def _import(self, import_id: str) -> dict[str, Any]:
        found = llm_imports.LlmImport.model_validate(self.imports[import_id])
        return {"import": found.model_dump(mode="json", by_alias=True)}
