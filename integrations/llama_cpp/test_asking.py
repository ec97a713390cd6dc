"""A real llama.cpp answers the platform's client in the form that ``tests/support`` has it."""

import json

import pytest

from integrations.llama_cpp.tiny_model import NAME, write_model

SCHEMA = {
    "type": "object",
    "properties": {"intent": {"enum": ["card_lost", "other"]}, "urgent": {"type": "boolean"}},
    "required": ["intent", "urgent"],
    "additionalProperties": False,
}
AMPLE_MS = 20_000


def client_of(servers, url, listed, *, backend="llama_cpp"):
    from autotune_platform.apprentice.local.asking import KnownDigests, ServerClient
    from autotune_platform.apprentice.local.contract import ServedModel

    return ServerClient(
        servers=servers,
        digests=KnownDigests(),
        backend=backend,
        url=url,
        served=ServedModel(listed.model, listed.digest),
        idle_minutes=30,
    )


def question(user="I lost my card.", *, schema=SCHEMA, max_tokens=200):
    from autotune_platform.apprentice.local.contract import LocalQuestion

    return LocalQuestion("Tell intents apart.", user, schema, max_tokens)


def looked(servers, url, *, backend="llama_cpp", model=NAME):
    from autotune_platform.apprentice.local.listing import look

    return look(servers, backend, url, model)


@pytest.mark.parametrize("backend", ["llama_cpp", "vllm"])
def test_the_schema_holds_whatever_the_weights_say(servers, url, backend):
    listed = looked(servers, url, backend=backend)
    client = client_of(servers, url, listed, backend=backend)
    answers = [client.ask(question(f"Question {one}?"), timeout_ms=AMPLE_MS) for one in range(5)]

    for answer in answers:
        said = json.loads(answer.text)
        assert (set(said), said["intent"] in {"card_lost", "other"}) == ({"intent", "urgent"}, True)
        assert (answer.served_model, answer.confidence) == (NAME, None)


def test_the_same_question_has_the_same_answer(servers, url):
    client = client_of(servers, url, looked(servers, url))
    texts = {client.ask(question(), timeout_ms=AMPLE_MS).text for _ in range(3)}

    assert len(texts) == 1


def test_an_answer_ends_at_the_most_tokens(servers, url):
    schema = {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}
    client = client_of(servers, url, looked(servers, url))
    answer = client.ask(question(schema=schema, max_tokens=5), timeout_ms=AMPLE_MS)

    assert len(answer.text.encode()) <= 5


def test_a_prompt_that_is_too_long_is_refused_and_not_cut(servers, url):
    found = client_of(servers, url, looked(servers, url)).ask(
        question("x" * 10_000), timeout_ms=AMPLE_MS
    )

    assert found.reason == "refused"


def test_what_it_lists_stays_and_other_weights_are_noticed(servers, url, serving, tmp_path_factory):
    listed = looked(servers, url)
    assert looked(servers, url) == listed

    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_model(model, seed=1, layers=1)
    with serving(model) as other:
        assert looked(servers, other).digest != listed.digest
        found = client_of(servers, other, listed).ask(question(), timeout_ms=AMPLE_MS)
    assert found.reason == "another_version"


def test_a_model_that_it_has_not_is_not_found(servers, url):
    from autotune_platform.apprentice.local.exchanging import NoAnswerError

    with pytest.raises(NoAnswerError, match=f"it lists {NAME}"):
        looked(servers, url, model="intents-2")
