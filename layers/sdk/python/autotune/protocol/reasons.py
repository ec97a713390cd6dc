"""What each reason code means, whose business it is, and what to do: the words of the guides.

``docs/reason-codes.md`` has the same words in its tables, and a test compares the two.
"""

from collections.abc import Mapping
from typing import Literal

from autotune.protocol.completions import ReasonCode
from autotune.protocol.types import ResponseModel

Responsible = Literal[
    "the grader's owner", "the task's owner", "the platform", "see `lastReasonCode`"
]


class Reason(ResponseModel):
    """One entry: what a code means, whose business it is, and what they can do about it."""

    means: str
    whose: Responsible
    do: str


REASONS: Mapping[ReasonCode, Reason] = {
    "grader_unreachable": Reason(
        means="no connection to the grader: no address, refused, reset, or TLS failed",
        whose="the grader's owner",
        do="start it, or mend its name and certificate; nothing is lost meanwhile",
    ),
    "grader_timeout": Reason(
        means="no whole answer within 30 s",
        whose="the grader's owner",
        do="answer faster, accept smaller batches, or answer 202 and call back",
    ),
    "grader_error": Reason(
        means="it answered 500 to 599, 408 or 425",
        whose="the grader's owner",
        do="read its log",
    ),
    "grader_rate_limited": Reason(
        means="it answered 429",
        whose="the grader's owner",
        do="register its limits, so that it is asked more slowly",
    ),
    "certificate_mismatch": Reason(
        means="its certificate is none of those that are pinned; nothing was sent",
        whose="the grader's owner",
        do="pin the new one, or put the old one back",
    ),
    "grader_rejected": Reason(
        means="it answered another 4xx than 408, 425 and 429",
        whose="the grader's owner",
        do="accept the request (protocol), or answer 200 with `error`",
    ),
    "redirect_refused": Reason(
        means="it answered with a redirect",
        whose="the grader's owner",
        do="register the address that answers",
    ),
    "address_refused": Reason(
        means="its address is not public",
        whose="the grader's owner",
        do="register a public one",
    ),
    "response_unsigned": Reason(
        means="the answer carries no signature",
        whose="the grader's owner",
        do="sign it; the grader SDK does",
    ),
    "response_signature_invalid": Reason(
        means="the answer is signed with another secret, or for another request",
        whose="the grader's owner",
        do="sign with the secret that registering the grader returned",
    ),
    "response_too_large": Reason(
        means="the answer has more than 4,000,000 bytes, or more JSON values than it can mean",
        whose="the grader's owner",
        do="answer less, or accept smaller batches",
    ),
    "response_malformed": Reason(
        means="the answer is no JSON of the protocol",
        whose="the grader's owner",
        do="`autotune grader check` names the field",
    ),
    "response_mismatched": Reason(
        means="the answer names another request",
        whose="the grader's owner",
        do="answer with the `requestId` of the request",
    ),
    "item_missing": Reason(
        means="the answer lacks this completion",
        whose="the grader's owner",
        do="answer each completion of a batch",
    ),
    "item_malformed": Reason(
        means="the item of this completion breaks the protocol, such as a value over 1",
        whose="the grader's owner",
        do="`autotune grader check`",
    ),
    "item_duplicated": Reason(
        means="the answer has this completion twice",
        whose="the grader's owner",
        do="answer each completion once",
    ),
    "item_failed": Reason(
        means="the grader answered `error` for this completion",
        whose="the grader's owner",
        do="its log says why; the text of `error` stays with its owner",
    ),
    "callback_timeout": Reason(
        means="it answered 202, and neither answer nor sign of life came in time",
        whose="the grader's owner",
        do="call back within `asyncSettings`",
    ),
    "grader_missing": Reason(
        means="the grader was deleted, or its owner made it private",
        whose="the task's owner",
        do="give the task another grader",
    ),
    "builtin_input_missing": Reason(
        means="a place in a template is missing or null, or the reference holds no number",
        whose="the task's owner",
        do="mend metadata or template",
    ),
    "builtin_input_too_large": Reason(
        means="a text is longer than the grader reads, or takes too much work",
        whose="the task's owner",
        do="shorten the text, or simplify pattern and schema",
    ),
    "builtin_out_of_range": Reason(
        means="the formula comes to a value outside 0 to 1",
        whose="the task's owner",
        do="mend the formula",
    ),
    "builtin_error": Reason(
        means="the formula has no value, or a reference of the schema leads nowhere",
        whose="the task's owner",
        do="mend formula or schema",
    ),
    "model_rejected": Reason(
        means="the provider refused the question, such as for its length",
        whose="the grader's owner",
        do="`autotune llm show` says why; shorten the prompt, or choose another model",
    ),
    "model_refused": Reason(
        means="the model declined to judge this text, or the provider's filter did",
        whose="the grader's owner",
        do="reword the prompt, or have people judge such texts",
    ),
    "model_unavailable": Reason(
        means="the provider failed in five attempts",
        whose="the grader's owner",
        do="`autotune llm show` says how; score it again later",
    ),
    "model_connection_lost": Reason(
        means="the grader's connection to its model was revoked",
        whose="the grader's owner",
        do="give the grader another connection",
    ),
    "model_canceled": Reason(
        means="somebody canceled the request to the model",
        whose="the grader's owner",
        do="score it again",
    ),
    "model_answer_unreadable": Reason(
        means=(
            "the model's answer has no result of the form that was asked for, or, of a rubric of "
            "levels, more than 200,000 characters"
        ),
        whose="the grader's owner",
        do="raise `maxTokens`, mend the prompt, or choose a model that follows formats",
    ),
    "model_answer_out_of_range": Reason(
        means="the model's number lies outside of the grader's range",
        whose="the grader's owner",
        do="name the range in the prompt",
    ),
    "not_applicable": Reason(
        means="the rubric says nothing of this response; the judge says so",
        whose="the task's owner",
        do="nothing, where that is so; else mend the rubric's `notApplicableWhen`",
    ),
    "judge_abstained": Reason(
        means="the judge could not say which level fits",
        whose="the grader's owner",
        do="read its reasoning; make criteria and levels clearer",
    ),
    "uncalibrated": Reason(
        means="nobody measured how far this judge agrees with people, or too little",
        whose="the grader's owner",
        do="label samples in its deck until it is calibrated, or have the task allow it",
    ),
    "uncalibrated_model": Reason(
        means="another model answered than the one that was measured",
        whose="the grader's owner",
        do="grade the labelled samples of its deck again, which measures this one",
    ),
    "calibration_suspended": Reason(
        means="this judge was calibrated, and fresh labels of people speak against it",
        whose="the grader's owner",
        do="have the labelled samples of its deck judged again and publish it, or change it",
    ),
    "other_system_prompt": Reason(
        means="the completion was written under another system prompt than the deck's",
        whose="the task's owner",
        do="send it to a task whose grader is of that prompt's deck",
    ),
    "input_too_long": Reason(
        means="system prompt, conversation and response have more than 400,000 characters",
        whose="the task's owner",
        do="shorten them, or have another grader score such texts",
    ),
    "budget_exhausted": Reason(
        means="the organisation's budget for language models has no room before the deadline",
        whose="the task's owner",
        do="raise the budget (`autotune llm budget`), then score it again",
    ),
    "quorum_missed": Reason(
        means="fewer graders scored than the task's quorum",
        whose="the task's owner",
        do="read the `opinions`: each has its own code",
    ),
    "review_expired": Reason(
        means="a person was asked and did not answer in time, and the task says `fail`",
        whose="the task's owner",
        do="ask more people, or allow more time",
    ),
    "deadline_exceeded": Reason(
        means="there was no verdict by the task's deadline",
        whose="see `lastReasonCode`",
        do="`autotune explain` says it of the completion; lengthen `deadlineSeconds`",
    ),
    "step_killed": Reason(
        means="twice a worker was killed while it read the texts, for want of time or memory",
        whose="the platform",
        do="shorten or delete the sample, or change the rubric; else have it judged again",
    ),
    "platform_error": Reason(
        means="the text is gone although nobody deleted it",
        whose="the platform",
        do="tell the operator",
    ),
}
"""The entry of each code."""
