"""The traps by name: what each does, where it is sprung, and whether it excuses paying twice.

``excuses`` says that whoever meets the trap cannot know that a row was executed and paid, so that a
second execution of that row is no fault. Each firing of such a trap names its rows.
"""

from dataclasses import dataclass

REQUEST = "request"
BATCH = "batch"
ROW = "row"
CONTENT = "content"

# What requests are called; the traps of requests are named <operation>_<fault>.
OPERATIONS = ("upload", "create", "get", "list", "download", "cancel", "chat", "file")
FAULTS = {
    "429": "refused with Retry-After (retry_after=1), nothing done",
    "500": "refused with a 5xx (status=500), nothing done",
    "timeout": "no answer for stall_seconds=30, then the connection ends, nothing done",
    "slow": "answered after seconds=1",
    "answer_lost": "done, and the connection ends without an answer (stall_seconds=0 before)",
}


@dataclass(frozen=True)
class Trap:
    """One thing that goes wrong.

    Attributes:
        section: Number in the list of the ledger's design, section 8.
        level: What it is drawn for: a request, a batch, a row, or a content that is downloaded.
    """

    name: str
    section: int
    level: str
    what: str
    excuses: bool = False


def _requests() -> list[Trap]:
    return [
        Trap(
            f"{operation}_{fault}",
            7 if operation == "download" else 1,
            REQUEST,
            what,
            excuses=(operation, fault) == ("chat", "answer_lost"),
        )
        for operation in OPERATIONS
        for fault, what in FAULTS.items()
    ]


_LISTED = [
    Trap("upload_not_visible", 1, REQUEST, "the file is not found for looks=2 times"),
    Trap("get_404_after_create", 2, BATCH, "404 by id for looks=2 times or seconds=0"),
    Trap("list_lags", 2, BATCH, "not in lists for looks=2 times or seconds=0"),
    Trap("list_pages", 2, REQUEST, "a page holds size=1, whatever limit was asked for"),
    Trap("list_ignores_filters", 2, REQUEST, "the list's filters are ignored"),
    Trap("row_error", 3, ROW, "status=500 with error null; 400, 429, 0 and others by params"),
    Trap(
        "completed_without_output", 4, BATCH, "paid and completed, and no output ever", excuses=True
    ),
    Trap("output_id_later", 4, BATCH, "completed, the output's id comes seconds=120 later"),
    Trap("output_id_empty", 4, BATCH, 'the id of a file that there is not is ""'),
    Trap("counts_zero", 4, BATCH, "all counts are 0"),
    Trap("counts_absent", 4, BATCH, "there are no counts"),
    Trap("expires_partial", 5, BATCH, "expires with the first share=0.5 executed and paid"),
    Trap("expires_empty", 5, BATCH, "expires with nothing executed, no results"),
    Trap("rows_shuffled", 6, BATCH, "results in another order"),
    Trap("rows_doubled_alike", 6, BATCH, "count=1 results come twice, alike"),
    Trap("rows_doubled_conflicting", 6, BATCH, "count=1 results come twice, with other texts"),
    Trap("rows_unknown_id", 6, BATCH, "count=1 results more, of ids that nobody asked for"),
    Trap("rows_foreign_id", 6, BATCH, "count=1 results more, of another batch's ids"),
    Trap("rows_missing", 6, ROW, "executed and paid, and not among the results", excuses=True),
    Trap("inline_without_keys", 6, BATCH, "inline results come without their keys", excuses=True),
    Trap("jsonl_cut", 7, CONTENT, "ends in the middle of the line at share=0.5", excuses=True),
    Trap("jsonl_bad_utf8", 7, CONTENT, "one line has bytes that are no UTF-8", excuses=True),
    Trap("jsonl_empty_lines", 7, CONTENT, "empty lines between the others"),
    Trap("jsonl_long_line", 7, CONTENT, "a line of bytes=10000000 of an unknown id"),
    Trap("download_cut", 7, CONTENT, "the connection ends at share=0.5 of the promised length"),
    Trap("download_stalls", 7, CONTENT, "nothing more comes after half, for stall_seconds=30"),
    Trap("download_502", 7, CONTENT, "502 in place of the content"),
    Trap("custom_id_65", 8, ROW, "an id over the provider's length was sent and refused"),
    Trap("old_key_only", 8, BATCH, "404 for every key but the one that created it"),
    Trap("succeeds_late", 8, BATCH, "runs seconds=90000 longer, past its window, and succeeds"),
    Trap("token_limit", 9, BATCH, "fails after validation: enqueued tokens"),
    Trap("poison_row", 9, ROW, "an invalid line: the whole batch fails; OpenRouter names no line"),
    Trap("credit_ends", 9, BATCH, "after share=0.5 of the rows there is no money left"),
    Trap("account_refused", 9, REQUEST, "no credit or access: refused as an account's error"),
    Trap("finish_length", 10, ROW, "cut off by the limit of tokens"),
    Trap("finish_refusal", 10, ROW, "refused or filtered, and paid"),
    Trap("cached_tokens", 10, ROW, "half of the input tokens were cached"),
    Trap("other_model", 10, ROW, "another model served it"),
    Trap("no_usage", 10, ROW, "paid, and no usage is told"),
    Trap(
        "dearer_tier",
        10,
        REQUEST,
        "the account's tier=priority is at times=2 the price, and serves what names none;"
        " with insists=1 whatever it names",
    ),
    Trap("bedrock_token_replayed", 11, REQUEST, "a client request token came again: the same job"),
    Trap("bedrock_partially_completed", 11, BATCH, "PartiallyCompleted: share=0.5 done"),
    Trap("bedrock_several_outputs", 11, BATCH, "results in files=3 objects"),
    Trap("cancel_completes", 11, BATCH, "canceled, and completes all the same"),
]

CATALOGUE = {trap.name: trap for trap in (*_requests(), *_LISTED)}
