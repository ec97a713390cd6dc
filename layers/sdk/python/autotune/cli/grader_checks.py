"""What `autotune graders verify` says of each check."""

from autotune.protocol.graders import VerificationCheck

_OWN_LOG = "the grader's own log says why"
_ASK_FOR_SECRET = "does the grader have this secret?"  # noqa: S105 - a question, not a secret

_HINTS = {
    "address_refused": "the endpoint must have a public address",
    "certificate_mismatch": "it has another certificate than the one that it is pinned to",
    "grader_error": f"is its secret set? {_OWN_LOG}",
    "grader_rate_limited": "it answered 429; verify it again later",
    "grader_timeout": "is it running, and awake, at {endpoint}?",
    "grader_unhealthy": f"its own /health says so; {_OWN_LOG}",
    "grader_unreachable": "is it running at {endpoint}?",
    "item_failed": f"it raised on the question of the verification; {_OWN_LOG}",
    "redirect_refused": "register the address that it redirects to",
    "response_signature_invalid": _ASK_FOR_SECRET,
    "response_unsigned": "is {endpoint} a grader, and does it sign its answers?",
    "unauthenticated_request_accepted": "it must answer 401 to a wrong signature",
}
_OTHERWISE = "`autotune grader check {endpoint}` shows more"


def describe_check(check: VerificationCheck, endpoint: str, *, is_health: bool) -> str:
    """Return a line for a check, with its reason code and a hint where it failed.

    Args:
        endpoint: the grader's base URL.
        is_health: whether it is the signed health request, which a grader with another secret
            refuses.
    """
    line = f"{'passed' if check.passed else 'failed':<8} {check.name}"
    if check.passed or check.reason_code is None:
        return line
    hint = _HINTS.get(check.reason_code, _OTHERWISE)
    if is_health and check.reason_code == "grader_rejected":
        hint = _ASK_FOR_SECRET
    return f"{line} ({check.reason_code}): {hint.format(endpoint=endpoint)}"
