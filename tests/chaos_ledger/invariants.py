"""What must hold in the end: raw tables compared with the fake's own bill, row by row."""

import base64
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import boto3

from autotune_platform.budgets.scopes import kind_of
from autotune_platform.ledger.batch_rows import STEP_LOST
from tests.chaos_ledger.answers import name_in, verdict_in
from tests.chaos_ledger.chains import Placed, chains, check_chains, executed_by, first_of
from tests.chaos_ledger.counts import none_left
from tests.chaos_ledger.load import Load, Sent
from tests.chaos_ledger.storm import Storm
from tests.chaos_ledger.watch import ENDED, Tables, Watch
from tests.providers.state import Execution
from tests.support.traces import spellings

MOST_STEPS_AN_HOUR = 400
"""A job is looked at once a minute at most, and a few executions may have it at a time."""

ASSUMED = frozenset(["no_usage"])
"""Traps after which the answer is there and its price is not: the bound is charged."""


UNCLEAR = frozenset(["chat_timeout", "chat_answer_lost"])
"""Traps after which nobody knows whether a call was paid: the bound is charged."""


class Closing:
    """The checks of a round that is over."""

    def __init__(self, storm: Storm, load: Load, watch: Watch, prompts: list[str]) -> None:
        self._storm, self._load, self._watch, self._prompts = storm, load, watch, prompts
        self._world = storm.fake.world
        self.tables: Tables = watch.look()
        self.excuses: Counter[str] = Counter()
        self.excused: Counter[str] = Counter()

    def check_all(self) -> None:
        self._rows()
        self._money()
        self._parsed()
        asks_again = {row_id: one.asks_again for row_id, one in self._load.ids.items()}
        check_chains(self.tables.rows, asks_again, self._watch.check)
        self._fake()
        self._steps()

    def _rows(self) -> None:
        """Compare each execution on the bill with the attempt that paid for it."""
        check, rows = self._watch.check, self.tables.rows
        by_name = {one.name: row_id for row_id, one in self._load.ids.items()}
        by_first: dict[str, list[Placed]] = defaultdict(list)
        for place, one in enumerate(self._world.executions):
            by_first[by_name[name_in(self._prompts[place])]].append((place, one))
        told = self._told()
        outputs = self._outputs()
        executed: dict[str, list[Placed]] = {}
        for first, chain in chains(rows).items():
            executed.update(executed_by(chain, by_first[first], outputs))
        total = 0
        for row_id, row in rows.items():
            check("every row has an end", row["status"] in ENDED, f"{row_id} is {row['status']}")
            ended = row["status"] in ENDED
            check(
                "each row ends once",
                self._watch.ends[row_id] == ended,
                f"{row_id} ended {self._watch.ends[row_id]} times",
            )
            total += row.get("cost_nano_usd", 0)
            own = executed.get(row_id, [])
            self._attempts(row_id, row, own, told, outputs.get(row_id))
        bill = sum(one.cost_nano_usd for one in self._world.executions)
        check(
            "the ledger's cost is the bill",
            total + self._unbooked == bill + self._assumed,
            f"rows {total} + lost {self._unbooked}, bill {bill} + assumed {self._assumed}",
        )
        check(
            "what lost steps may have paid is charged",
            self._unbooked <= self._charged,
            f"calls of lost steps cost {self._unbooked}, charged are {self._charged}",
        )
        self.cost = total
        struck = sum(self.excuses[name] for name in UNCLEAR)
        check(
            "no more is excused than was injected",
            self._unclear <= struck,
            f"{self._unclear} calls are unclear, and {struck} answers were kept back",
        )

    _assumed = 0
    _charged = 0
    _unbooked = 0
    _unclear = 0

    def _sent(self, row_id: str, row: dict[str, Any]) -> Sent:
        return self._load.ids[first_of(row_id, row)]

    def _jobs(self, attempt: dict[str, Any], mine: list[Placed]) -> set[str]:
        """Return the fake's names of the jobs that an attempt was in."""
        batch = self.tables.batches.get(attempt.get("batch_id", ""), {})
        jobs = {one.batch_id for _, one in mine} | {(batch.get("job") or {}).get("job_id")}
        return {one for one in jobs if one}

    def _hides_counts(self, jobs: set[str]) -> bool:
        """Return whether the job of an attempt told neither results nor how many there are."""
        traps = [self._world.batches[one].traps.keys() for one in jobs]
        return any(one & {"counts_zero", "counts_absent"} for one in traps)

    def _job_traps(self, jobs: set[str]) -> list[str]:
        """Return what the job of an attempt met, for whoever reads of a violation."""
        traps = [one.trap for one in self._world.traps.firings if one.batch_id in jobs]
        return [*sorted(jobs), *sorted(set(traps))]

    def _attempts(
        self,
        row_id: str,
        row: dict[str, Any],
        own: list[Placed],
        told: dict[str, set[str]],
        output: str | None,
    ) -> None:
        check = self._watch.check
        attempts = row.get("attempts", [])
        paid = sum(one.get("cost_nano_usd") or 0 for one in attempts)
        check(
            "the ledger's cost is the bill",
            paid == row.get("cost_nano_usd", 0),
            f"{row_id} cost {row.get('cost_nano_usd')}, its attempts {paid}",
        )
        left = list(own)
        for attempt in attempts:
            cost, number = attempt.get("cost_nano_usd") or 0, attempt["number"]
            custom_id = f"{row_id.removeprefix('llm_')}x{number}"
            is_answered = "error" not in attempt
            if attempt.get("error", {}).get("message") == STEP_LOST.message:
                # It need not be of the row that was asked: as many as may have been are charged.
                bound = row["bound_nano_usd"]
                check("what a lost step asked is charged at its bound", cost == bound, row_id)
                self._assumed += cost
                self._charged += cost
                self.excused["charged for a lost step"] += 1
                continue
            mine = [
                one
                for one in left
                if (one[1].custom_id == custom_id)
                or (one[1].mode == "synchronous" and self._is_of(one[1], cost, is_answered, output))
            ][:1]
            for one in mine:
                left.remove(one)
            if is_answered:
                fits = bool(mine) and output is not None and mine[0][1].token in output
                check(
                    "an output's token belongs to its attempt",
                    fits,
                    f"{row_id} attempt {number}: {output and output[:60]!r}",
                )
            actual = mine[0][1].cost_nano_usd if mine else 0
            if cost == actual:
                continue
            reasons = told.get(custom_id, set()) | {
                name for one in mine for name in told.get(one[1].token, set())
            }
            is_sync = row.get("mode", "calls") == "calls"
            code = attempt.get("error", {}).get("code")
            if is_sync and (is_answered or code == "outcome_unclear"):
                reasons |= told.get("", set())
                self._unclear += not is_answered
            jobs = self._jobs(attempt, mine)
            hidden = self._hides_counts(jobs)
            unknowable = cost == 0 and bool(reasons) and hidden
            # A job that ended without results, and does not say that it did nothing, may be paid.
            may_be_paid = bool(reasons) or (hidden and not mine and code == "result_missing")
            excused = unknowable or (may_be_paid and cost == row["bound_nano_usd"])
            check(
                "the ledger's cost is the bill",
                excused,
                f"{row_id} attempt {number} ({row['provider']}, {code}) cost {cost}, "
                f"on the bill {actual}, bound {row['bound_nano_usd']}, traps {sorted(reasons)}, "
                f"of the job {self._job_traps(jobs)}",
            )
            self._assumed += cost - actual
            self.excused[
                "canceled, paid, and told of by nothing" if unknowable else "charged at its bound"
            ] += 1
        for place, one in left:
            is_lost = one.mode == "synchronous" and place in self._storm.lost
            check(
                "nothing is executed that is not booked",
                is_lost,
                f"{row_id}: {one.mode} {one.provider} {one.custom_id}, {row['status']}",
            )
            self._unbooked += one.cost_nano_usd
            self.excused["calls of a killed or failed step"] += 1
        names = Counter(one.custom_id for _, one in own if one.custom_id)
        check(
            "no attempt is executed twice",
            all(n == 1 for n in names.values()),
            f"{row_id}: {dict(names)}",
        )
        if len(own) > 1:
            why = [self._excuse(place, one, told) for place, one in own]
            missing = sum(one is None for one in why) - 1
            check(
                "a row is executed again only for an excuse",
                missing <= 0,
                f"{row_id} ({row['provider']}) was executed {len(own)} times: {why}",
            )
            self.excused.update(one for one in why if one)

    def _is_of(self, one: Execution, cost: int, is_answered: bool, output: str | None) -> bool:
        if is_answered:
            return output is not None and one.token in output
        return cost > 0 and (output is None or one.token not in output)

    def _excuse(self, place: int, one: Execution, told: dict[str, set[str]]) -> str | None:
        if one.mode == "synchronous":
            if place in self._storm.lost:
                return "a killed or failed step"
            return "chat_answer_lost" if place in self._storm.unanswered else None
        reasons = told.get(one.custom_id or "", set()) | told.get(one.token, set())
        return next(iter(sorted(reasons - ASSUMED)), None)

    def _told(self) -> dict[str, set[str]]:
        """Return the traps that excuse paying twice or at the bound, by the rows they name."""
        told: dict[str, set[str]] = defaultdict(set)
        for one in self._world.traps.firings:
            if one.excuses or one.trap in ASSUMED or one.trap in UNCLEAR:
                self.excuses[one.trap] += 1
                for name in (*one.custom_ids, *one.tokens):
                    told[name].add(one.trap)
                if not one.custom_ids and not one.tokens:
                    told[""].add(one.trap)
        return told

    def _outputs(self) -> dict[str, str]:
        stored = {
            one["pk"]: _unpacked(one["body"])["raw_output"]
            for one in self.tables.of("llm_")
            if one["sk"] == "output"
        }
        return {**stored, **self._load.orders.outputs}

    def _money(self) -> None:
        check = self._watch.check
        used, _ = self.tables.money()
        for key, item in used.items():
            text = f"{key} has {item}"
            check("nothing is reserved in the end", item["committed"] == item.get("spent", 0), text)
        # Days are kept as long as something is settled in them, which is not as long as this takes.
        for period in ("week", "month"):
            of_kind = [one for (_, name), one in used.items() if kind_of(name) == period]
            spent = sum(one.get("spent", 0) for one in of_kind)
            check(
                "counters are what a scan counts",
                spent == self.cost,
                f"spent by {period} {spent}, rows cost {self.cost}",
            )
        costs = sum(one.get("cost_nano_usd", 0) for one in self.tables.of("cost#"))
        check(
            "counters are what a scan counts",
            costs == self.cost,
            f"costs by day {costs}, rows cost {self.cost}",
        )
        batches = self.tables.batches.values()
        booked = sum(one.get("cost_nano_usd", 0) for one in batches)
        check(
            "counters are what a scan counts",
            booked == self.cost,
            f"batches cost {booked}, rows {self.cost}",
        )
        left = none_left(self.tables.ledger)
        check("nothing is counted as under way in the end", not left, str(left[:5]))
        for one in batches:
            whole = sum(
                one.get(name, 0) for name in ("completed", "failed", "canceled", "released")
            )
            check(
                "counters are what a scan counts",
                one["phase"] == "settled" and whole == one["rows"],
                f"{one['pk']} is {one['phase']}, {whole} of {one['rows']} rows",
            )
        ended = Counter(row["status"] for row in self.tables.rows.values())
        for status, name in (("completed", "completed"), ("error", "failed")):
            counted = sum(one.get(name, 0) for one in batches)
            check(
                "counters are what a scan counts",
                counted == ended[status],
                f"batches count {counted} {name}, {ended[status]} rows are",
            )

    def _parsed(self) -> None:
        name = "parsed fields are null exactly where parsing failed"
        texts = {
            one["pk"]: _unpacked(one["body"])
            for one in self.tables.of("llm_")
            if one["sk"] == "output"
        }
        for row_id, row in self.tables.rows.items():
            if row["status"] != "completed":
                continue
            if row_id in self._load.orders.erased:
                self._watch.check("erased texts are gone", row_id not in texts, row_id)
                continue
            sent, text = self._sent(row_id, row), texts.get(row_id, {})
            fields = [text.get(one) for one in ("reasoning", "verdict_text", "parsed_verdict")]
            is_whole = row.get("finish_reason") == "stop"
            wanted = verdict_in(text["raw_output"]) if sent.has_verdict and is_whole else None
            failed = row.get("parse_error") is not None
            fits = (
                failed == (sent.has_verdict and wanted is None)
                and fields[2] == wanted
                and (fields[1] is None) == (wanted is None)
                and (fields[0] is None) == (wanted is None)
            )
            self._watch.check(
                name,
                fits,
                f"{row_id}: {fields}, wanted {wanted}, "
                f"{row.get('finish_reason')}, {row.get('parse_error')}, {text}",
            )

    def _steps(self) -> None:
        """See that no execution goes round in a loop, which costs and comes to nothing."""
        for (name, hour), steps in self._storm.steps.items():
            fits = steps <= MOST_STEPS_AN_HOUR
            text = f"{steps} of {name} within hour {hour}"
            self._watch.check("no batch takes hundreds of steps an hour", fits, text)

    def _fake(self) -> None:
        check, world = self._watch.check, self._world
        jobs = {one["job"].get("job_id") for one in self.tables.batches.values() if one.get("job")}
        for batch in world.batches.values():
            check(
                "no batch at the fake is unknown", batch.id in jobs, f"{batch.provider} {batch.id}"
            )
        check("the fake's limits are kept", not world.broken_limits, str(world.broken_limits[:3]))
        check("the fake has no fault", not world.bugs, str(world.bugs[:3]))


