"""Answers are compared by their meaning: by an embedding model that an operator has stored."""

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model2vec import StaticModel

from autotune.protocol.apprentice_embeddings import FILES, key_of
from autotune_platform.apprentice.routing import Decision
from autotune_platform.apprentice.runs.models import RunPair
from autotune_platform.apprentice.runs.scoring import pairs_of, scores_of
from autotune_platform.apprentice.similarity import asking, hosting
from autotune_platform.apprentice.similarity.asking import NoSimilarityError
from autotune_platform.apprentice.similarity.files import EmbeddingFiles
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.wiring import apprentice as wiring
from functions.apprentice import answer_linear, score_similarity, work_runs
from tests.providers.answers import Ask, Reply
from tests.support.apprentice import configuration
from tests.support.apprentice_runs import Runs
from tests.support.embeddings import VECTORS, files_of, named, static_model, store, written
from tests.support.model_servers import Lambda, serving
from tests.support.trainings import Trainings

SCHEMA = {
    "type": "object",
    "properties": {"said": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["said"],
}


def said(*words: str) -> str:
    return json.dumps({"said": " ".join(words)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "words")


@pytest.fixture
def files(folder: Path) -> dict[str, bytes]:
    return files_of(folder)


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lambda]:
    """The functions that are asked: what compares, and what answers for linear students."""

    def handle(event: dict[str, Any], context: Any) -> Any:
        asked = score_similarity if "pairs" in event else answer_linear
        return asked.lambda_handler(event, context)

    score_similarity.parts.cache_clear()
    answer_linear.parts.cache_clear()
    made = Lambda(handler=handle)
    with serving(made), connection_pool(admit_private=True) as pool:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", made.url)
        monkeypatch.setattr(wiring, "connection_pool", lambda **_: pool)
        yield made
    score_similarity.parts.cache_clear()
    answer_linear.parts.cache_clear()


@pytest.fixture
def model(runs: Runs, function: Lambda, files: dict[str, bytes]) -> str:
    return store(files)


def document_of(runs: Runs, model: str) -> dict[str, Any]:
    document = configuration(runs.connection_id, outputSchema=SCHEMA)
    document["evaluator"] = {"type": "semantic_similarity", "embeddingModel": model}
    return document


def scored(runs: Runs, model: str, local: str, truth: str) -> tuple[RunPair, ...]:
    run = runs.stored(runs.start(wait=20).json["run"]["id"])
    assert run is not None
    run = run.model_copy(update={"local_version": 1, "local_output": local})
    runner = work_runs.parts().runner
    return pairs_of(
        run,
        replace(Decision(), pair=True),
        document_of(runs, model),
        {},
        truth,
        runner.graders,
        runner.meanings,
    )


def asked_pairs(function: Lambda) -> list[Any]:
    return [pair for path, event in function.asked for pair in event.get("pairs", [])]


def test_a_pairs_score_is_the_cosine_that_model2vec_has(
    runs: Runs, model: str, folder: Path, function: Lambda
) -> None:
    (pair,) = scored(runs, model, said("automobile", "vehicle"), said("car"))

    left, right = StaticModel.from_pretrained(folder).encode(["automobile vehicle", "car"])
    cosine = float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
    assert 0.9 < pair.score < 1
    assert pair.score == pytest.approx(cosine, abs=1e-6)
    assert (pair.version, pair.is_drawn, pair.missed) == (1, True, ())
    ((path, event),) = function.asked
    assert path.endswith("/functions/score_similarity/invocations")
    assert event == {"model": model, "pairs": [["automobile vehicle", "car"]]}


def test_opposites_score_nothing_rather_than_less(runs: Runs, model: str) -> None:
    assert [one.score for one in scored(runs, model, said("no"), said("yes"))] == [0]


@pytest.mark.parametrize(
    ("local", "truth", "scores"),
    [
        ('{"sure": true, "said": "who"}', '{"said":"who","sure":true}', [1]),
        ("a car", said("car"), [0]),
        ('{"sure": true}', said("car"), [0]),
        (said("car"), "no object", []),
    ],
)
def test_what_is_the_same_or_cannot_be_read_is_not_asked_about(
    runs: Runs, model: str, function: Lambda, local: str, truth: str, scores: list[float]
) -> None:
    assert [one.score for one in scored(runs, model, local, truth)] == scores
    assert function.asked == []


def test_a_true_answer_without_a_known_word_makes_no_pair(runs: Runs, model: str) -> None:
    assert scored(runs, model, said("car"), said("xyzzy")) == ()
    assert [one.score for one in scored(runs, model, said("xyzzy"), said("car"))] == [0]


@pytest.mark.parametrize(
    ("refused", "calls"),
    [
        ((429, "TooManyRequestsException"), 2),
        ((500, "ServiceException"), 2),
        ((403, "AccessDeniedException"), 1),
    ],
)
def test_a_function_that_fails_makes_no_pair(
    runs: Runs, model: str, function: Lambda, refused: tuple[int, str], calls: int
) -> None:
    function.refuses = refused
    assert scored(runs, model, said("automobile"), said("car")) == ()
    assert len(function.asked) == calls


@pytest.mark.parametrize(
    "answer", [[], {"cosines": []}, {"cosines": [1.5]}, {"cosines": [True]}, {"cosines": ["1"]}]
)
def test_an_answer_that_is_none_makes_no_pair(
    runs: Runs, model: str, function: Lambda, answer: Any
) -> None:
    function.handler = lambda event, context: answer
    assert scored(runs, model, said("automobile"), said("car")) == ()


def test_a_function_that_hangs_makes_no_pair(
    runs: Runs, model: str, function: Lambda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASK_SECONDS", 0.2)

    def hang(reply: Any) -> None:
        reply.hangs = True

    function.fault = hang
    assert scored(runs, model, said("automobile"), said("car")) == ()


def test_a_model_whose_bytes_were_changed_compares_nothing(
    runs: Runs, model: str, files: dict[str, bytes]
) -> None:
    store({"model.safetensors": files["model.safetensors"][:-4] + b"\0\0\x80?"}, model)

    assert scored(runs, model, said("automobile"), said("car")) == ()
    with pytest.raises(NoSimilarityError) as caught:
        work_runs.parts().runner.meanings.cosines(model, [("automobile", "car")])
    assert caught.value.is_gone


def test_many_pairs_are_asked_in_some_calls_in_their_order(
    runs: Runs, model: str, function: Lambda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_MOST_BYTES", 60)
    meanings = work_runs.parts().runner.meanings
    answers = [(said("automobile"), said("car")), (said("car"), said("car"))] * 5
    answers += [("broken", said("car")), (said("no"), said("car")), (said("car"), "broken")]

    scores = scores_of(document_of(runs, model), answers, meanings)

    near = scores[0]
    assert near is not None
    assert 0.9 < near < 1
    assert scores == [near, 1.0] * 5 + [0.0, 0.0, None]
    assert len(asked_pairs(function)) == 6
    assert len(function.asked) == 2
    assert meanings.cosines(model, []) == []


def test_models_that_were_asked_last_are_kept(
    runs: Runs, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    get = EmbeddingFiles.get

    def counting(self: EmbeddingFiles, name: str) -> Any:
        read.append(name)
        return get(self, name)

    monkeypatch.setattr(EmbeddingFiles, "get", counting)
    size = sum(map(len, files.values()))
    monkeypatch.setattr(hosting, "_KEPT_BYTES", int(size * 1.5))
    names = [store(files, named(files, label)) for label in ("one", "two")]
    stored = EmbeddingFiles(bucket="apprentice", s3=clients.s3())
    host = hosting.EmbeddingHost(files=stored, kept=hosting._kept())
    for name in (names[0], names[0], names[1], names[0]):
        compared = host.compare(name, [("yes", "yes")])
        assert compared == hosting.Compared([1.0], len(VECTORS), 3)
    assert read == [names[0], names[1], names[0]]


def test_a_task_names_a_model_that_is_there(runs: Runs, model: str, function: Lambda) -> None:
    answer = put(runs, document_of(runs, model))
    assert answer.status == 200, answer.text
    first = answer.json["task"]["definitionHash"]
    assert function.asked == []

    # Other weights are another definition, whose evidence begins anew.
    other = static_model()
    other.embedding = other.embedding * 2
    model2 = store({**files_in_bucket(model), "model.safetensors": tensors(other.embedding)})
    assert model2.startswith("words@")
    assert model2 != model
    answer = put(runs, document_of(runs, model2))
    assert answer.status == 200, answer.text
    assert answer.json["task"]["definitionHash"] != first


@pytest.mark.parametrize("name", ["words", "words@0123456789abcdef", "../words@0123456789abcdef"])
def test_a_task_that_names_another_one_is_refused_with_those_that_are_there(
    runs: Runs, model: str, name: str
) -> None:
    answer = put(runs, document_of(runs, name))

    (error,) = answer.json["errors"]
    assert (answer.status, error["field"]) == (422, "evaluator.embeddingModel")
    assert f"there are: {model}" in answer.text


def test_without_a_model_a_task_is_refused_and_half_a_model_is_none(
    runs: Runs, files: dict[str, bytes]
) -> None:
    name = named(files)
    for missing in FILES:
        store({file: content for file, content in files.items() if file != missing}, name)
        answer = put(runs, document_of(runs, name))
        assert (answer.status, "none, until the operator" in answer.text) == (422, True)
        for file in FILES:
            clients.s3().delete_object(Bucket="apprentice", Key=key_of(name, file))


def put(runs: Runs, document: dict[str, Any]) -> Any:
    return runs.platform.call("PUT", "/api/v1/apprentice/tasks/spoken", document)


def files_in_bucket(name: str) -> dict[str, bytes]:
    return dict(EmbeddingFiles(bucket="apprentice", s3=clients.s3()).get(name))


def tensors(vectors: Any) -> bytes:
    content = vectors.astype("<f4").tobytes()
    places = [0, len(content)]
    said = {"dtype": "F32", "shape": list(vectors.shape), "data_offsets": places}
    header = json.dumps({"embeddings": said}).encode()
    return struct.pack("<Q", len(header)) + header + content


# --- the hold-out


def carelessly_taught(runs: Runs, model: str, count: int) -> Trainings:
    """A task whose paid model answers some inputs by another word, which means nearly the same."""
    trained = Trainings(runs)
    trained.put(evaluator={"type": "semantic_similarity", "embeddingModel": model})
    answers = runs.ledger.fake.world.answers
    teacher = answers.answerer
    assert teacher is not None

    def careless(ask: Ask) -> Reply:
        reply = teacher(ask)
        assert isinstance(reply, Reply)
        if len(ask.texts[-1]) % 5 == 0:
            return replace(reply, text=reply.text.replace("show", "cancel"))
        return reply

    answers.answerer = careless
    trained.ask(count)
    return trained


def test_a_student_is_judged_by_meaning_on_its_hold_out(
    runs: Runs, model: str, function: Lambda
) -> None:
    done = carelessly_taught(runs, model, 300).train()

    assert done["state"] == "hosted", done
    assert asked_pairs(function)
    assert {*map(tuple, asked_pairs(function))} <= {("show", "cancel"), ("cancel", "show")}
    assert 0.98 < done["test"]["mean"] < 1


def test_a_hold_out_that_nothing_compares_is_judged_again_or_says_why(
    runs: Runs, model: str, function: Lambda
) -> None:
    trained = carelessly_taught(runs, model, 160)
    begun = trained.start()
    (execution,) = trained.executions()
    event = trained.step("train_linear", trained.step("freeze_examples", execution))
    function.refuses = (429, "TooManyRequestsException")
    with pytest.raises(UnavailableError, match="nothing compares answers"):
        trained.step("validate_student", event)
    assert trained.read(begun["number"])["state"] == "running"

    function.refuses = None
    for file in FILES:
        clients.s3().delete_object(Bucket="apprentice", Key=key_of(model, file))
    trained.step("validate_student", event)

    ended = trained.read(begun["number"])
    assert (ended["state"], ended["error"]) == ("failed", "embeddings_missing")
