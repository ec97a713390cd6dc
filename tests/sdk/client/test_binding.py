"""Methods and resources that are read from a class, which has nobody to make the call."""

import inspect
import pydoc
from operator import attrgetter

import pytest

from autotune import AsyncAutotuneClient, AutotuneClient
from autotune.client import clients
from autotune.client.tasks import AsyncTasks, Tasks

INNER = (
    "apprentice.versions",
    "apprentice.examples",
    "apprentice.trainings",
    "llm.batches",
    "llm.connections",
    "llm.tokens",
    "decks.graders",
    "decks.samples",
    "decks.labels",
    "decks.runs",
    "decks.edits",
    "decks.prompt_edits",
    "decks.unmatched",
    "decks.ingest_urls",
    "decks.capture",
)
PARTS = [name for name, kind in vars(clients.ClientParts).items() if isinstance(kind, clients.Part)]


@pytest.mark.parametrize("kind", [AutotuneClient, AsyncAutotuneClient])
def test_every_method_read_from_its_class_says_how_to_call_it(kind):
    client = kind(base_url="http://a.example", api_key="key_1.cafe")
    assert len(PARTS) == 18
    resources = {part: type(getattr(client, part)) for part in PARTS}
    inner = {name: type(attrgetter(name)(client)) for name in INNER}
    for part, resource in {**resources, **inner}.items():
        methods = [
            name
            for name in {name for base in resource.__mro__ for name in vars(base)}
            if not name.startswith("_")
            and name not in ("carry_out", "method", "list_method")
            and f"{part}.{name}" not in inner
        ]
        assert methods
        for name in methods:
            with pytest.raises(AttributeError) as caught:
                getattr(resource, name)
            assert str(caught.value) == (
                f"{name} is a method of a client's {part}: call client.{part}.{name}(...)"
            )


@pytest.mark.parametrize("kind", [AutotuneClient, AsyncAutotuneClient])
def test_a_resource_read_from_the_class_of_a_client_says_that_it_needs_a_client(kind):
    for part in PARTS:
        with pytest.raises(AttributeError) as caught:
            getattr(kind, part)
        assert str(caught.value) == f"{part} belongs to a client: call {kind.__name__}().{part}"


@pytest.mark.parametrize("kind", [AutotuneClient, AsyncAutotuneClient])
def test_a_resource_within_a_resource_is_of_the_same_flavour_and_stays(kind):
    client = kind(base_url="http://a.example", api_key="key_1.cafe")
    assert type(client.llm.batches).__name__.startswith("Async") == client.is_async
    assert client.llm.batches is client.llm.batches
    with pytest.raises(AttributeError) as caught:
        _ = type(client.llm).batches
    assert str(caught.value) == "batches belongs to a client's llm: call client.llm.batches"


@pytest.mark.parametrize("kind", [Tasks, AsyncTasks, AutotuneClient, AsyncAutotuneClient])
def test_help_and_inspection_of_a_class_still_work(kind):
    assert pydoc.render_doc(kind)
    assert inspect.getmembers(kind)


def test_a_resource_stays_the_same_object():
    client = AutotuneClient(base_url="http://a.example", api_key="key_1.cafe")
    assert client.tasks is client.tasks
