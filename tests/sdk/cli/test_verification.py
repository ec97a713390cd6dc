"""What `autotune graders verify` says to the reason codes that the platform gives."""

import pytest

from autotune.cli.grader_checks import describe_check
from autotune.protocol.graders import VerificationCheck

ENDPOINT = "https://g.example"


def told(reason_code, *, is_health=True):
    check = VerificationCheck(name="health", passed=reason_code is None, reason_code=reason_code)
    return describe_check(check, ENDPOINT, is_health=is_health)


@pytest.mark.parametrize(
    ("reason_code", "hint"),
    [
        ("grader_rejected", "does the grader have this secret?"),
        ("response_signature_invalid", "does the grader have this secret?"),
        ("grader_unreachable", f"is it running at {ENDPOINT}?"),
        ("grader_error", "is its secret set? the grader's own log says why"),
        ("response_malformed", f"`autotune grader check {ENDPOINT}` shows more"),
    ],
)
def test_a_reason_comes_with_where_to_look(reason_code, hint):
    assert told(reason_code) == f"failed   health ({reason_code}): {hint}"


def test_a_refusal_of_the_wrongly_signed_request_is_no_question_of_the_secret():
    assert "secret" not in told("grader_rejected", is_health=False)


def test_a_check_that_passed_needs_no_hint():
    assert told(None) == "passed   health"
