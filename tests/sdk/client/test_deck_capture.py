"""``client.decks.capture``: which chat completions become samples."""

import asyncio

import pytest

from autotune import AsyncAutotuneClient, InvalidInputError, InvalidRequestError


def test_capture_is_read_and_set(api, client):
    assert client.decks.capture.get().enabled is False
    made = client.decks.capture.set(
        enabled=True, sampling_rate=0.5, redactions=["a+"], metadata_names=["team"], group_by="team"
    )
    assert (made.enabled, made.sampling_rate, made.redactions) == (True, 0.5, ["a+"])
    assert made.group_by == "team"
    assert client.decks.capture.get() == made
    # What is left out is as at first.
    again = client.decks.capture.set(enabled=True)
    assert (again.sampling_rate, again.redactions, again.metadata_names) == (1, [], [])

    async def switched_off():
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as other:
            await other.decks.capture.set(enabled=False)
            return await other.decks.capture.get()

    assert asyncio.run(switched_off()).enabled is False


def test_settings_that_cannot_be_are_refused(client):
    with pytest.raises(InvalidInputError):
        client.decks.capture.set(enabled=True, sampling_rate=2)
    with pytest.raises(InvalidRequestError, match="metadataNames"):
        client.decks.capture.set(enabled=True, metadata_names=["team"], group_by="user")
    with pytest.raises(InvalidRequestError):
        client.decks.capture.set(enabled=True, redactions=["("])
