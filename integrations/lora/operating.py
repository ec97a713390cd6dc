"""What whoever deploys does beside the API: base weights, and faults of the local SageMaker."""

import contextlib
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from local.endpoint import REGION
from local.sagemaker.faults import Fault, Faults, Kind
from tools.base_model import LIST, listed

BASES = "apprentice/bases"
JOB_LOGS = "logs"
EVERY_SECONDS = 1.0
_PAST = "2000-01-01T00:00:00.000+00:00"


class Operator:
    """The stack's AWS, as its owner.

    Args:
        endpoint: where the stack's AWS answers.
        folder: of the stack.
    """

    def __init__(self, *, endpoint: str, folder: Path) -> None:
        session = boto3.Session("test", "test", region_name=REGION)
        config = Config(s3={"addressing_style": "path"})
        self.s3 = session.client("s3", endpoint_url=endpoint, config=config)
        self.sagemaker = session.client("sagemaker", endpoint_url=endpoint)
        self._dynamodb = session.client("dynamodb", endpoint_url=endpoint)
        self._functions = session.client("lambda", endpoint_url=endpoint)
        self._sagemaker_folder = folder / "sagemaker"
        self.faults = Faults(self._sagemaker_folder)

    @property
    def bucket(self) -> str:
        """The apprentice's."""
        names = [one["Name"] for one in self.s3.list_buckets()["Buckets"]]
        (found,) = [name for name in names if "apprentice" in name]
        return found

    def upload_base(self, folder: Path, name: str) -> None:
        """Store a base model, with the list of its files."""
        (folder / LIST).write_text(listed(folder))
        for file in folder.iterdir():
            key = f"{BASES}/{name}/{file.name}"
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=file.read_bytes())

    def interrupt(self, job: str) -> None:
        """Have a job's instance taken away once it has stored a checkpoint."""
        self.faults.plant(
            Fault(
                kind=Kind.INTERRUPTION,
                operation="CreateTrainingJob",
                name=job,
                is_after_checkpoint=True,
            )
        )

    def job(self, name: str) -> dict[str, Any]:
        """Return what SageMaker says of a job."""
        return self.sagemaker.describe_training_job(TrainingJobName=name)

    def printed(self, job: str) -> list[str]:
        """Return what a job printed."""
        return (self._sagemaker_folder / JOB_LOGS / f"{job}.log").read_text().splitlines()

    def components(self) -> set[str]:
        """Return the names of all inference components."""
        found = self.sagemaker.list_inference_components()["InferenceComponents"]
        return {one["InferenceComponentName"] for one in found}

    def training_money(self, task_id: str) -> dict[str, int]:
        """Return what a month's trainings of a task have committed and spent, in billionths."""
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table("Budgets"))
        (found,) = [
            item
            for page in pages
            for item in page["Items"]
            if item["pk"]["S"].endswith(f"#{task_id}#training")
        ]
        months = [name for name in found if re.fullmatch(r"(committed|spent)#[0-9-]{7}", name)]
        return {name.partition("#")[0]: int(found[name]["N"]) for name in months}

    def hurry(self, task_ids: tuple[str, ...]) -> None:
        """Do at once what the sweep of hostings does within minutes."""
        table = self._table("Apprentice")
        for task_id in task_ids:
            key = {":pk": {"S": f"{task_id}#hosting"}}
            query = self._dynamodb.query(
                TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues=key
            )
            for item in query["Items"]:
                self._make_due(table, {name: item[name] for name in ("pk", "sk")})
        answer = self._functions.invoke(FunctionName=self._function("SweepHostings"), Payload=b"{}")
        if "FunctionError" in answer:
            raise AssertionError(answer["Payload"].read())

    def _make_due(self, table: str, key: dict[str, Any]) -> None:
        with contextlib.suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            self._dynamodb.update_item(
                TableName=table,
                Key=key,
                UpdateExpression="SET due_at = :past",
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeValues={":past": {"S": _PAST}},
            )

    def _table(self, word: str) -> str:
        names = self._dynamodb.list_tables()["TableNames"]
        (found,) = [name for name in names if word in name]
        return found

    def _function(self, word: str) -> str:
        pages = self._functions.get_paginator("list_functions").paginate()
        names = (one["FunctionName"] for page in pages for one in page["Functions"])
        return next(name for name in names if word in name)


@contextmanager
def hurried(operator: Operator, *task_ids: str) -> Iterator[None]:
    """Have hostings of some tasks looked at each second, for as long as the block lasts."""
    over = threading.Event()

    def hurry() -> None:
        while not over.wait(EVERY_SECONDS):
            operator.hurry(task_ids)

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(hurry)
        try:
            yield
        finally:
            over.set()
            done.result()
