"""Batch inference of Amazon Bedrock: input and results are files in a bucket of the owner's.

As in https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference.html, and botocore's
model of the service bedrock, read in November 2026. Rows are bodies of Converse
(``modelInvocationType``), the same for the models of all makers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlencode

from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.jobs.bedrock_bucket import BedrockBucket
from autotune_platform.ledger.jobs.bedrock_documents import (
    ENDS,
    End,
    counts,
    failure,
    reported_of,
    usage_of,
)
from autotune_platform.ledger.jobs.contract import (
    MOST_FOUND,
    Body,
    Creation,
    Ended,
    Framing,
    Job,
    Line,
    Look,
    Missing,
    Results,
    Running,
    Unclear,
)
from autotune_platform.ledger.jobs.replies import creation, outcome_of, refusal_of
from autotune_platform.ledger.jobs.session import Reply, Session
from autotune_platform.ledger.jobs.unnamed import AFTER, BEFORE
from autotune_platform.ledger.providers.bedrock import BedrockFormat, access_of, endpoint
from autotune_platform.ledger.providers.documents import (
    document_of,
    inside,
    items,
    name,
    text,
    tokens,
)

_PAGES: Final = 100
_LONGEST_TOKEN: Final = 4_000
_MANIFEST: Final = "manifest.json.out"
_RESULTS: Final = ".jsonl.out"


class BedrockJobs:
    """Jobs at the control plane of a region, whose files are in the connection's bucket.

    A creation is named by its job's name and its client request token. Fewer than a hundred
    records are refused.
    """

    framing = Framing()
    is_named = True
    expires_by_itself = True

    def __init__(self, spoken: BedrockFormat) -> None:
        """Take the format that single calls have."""
        self._spoken = spoken
        self._bucket = BedrockBucket(spoken)

    def row(self, custom_id: str, asked: Question) -> bytes:
        """Return a line of the input file."""
        line = {"recordId": custom_id, "modelInput": self._spoken.body(asked)}
        return json.dumps(line, separators=(",", ":")).encode("ascii")

    def upload(self, session: Session, job: Job, body: Body) -> str | Refusal:
        """Put the input into the bucket; putting it again replaces it."""
        key = f"{_folder(session, job)}input.jsonl"
        return self._bucket.put(session, key, body) or key

    def create(self, session: Session, job: Job, body: Body) -> Creation:  # noqa: ARG002 - uploaded before
        """Ask for the job of an uploaded input."""
        access = access_of(session.connection)
        bucket = f"s3://{access.bucket}"
        asked = {
            "jobName": _name_of(job),
            "clientRequestToken": job.nonce,
            "roleArn": access.batch_role_arn,
            "modelId": job.model,
            "modelInvocationType": "Converse",
            "inputDataConfig": {
                "s3InputDataConfig": {
                    "s3Uri": f"{bucket}/{job.input_file}",
                    "s3InputFormat": "JSONL",
                    "s3BucketOwner": access.account,
                }
            },
            "outputDataConfig": {
                "s3OutputDataConfig": {
                    "s3Uri": f"{bucket}/{_output(session, job)}",
                    "s3BucketOwner": access.account,
                }
            },
            "timeoutDurationInHours": access.job_hours,
        }
        reply = self._ask(session, "POST", "/model-invocation-job", asked)
        if isinstance(reply, Reply) and _error(reply) == "ConflictException":
            # There is a job of this name or token, which only this creation has.
            return Unclear("the provider has a job of this name or token")
        return creation(reply, self._spoken, session.key, lambda found: inside(found, "jobArn"))

    def search(self, session: Session, job: Job) -> Sequence[str] | Refusal:
        """Return the jobs whose name is the creation's."""
        found: dict[str, None] = {}
        asked = {
            "nameContains": _name_of(job),
            "submitTimeAfter": _time(job.begun_at - BEFORE),
            "submitTimeBefore": _time(job.begun_at + AFTER),
            "maxResults": "100",
        }
        for _ in range(_PAGES):
            reply = self._succeeded(
                self._ask(session, "GET", f"/model-invocation-jobs?{_query(asked)}"), session
            )
            if isinstance(reply, Refusal):
                return reply
            document = reply.document
            if not isinstance(document, dict):
                return Refusal("provider_error", "the answer is no list of jobs")
            for one in items(document.get("invocationJobSummaries")):
                job_id = name(inside(one, "jobArn"))
                if job_id and inside(one, "jobName") == _name_of(job):
                    found[job_id] = None
            token = text(document.get("nextToken"))
            if token is None or len(found) > MOST_FOUND:
                return list(found)
            if len(token) > _LONGEST_TOKEN:
                break
            asked["nextToken"] = token
        return list(found) or Refusal("provider_error", "the list of jobs has no end")

    def look(self, session: Session, job: Job) -> Look | Refusal:
        """Return how far the job is.

        Of one that has ended, its files are listed and its manifest is read.
        """
        reply = self._ask(session, "GET", _path_of(job))
        if isinstance(reply, Reply) and reply.status == HTTPStatus.NOT_FOUND:
            return Missing()
        reply = self._succeeded(reply, session)
        if isinstance(reply, Refusal):
            return reply
        document = reply.document
        status = inside(document, "status")
        if not isinstance(status, str):
            return Refusal("provider_error", "the answer tells no status")
        how = ENDS.get(status)
        return (
            Running(reported_of(document))
            if how is None
            else self._ended(session, job, document, how)
        )

    def _ended(
        self,
        session: Session,
        job: Job,
        document: Any,
        how: End,
    ) -> Ended | Refusal:
        keys = self._bucket.keys(session, _results(session, job))
        if isinstance(keys, Refusal):
            return keys
        manifest = None
        if written := [key for key in keys if key.endswith(f"/{_MANIFEST}")]:
            manifest = self._bucket.read(session, written[0])
            if isinstance(manifest, Refusal):
                return manifest
        results = [Results(key) for key in keys if key.endswith(_RESULTS)]
        succeeded, total = counts(document) or counts(manifest) or (None, None)
        if how == "failed" and not results and not succeeded:
            return Ended(how, succeeded=succeeded, total=total, refusal=failure(document))
        return Ended(
            "completed" if how == "failed" else how,
            results=results,
            succeeded=succeeded,
            total=total,
            usage=usage_of(manifest),
            reported=reported_of(document),
        )

    def cancel(self, session: Session, job: Job) -> Refusal | None:
        """Ask for the job to stop; what it has asked by then is paid, and has results."""
        reply = self._ask(session, "POST", f"{_path_of(job)}/stop")
        if isinstance(reply, Reply) and _error(reply) == "ConflictException":
            return None
        reply = self._succeeded(reply, session)
        return reply if isinstance(reply, Refusal) else None

    def fetch(self, session: Session, job: Job, results: Results) -> Iterator[bytes]:  # noqa: ARG002 - the contract's
        """Yield a file of results."""
        yield from self._bucket.fetch(session, results.place)

    def line(self, line: bytes, key: str | None) -> Line | None:
        """Return what a line of a results file means."""
        document = document_of(line)
        custom_id = inside(document, "recordId")
        if not isinstance(custom_id, str):
            return None
        answered, error = inside(document, "modelOutput"), inside(document, "error")
        if isinstance(answered, dict) and answered:
            outcome = outcome_of(self._spoken, HTTPStatus.OK, answered, key)
        elif isinstance(error, dict) and error:
            outcome = self._row_error(error, key)
        else:
            outcome = Refusal("result_malformed", "the result holds nothing")
        return Line(custom_id, outcome)

    def clean(self, session: Session, job: Job, ended: Sequence[Results]) -> Refusal | None:  # noqa: ARG002 - all are in the folder
        """Delete all of the batch's folder, with the manifest and what no result was."""
        keys = self._bucket.keys(session, _folder(session, job))
        if isinstance(keys, Refusal):
            return keys
        for key in keys:
            refusal = self._bucket.delete(session, key)
            if refusal is not None:
                return refusal
        return None

    def _row_error(self, error: Mapping[str, Any], key: str | None) -> Outcome:
        said = text(error.get("errorMessage")) or "the record failed without a reason"
        if error.get("expired") is True:
            return Refusal("batch_expired", "the provider's job expired before this row")
        status = tokens(error.get("errorCode"))
        known = status if status is not None and 400 <= status < 600 else 500
        return outcome_of(self._spoken, known, {"message": said}, key)

    def _ask(
        self, session: Session, method: str, path: str, document: Any = None
    ) -> Reply | Refusal:
        url = f"{endpoint(session.connection, 'bedrock')}{path}"
        body = b"" if document is None else json.dumps(document).encode()
        headers = {} if document is None else {"Content-Type": "application/json"}
        return session.ask_signed("bedrock", method, url, headers, body)

    def _succeeded(self, reply: Reply | Refusal, session: Session) -> Reply | Refusal:
        if isinstance(reply, Refusal) or reply.succeeded:
            return reply
        return refusal_of(reply, self._spoken, session.key)


def _query(asked: Mapping[str, str]) -> str:
    """Return a query in the one spelling that a signature has: a space is ``%20``."""
    return urlencode(asked, quote_via=quote)


def _folder(session: Session, job: Job) -> str:
    return f"{access_of(session.connection).prefix}{job.batch_id}/"


def _output(session: Session, job: Job) -> str:
    return f"{_folder(session, job)}output/"


def _results(session: Session, job: Job) -> str:
    """Return what the names of the job's own output begin with."""
    return f"{_output(session, job)}{(job.job_id or '').rpartition('/')[2]}/"


def _name_of(job: Job) -> str:
    return f"autotune-{job.nonce}"


def _path_of(job: Job) -> str:
    return f"/model-invocation-job/{quote(job.job_id or '', safe='')}"


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _error(reply: Reply) -> str:
    """Return the name of the error that a reply tells, if it does."""
    return reply.headers.get("x-amzn-errortype", "").partition(":")[0]
