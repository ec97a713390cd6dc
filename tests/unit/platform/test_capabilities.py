"""Secrets of URLs and tokens that let in whoever knows them."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.access.capabilities import (
    HashedCapability,
    NewSecret,
    bearer_of,
    is_genuine,
    require_future,
    split,
)
from autotune_platform.runtime.errors import InvalidRequestError

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def made(secret: NewSecret, **fields: object) -> HashedCapability:
    document = {"id": new_id("igu"), "organization_id": new_id("org"), "name": "n", **fields}
    return HashedCapability.model_validate({**document, "created_at": NOW, **secret.stored})


def test_a_secret_opens_what_it_was_made_for_and_is_not_stored():
    secret, other = NewSecret(), NewSecret()
    one = made(secret)
    text = secret.text(one.id)
    found = split("igu", text)
    assert found is not None
    id_, digits = found
    assert id_ == one.id
    assert digits not in one.model_dump_json()
    assert digits.endswith(one.ends_with)
    assert is_genuine(one, digits)
    assert not is_genuine(made(other), digits)
    assert not is_genuine(None, digits)
    assert not is_genuine(None, "0" * 64), "nothing is opened by what stands for nothing"


@pytest.mark.parametrize("cut", [slice(1, None), slice(None, -1), slice(0, 0)])
def test_what_has_no_form_of_a_token_has_no_parts(cut):
    text = NewSecret().text(new_id("igu"))
    assert split("igu", text) is not None
    assert split("igu", text[cut]) is None
    assert split("llt", text) is None, "of another kind"
    assert split("igu", f"{text}\n") is None


def test_a_revoked_one_stays_so_when_it_expires():
    secret = NewSecret()
    soon = NOW + timedelta(hours=1)
    assert made(secret).state_at(soon) == "active"
    assert made(secret, expires_at=soon).state_at(NOW) == "active"
    assert made(secret, expires_at=soon).state_at(soon) == "expired"
    assert made(secret, expires_at=soon, status="revoked").state_at(soon) == "revoked"
    require_future(soon, NOW)
    require_future(None, NOW)
    with pytest.raises(InvalidRequestError):
        require_future(NOW, NOW)


def test_a_bearer_is_of_the_organization_and_comes_by_link():
    one = made(NewSecret())
    caller = bearer_of(one)
    assert (caller.organization_id, caller.key_id, caller.by_link) == (
        one.organization_id,
        one.id,
        True,
    )
