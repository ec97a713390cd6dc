"""A grader that signs what it answers, and answers with as much as it can get into 4 MB."""

import json
import sys
from collections.abc import Callable

from tests.security.hostile import filled
from tests.support.graders import Exchange, loopback_grader

SECRET = "of a grader that means no good"
MOST_BYTES = 3_999_000

Kind = Callable[[Exchange], str]


def _envelope(exchange: Exchange, scores: str) -> str:
    head = {"requestId": exchange.request_id, "graderVersion": "1"}
    rest = {"status": "healthy", "version": "1", "score": {"value": 0.5}}
    return f'{json.dumps({**head, **rest})[:-1]},"scores":[{scores}]}}'


def _of(fill: str) -> Kind:
    return lambda exchange: _envelope(exchange, filled(fill, most_bytes=MOST_BYTES).decode())


def _unknown(exchange: Exchange) -> str:
    names = ",".join(f'"u{number:07}":{{}}' for number in range(MOST_BYTES // 14))
    return _envelope(exchange, f"{{{names}}}")


def _dimensions(exchange: Exchange) -> str:
    """As many values as are admitted for twelve completions, all wrong."""
    inside = filled("{}", most_bytes=MOST_BYTES, most_values=6_000).decode()
    item = f'{{"completionId":"cmp_1","score":{{"value":0.5,"dimensions":[{inside}]}}}}'
    return _envelope(exchange, item)


def _wide(exchange: Exchange) -> str:
    """One text, of which each character takes four bytes once it is built."""
    text = "x" * (MOST_BYTES - 100)
    return _envelope(exchange, f'{{"completionId":"cmp_1","a":"\U0001f600{text}"}}')


def _full(exchange: Exchange) -> str:
    """Scores with everything that they may have."""
    one = {"name": "é" * 200, "value": 0.123456789, "weight": 0.5}
    score = {"value": 0.5, "dimensions": [one] * 50, "reasoning": "\U0001f600" * 20_000}
    item = json.dumps({"completionId": "cmp_1", "score": score}, ensure_ascii=False)
    return _envelope(exchange, ",".join([item] * 12))


KINDS: dict[str, Kind] = {
    "objects": _of("{}"),
    "lists": _of("[]"),
    "pairs": _of('{"a":{}}'),
    "texts": _of('""'),
    "nested": _of("[[[[]]]]"),
    "unknown": _unknown,
    "dimensions": _dimensions,
    "wide": _wide,
    "full": _full,
}


def main(kind: str) -> None:
    """Serve until standard input or the process ends; print the address."""

    def disease(exchange: Exchange) -> None:
        exchange.body = KINDS[kind](exchange).encode()

    with loopback_grader() as grader:
        grader.secret = SECRET
        grader.disease = grader.health_disease = disease
        grader.answer = lambda *_: {}  # type: ignore[method-assign]
        print(grader.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
