"""The list of checks, and running them against a grader's address."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx

from autotune.grader.conformance import answers, deferrals, refusals
from autotune.grader.conformance.session import (
    SAMPLE_COMPLETION,
    CheckFailedError,
    CheckResult,
    CheckSkippedError,
    GraderSession,
    GraderUnreachableError,
    Outcome,
)

Check = Callable[[GraderSession], str]

REPEATABILITY_TOLERANCE = 0.01
"""How far two values for one completion may be apart, on the scale from 0 to 1."""

_CHECKS: Sequence[Check] = (
    answers.health_answers,
    answers.health_is_signed,
    answers.score_accepted,
    answers.score_valid,
    answers.answer_signed,
    answers.answer_bound_to_request,
    answers.version_consistent,
    refusals.unsigned_refused,
    refusals.wrongly_signed_refused,
    refusals.stale_refused,
    refusals.future_refused,
    refusals.replay_refused,
    refusals.tampered_refused,
    answers.unknown_fields_tolerated,
    answers.options_respected,
    refusals.malformed_refused,
    refusals.oversized_refused,
    answers.batch_complete,
    answers.batch_fails_in_part,
    answers.batch_limit_kept,
    deferrals.deferral_kept,
)


def check_grader(
    url: str,
    secrets: Sequence[str],
    *,
    completion: Mapping[str, Any] = SAMPLE_COMPLETION,
    allow_nondeterministic: bool = False,
    timeout_seconds: float = 60.0,
    http_client: httpx.Client | None = None,
) -> Iterator[CheckResult]:
    """Try a grader from outside; yield one result for each check as it is found.

    About 25 requests are sent, one with 6 MB. Nothing is registered or stored.

    Args:
        url: the grader's base URL, below which ``/score``, ``/score/batch`` and ``/health`` lie.
        secrets: the shared secrets; requests are signed with each.
        completion: ``prompt``, ``response`` and ``metadata`` to score, in wire form.
        allow_nondeterministic: let a differing second value pass, with a note.
        timeout_seconds: for each request.
        http_client: to use instead of an own one; redirects must stay off.

    Raises:
        GraderUnreachableError: nothing answers at ``url``.
    """
    client = http_client or httpx.Client(timeout=timeout_seconds, follow_redirects=False)
    try:
        session = GraderSession(client, url=url, secrets=secrets, completion=completion)
        _require_reachable(client, url)
        for check in _CHECKS:
            yield _run(check, session)
        yield _run(_repeatable(allow_nondeterministic=allow_nondeterministic), session)
    finally:
        if http_client is None:
            client.close()


def _run(check: Check, session: GraderSession) -> CheckResult:
    expected = (check.__doc__ or "").strip()
    outcome: Outcome = "passed"
    try:
        seen = check(session)
    except CheckFailedError as failure:
        outcome, seen = "failed", str(failure)
    except CheckSkippedError as skip:
        outcome, seen = "skipped", str(skip)
    except httpx.HTTPError as error:
        outcome, seen = "failed", f"no answer came: {type(error).__name__}"
    return CheckResult(name=check.__name__, outcome=outcome, expected=expected, seen=seen)


def _repeatable(*, allow_nondeterministic: bool) -> Check:
    def repeatable(session: GraderSession) -> str:
        """The same completion gets the same value twice."""
        session.first_score()
        completion = session.completion()
        first, second = (answers.value_of(session, completion) for _ in range(2))
        if first is None and second is None:
            return "it abstained both times"
        if first is None or second is None:
            difference = "it abstained once and scored once"
        elif abs(first - second) > REPEATABILITY_TOLERANCE:
            difference = f"the values were {first:g} and {second:g}"
        else:
            return f"the values were {first:g} and {second:g}"
        if allow_nondeterministic:
            return f"{difference}, which was allowed"
        raise CheckFailedError(difference)

    return repeatable


def _require_reachable(client: httpx.Client, url: str) -> None:
    try:
        client.get(f"{url.rstrip('/')}/health")
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        raise GraderUnreachableError(f"nothing answers at {url}: {error}") from error
    except httpx.InvalidURL as error:
        raise GraderUnreachableError(f"{url} is no URL: {error}") from error
    except httpx.HTTPError:
        return  # something is there; the checks say what is wrong with it
