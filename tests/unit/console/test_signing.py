"""What the console signs in a browser is what the API verifies; Node has the same WebCrypto."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from autotune.protocol.signing import verify_api_request

ROOT = Path(__file__).parents[3]
VECTORS = json.loads((ROOT / "docs/protocol/signature-vectors.json").read_text())["apiRequests"]
SECRET = "9be07a13cd4486f25a0d71e3b9c8f6402e51d7ac03b69f48a1275ce0d3f48b16"


def signed(requests: list[dict[str, Any]]) -> list[dict[str, str]]:
    ran = subprocess.run(
        ["node", str(Path(__file__).with_name("sign.mjs")), (ROOT / "console/signing.js").as_uri()],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[dict[str, str]] = json.loads(ran.stdout)
    return found


def test_signatures_are_those_of_the_vectors() -> None:
    named = {one["name"]: one for one in VECTORS["valid"]}
    assert len(named) >= 7
    for (name, vector), headers in zip(named.items(), signed(list(named.values())), strict=True):
        assert headers == vector["headers"], name


def test_any_text_in_path_and_query_is_signed_as_it_is_verified() -> None:
    texts = ["!'()*", "a b+c", "é", "\uffff", "\U0001f600", "%25%2F", "=&?#", "~-._", ""]
    requests = [
        {
            "keyId": "ses_06e1n2l8r8001a2b3c4d5e6f7g",
            "secret": SECRET,
            "method": "GET",
            "path": f"/api/v1/tasks/{quote(text, safe='')}/{quote(text)}",
            "query": urlencode([(name, text + name) for name in texts] + [("a", other), ("a", "")]),
            "body": text,
            "timestamp": int(time.time()),
        }
        for text, other in zip(texts, reversed(texts), strict=True)
    ]
    ids = [
        verify_api_request(
            headers,
            secrets=[SECRET],
            method="GET",
            path=request["path"],
            query=request["query"],
            body=request["body"].encode(),
        )
        for request, headers in zip(requests, signed(requests), strict=True)
    ]
    assert len(set(ids)) == len(texts), "each attempt has an id of its own"