def search(keys: Iterable[str], places: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return the places that hold a key, as it is or in base64."""
    needles = [needle for key in keys for needle in spellings(key.encode())]
    return [place for place, content in places if any(one in content for one in needles)]


def places(storm: Storm, logs: bytes) -> list[tuple[str, bytes]]:
    """Return everything that is kept: items, objects and logs."""
    found: list[tuple[str, bytes]] = [("logs", logs)]
    for table in ("registry", "completions", "budgets", "audit", "deliveries", "ledger"):
        for item in storm.store.items(table):
            found.append((f"{table} {item['pk']['S']}", json.dumps(item).encode()))
            for value in item.values():
                if "B" in value:
                    raw = base64.b64decode(value["B"])
                    packed = zlib.decompress(raw[1:]) if raw[:1] == b"z" else b""
                    found.append((f"{table} {item['pk']['S']} body", raw + b"\n" + packed))
    s3 = boto3.client("s3")
    for bucket in s3.list_buckets()["Buckets"]:
        for one in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", []):
            body = s3.get_object(Bucket=bucket["Name"], Key=one["Key"])["Body"].read()
            found.append((f"object {one['Key']}", body))
    return found


def _unpacked(packed: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        packed[1:] if packed[:1] == b"p" else zlib.decompress(packed[1:])
    )
    return document
