"""What is asked: intents of CLINC150, or made up ones of the same kind where its folder is not set.

The paid model is right but for 4 % of the inputs, for which it names another intent of the same
domain; the input says which.
"""

import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = "AUTOTUNE_DATA_INTENTS"
_ERRORS = 0.04
_UNSEEN_DOMAINS = 5
_BEFORE, _AFTER = 0.65, 0.10
"""Shares of the seen domains' inputs: before the others come, and beside as many of theirs."""


@dataclass(frozen=True)
class Query:
    """What is asked, what is true, and what the paid model says.

    Attributes:
        place: among all queries; no two inputs of a stream have the same.
    """

    place: int
    text: str
    domain: str
    intent: str
    taught: str


@dataclass(frozen=True)
class Stream:
    """Queries in the order in which they come.

    Attributes:
        queries: all of them.
        shift_at: before which of them intents come that never came; None where none do.
    """

    queries: Sequence[Query]
    shift_at: int | None = None


def known_queries() -> tuple[str, list[Query]]:
    """Return the name of the data, and all its queries in the order of the file."""
    folder = os.environ.get(DATA)
    if not folder:
        return "made up", made_up(domains=10, intents=8, each=150)
    return "CLINC150", read_clinc(Path(folder))


def read_clinc(folder: Path) -> list[Query]:
    """Return the queries of all intents, without those that are out of scope."""
    domains: Mapping[str, Sequence[str]] = json.loads((folder / "clinc_domains.json").read_text())
    domain_of = {intent: domain for domain, intents in domains.items() for intent in intents}
    rows = map(json.loads, (folder / "clinc150.jsonl").read_text().splitlines())
    known = ((row["text"], row["intent"]) for row in rows if row["intent"] in domain_of)
    return [
        _query(place, text, domain_of[intent], intent, domains[domain_of[intent]])
        for place, (text, intent) in enumerate(known)
    ]


def made_up(*, domains: int, intents: int, each: int, seed: int = 1) -> list[Query]:
    """Return queries of intents that have words of their own, among words that all have.

    Words of an intent come with unlike frequencies, and some of them are its neighbours', so that a
    student has to see many examples.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    fillers = [_word(chance) for _ in range(60)]
    found: list[Query] = []
    for domain in range(domains):
        names = [f"d{domain}_i{number}" for number in range(intents)]
        shared = [_word(chance) for _ in range(12)]
        own = {name: [_word(chance) for _ in range(14)] for name in names}
        for name in names:
            for _ in range(each):
                words = [chance.choice(own[name]) for _ in range(chance.choice((1, 2, 2, 3)))]
                words += chance.sample(shared, 2) + chance.sample(fillers, 4)
                chance.shuffle(words)
                text = " ".join(words)
                found.append(_query(len(found), text, f"d{domain}", name, names))
    return found


def shuffled(queries: Sequence[Query], seed: int, *, most: int | None = None) -> Stream:
    """Return all queries, or some, in an order that a seed says."""
    order = list(queries)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    return Stream(order[:most])


def shifting(queries: Sequence[Query], seed: int) -> Stream:
    """Return a stream of half the domains, at the end of which all others come as well."""
    chance = random.Random(f"shift {seed}")  # noqa: S311 - no secret
    domains = sorted({query.domain for query in queries})
    unseen = set(chance.sample(domains, min(_UNSEEN_DOMAINS, len(domains) // 2)))
    seen = [query for query in queries if query.domain not in unseen]
    new = [query for query in queries if query.domain in unseen]
    chance.shuffle(seen)
    chance.shuffle(new)
    shift_at = int(len(seen) * _BEFORE) // 100 * 100
    after = seen[shift_at : shift_at + int(len(seen) * _AFTER)]
    after += new[: len(after)]
    chance.shuffle(after)
    return Stream([*seen[:shift_at], *after], shift_at)


def _query(place: int, text: str, domain: str, intent: str, beside: Sequence[str]) -> Query:
    digest = hashlib.sha256(text.encode()).digest()
    taught = intent
    if int.from_bytes(digest[:8], "big") / 2**64 < _ERRORS:
        others = [one for one in beside if one != intent]
        taught = others[digest[8] % len(others)]
    return Query(place, text, domain, intent, taught)


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bcdfghklmnprstvz") + chance.choice("aeiou")
        for _ in range(chance.choice((2, 3)))
    )
