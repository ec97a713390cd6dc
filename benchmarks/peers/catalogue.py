"""The peers: how each is started and asked, and what it does and does not do.

``does`` and ``lacks`` were read in the source of the locked versions: ``atroposlib/api/server.py``,
``eval_protocol/generic_server.py`` and ``bare_rewards/serve.py``.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmarks.peers.closed_loop import Call
from benchmarks.peers.peer import Peer
from benchmarks.texts import completions
from integrations.environments import INTEGRATIONS, Environment
from local.endpoint import LOOPBACK

SOURCES = Path(__file__).resolve().parent
TEXT_BYTES = 2_048

_DIFFERENT_BATCHES = 8
_BYTES_PER_TOKEN = 4
_VOCABULARY = 128_000
_MASKED = -100  # what Atropos asks for in the place of a prompt's tokens
_ATROPOS_ENV_ID = 0

_DURABLE = "durable before the answer"
_SIGNED = "signed requests"
_ONCE = "the same request twice counts once"
_READ_AGAIN = "scores that can be read again"
_GRADER_RETRIES = "retries of a grader"
_TIME_LIMIT = "a time limit for grading"
_OWN_FAILURE = "a reason for each completion that has no score"
_PANEL = "several graders or a person for one completion"


def batches(size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield a few batches of completions of 2 KB."""
    texts = completions("peers", size * _DIFFERENT_BATCHES, text_bytes=TEXT_BYTES)
    for _ in range(_DIFFERENT_BATCHES):
        yield [next(texts) for _ in range(size)]


def _calls(
    path: str, body: Callable[[list[dict[str, Any]]], Mapping[str, Any]]
) -> Callable[[int], Sequence[Call]]:
    return lambda size: [Call(path, json.dumps(body(batch)).encode()) for batch in batches(size)]


def _tokens(text: str) -> list[int]:
    """As many token ids as a tokenizer makes of such a text, about as large as its are."""
    return [
        zlib.crc32(text[at : at + _BYTES_PER_TOKEN].encode()) % _VOCABULARY
        for at in range(0, len(text), _BYTES_PER_TOKEN)
    ]


def _scored_group(batch: list[dict[str, Any]]) -> Mapping[str, Any]:
    """A group of Atropos: tokens in the place of texts, and the scores, which are there before."""
    prompts = [_tokens(one["prompt"]) for one in batch]
    responses = [_tokens(one["response"]) for one in batch]
    pairs = list(zip(prompts, responses, strict=True))
    return {
        "tokens": [prompt + response for prompt, response in pairs],
        "masks": [[_MASKED] * len(prompt) + response for prompt, response in pairs],
        "scores": [0.75] * len(batch),
        "env_id": _ATROPOS_ENV_ID,
    }


def _register(client: httpx.Client, batch_size: int) -> None:
    """Register a trainer, and an environment whose groups have the size of a batch.

    Atropos takes environments once the trainer asked for its first batch.
    """
    trainer = {
        "wandb_group": "benchmark",
        "wandb_project": "benchmark",
        "batch_size": batch_size,
        "max_token_len": TEXT_BYTES // _BYTES_PER_TOKEN,
        "checkpoint_dir": "",
        "save_checkpoint_interval": 0,
        "starting_step": 0,
        "num_steps": 1,
    }
    client.post("/register", json=trainer).raise_for_status()
    client.get("/batch").raise_for_status()
    environment = {
        "max_token_length": TEXT_BYTES // _BYTES_PER_TOKEN,
        "desired_name": "benchmark",
        "weight": 1.0,
        "group_size": batch_size,
    }
    client.post("/register-env", json=environment).raise_for_status()


def _evaluation(batch: list[dict[str, Any]]) -> Mapping[str, Any]:
    (one,) = batch
    return {
        "messages": [
            {"role": "user", "content": one["prompt"]},
            {"role": "assistant", "content": one["response"]},
        ]
    }


def _queries(batch: list[dict[str, Any]]) -> Mapping[str, Any]:
    return {
        "query": [one["prompt"] + one["response"] for one in batch],
        "prompts": [one["prompt"] for one in batch],
        "labels": ["" for _ in batch],
    }


ATROPOS = Peer(
    name="Atropos run-api, /scored_data",
    package="atroposlib",
    environment=Environment(SOURCES / "atropos"),
    arguments=lambda port: (
        *("-m", "atroposlib.cli.run_api"),
        *("--host", LOOPBACK, "--port", str(port)),
    ),
    ready_path="/",
    prepare=_register,
    calls=_calls("/scored_data", _scored_group),
    expects=lambda _: {"status": "received"},
    does=(
        "takes tokens, masks and scores of a group and keeps them in memory",
        "makes batches of exactly a trainer's size, with minimum shares, and hands them to it",
        "tells environments how full its queue is, by which they pause; their client tries thrice",
    ),
    lacks=(
        "grading: scores come with what is submitted",
        _DURABLE,
        "any authentication",
        _ONCE,
        f"{_READ_AGAIN}: a batch is handed out once, and lost with who asked for it",
        "a limit to its queue of its own",
        "more than one process",
    ),
)
EVAL_PROTOCOL = Peer(
    name="eval-protocol generic_server, /evaluate",
    package="eval-protocol",
    environment=Environment(INTEGRATIONS / "eval_protocol"),
    arguments=lambda port: (
        *("-m", "eval_protocol.generic_server", "length.length"),
        *("--host", LOOPBACK, "--port", str(port)),
    ),
    variables={"PYTHONPATH": str(SOURCES / "eval_protocol")},
    ready_path="/health",
    calls=_calls("/evaluate", _evaluation),
    expects=lambda _: {"score": 0.75, "is_score_valid": True},
    largest_batch=1,
    does=(
        "runs a Python function on messages and answers with score, reason and metrics",
        "checks one key for everybody, if RK_ENDPOINT_API_KEY sets it",
        "answers with an error where the function raises",
    ),
    lacks=(
        "batches",
        _DURABLE,
        _SIGNED,
        _ONCE,
        _READ_AGAIN,
        _GRADER_RETRIES,
        f"{_TIME_LIMIT}: the function holds up every other request",
        _PANEL,
    ),
)
BARE_REWARDS = Peer(
    name="bare OpenRLHF reward server of ours, /get_reward",
    package="fastapi",
    environment=Environment(SOURCES / "bare_rewards"),
    arguments=lambda port: (
        str(SOURCES / "bare_rewards" / "serve.py"),
        *("--host", LOOPBACK, "--port", str(port)),
    ),
    ready_path="/openapi.json",
    calls=_calls("/get_reward", _queries),
    expects=lambda size: {"rewards": [1.0] * size},
    does=(
        "runs a Python function on a list of texts and answers with a list of rewards",
        "OpenRLHF's own client asks up to five times",
    ),
    lacks=(
        "any authentication",
        "a check of what is asked",
        _DURABLE,
        _ONCE,
        _READ_AGAIN,
        _GRADER_RETRIES,
        f"{_TIME_LIMIT}: the function holds up every other request",
        f"{_OWN_FAILURE}: where one fails, the whole list is answered with 500",
        _PANEL,
    ),
)
PEERS = (ATROPOS, EVAL_PROTOCOL, BARE_REWARDS)
