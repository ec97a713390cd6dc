"""Lines of an explanation: a label and a sentence each, with times, reasons and what waits."""

from datetime import UTC, datetime

from autotune.protocol.completions import ReasonCode
from autotune.protocol.explanations import AskedGrader, WaitsFor
from autotune.protocol.reasons import REASONS, Reason

_LABEL_WIDTH = 12
_UNITS = {"days": 86_400, "h": 3_600, "min": 60}
_WAITS_FOR: dict[WaitsFor, str] = {
    "next_attempt": "waits for its next attempt",
    "limit": "waits for the grader's limits",
    "circuit": "waits for the grader, which is down",
    "callback": "waits for the grader's callback",
    "model": "waits for its language model",
    "person": "waits for a person",
}


class Story:
    """Collects lines, and the entries of the reason codes that they name.

    Args:
        now: what "in 5 min" counts from.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self.lines: list[str] = []
        self.reasons: dict[ReasonCode, Reason] = {}
        self._now = now or datetime.now(UTC)

    def add(self, label: str, text: str) -> None:
        """Add a line; one without a label goes on with the thing before."""
        self.lines.append(f"{label:<{_LABEL_WIDTH}} {text}".rstrip())

    def at(self, moment: datetime) -> str:
        """Return a moment in UTC, and how far away it is."""
        seconds = (moment - self._now).total_seconds()
        away = f"in {duration(seconds)}" if seconds > 0 else f"{duration(-seconds)} ago"
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC ({away})"

    def add_reason(self, code: ReasonCode | None) -> None:
        """Add what a code means, whose business it is, and what they can do; None adds nothing."""
        if code is None:
            return
        reason = REASONS[code]
        self.reasons[code] = reason
        self.add("", f"{code}: {reason.means}")
        self.add("", f"whose: {reason.whose}; what to do: {reason.do}")

    def waiting(
        self, waits_for: WaitsFor | None, until: datetime | None, *, run_id: str | None
    ) -> str:
        """Return what somebody waits for, and until when."""
        if waits_for is None or until is None:
            return "is asked right now" if run_id else "is queued, or in its first round"
        if until <= self._now:
            return f"is asked right now, after a wait until {self.at(until)}"
        before = "at" if waits_for in {"next_attempt", "limit", "circuit"} else "at the latest at"
        return f"{_WAITS_FOR[waits_for]}, {before} {self.at(until)}"

    def add_grader(self, one: AskedGrader, *, of_panel: bool) -> None:
        """Add where one grader is with a completion."""
        weight = f", weight {one.weight:g}" if one.weight is not None else ""
        named = f"{one.grader_id} version {one.grader_version}{weight}"
        if one.state != "pending":
            self.add("member" if of_panel else "grader", f"{named}: {one.state}")
        else:
            waiting = self.waiting(one.waits_for, one.next_attempt_at, run_id=one.run_id)
            self.add("member" if of_panel else "grader", f"{named}: {waiting}")
        # Of an answer the run tells nothing more.
        if one.run_id is not None and (one.state == "pending" or one.last_reason_code is not None):
            self.add("", f"run {one.run_id}, {attempts(one.attempts)}")
        if one.source_request_id is not None:
            self.add("", f"request {one.source_request_id} (autotune explain says more)")
        self.add_reason(one.reason_code)
        if one.last_reason_code is not None:
            self.add("", "its last attempt failed with")
            self.add_reason(one.last_reason_code)


def duration(seconds: float) -> str:
    """Return a length of time in its largest unit, such as ``5 min``."""
    for unit, length in _UNITS.items():
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def attempts(count: int) -> str:
    """Return a number of attempts in words."""
    return f"{count} attempt" if count == 1 else f"{count} attempts"


def number(count: int, thing: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
