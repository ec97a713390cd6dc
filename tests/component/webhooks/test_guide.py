import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from autotune.protocol.events import DeliveryError, EventType
from autotune_platform.webhooks.sending import signed_headers

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "webhooks.md"
SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
BODY = '{"event":"batch.completed","data":{"batchId":"bat_1"}}'


def test_the_subscriber_of_the_guide_verifies_and_takes_each_event_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    names: dict = {}
    exec(compile(example, GUIDE.name, "exec"), names)
    receive = names["receive"]
    other = "whsec_" + "A" * 32
    headers = signed_headers("evt_1", BODY, secrets=[other, SECRET], now=datetime.now(UTC))
    assert receive(SECRET, headers, BODY.encode()) == 204
    assert receive(SECRET, headers, BODY.encode()) == 204
    assert receive(SECRET, headers, BODY.encode() + b" ") == 401
    assert receive("whsec_" + "B" * 32, headers, BODY.encode()) == 401
    for wrong in ("v1", "v1,a,b", "v1,!!!x", ""):
        assert receive(SECRET, {**headers, "webhook-signature": wrong}, BODY.encode()) == 401
    assert receive(SECRET, headers, b"\xff") == 401
    flood = {**headers, "webhook-signature": "v1, " * 1_000}
    assert receive(SECRET, flood, BODY.encode()) == 413
    assert receive(SECRET, headers, b" " * 1_000_001) == 413
    assert capsys.readouterr().out == "batch.completed {'batchId': 'bat_1'}\n"


def test_the_guide_tells_every_type_of_event_and_every_error() -> None:
    text = GUIDE.read_text("utf-8")
    for told in (*get_args(EventType), *get_args(DeliveryError)):
        assert f"`{told}`" in text
