"""The grader template, deployed by its own CDK app to the owner's account, here the emulator's."""

import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from autotune import AutotuneClient
from autotune.grader.conformance import check_grader
from local.deployment import CDK, REPOSITORY_ROOT
from local.endpoint import REGION, isolated_environment
from local.records import LocalProfile

STACK = "TemplateGrader"
PLACEHOLDER = "http://127.0.0.1:9"


class Owner:
    """Deploys the template with the ordinary CDK command line."""

    def __init__(self, endpoint: str, output: Path) -> None:
        self._endpoint = endpoint
        self._output = output

    def deploy(self, secret: str) -> str:
        """Deploy with a secret; return the grader's base URL."""
        python = Path(sys.executable)
        subprocess.run(
            [
                *(str(CDK), "deploy", "--require-approval", "never", "--output", str(self._output)),
                *("--app", f"{python} app.py", "-c", "target=local", "-c", f"stackName={STACK}"),
                *("--no-notices", "--no-version-reporting"),
                *("--parameters", f"GraderSecret={secret}"),
            ],
            cwd=REPOSITORY_ROOT / "grader_template",
            env=isolated_environment(
                {
                    "AWS_ENDPOINT_URL": self._endpoint,
                    "AWS_ENDPOINT_URL_S3": self._endpoint,
                    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
                    "CDK_VALIDATION": "false",
                }
            ),
            check=True,
            capture_output=True,
            timeout=180,
        )
        session = boto3.Session("test", "test", region_name=REGION)
        stacks = session.client("cloudformation", endpoint_url=self._endpoint)
        outputs = stacks.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
        url = next(one["OutputValue"] for one in outputs if one["OutputKey"] == "GraderUrl")
        # The emulator's host name of a function URL resolves only on some machines.
        url_id = url.split("//")[1].split(".")[0]
        return f"{self._endpoint}/_aws/lambda-url/{url_id}"


@pytest.fixture
def owner(profile: LocalProfile, tmp_path: Path) -> Owner:
    return Owner(profile.aws_endpoint_url, tmp_path / "cdk.out")


def test_a_copy_of_the_template_conforms_and_scores(client: AutotuneClient, owner: Owner) -> None:
    registered = client.graders.register(
        name="template",
        endpoint=PLACEHOLDER,
        capabilities={"maxBatchSize": 100},
        share_reasoning=True,
    )
    secret = registered.credentials.shared_secret
    url = owner.deploy(secret)
    client.graders.update(registered.grader.id, endpoint=url)
    assert client.graders.verify(registered.grader.id).verified

    results = list(check_grader(url, [secret]))
    assert len(results) > 15
    assert [one for one in results if one.outcome == "failed"] == []

    task = client.tasks.create(name="template", grader_id=registered.grader.id)
    (batch,) = client.completions.submit_many(
        {"taskId": task.id, "modelId": "m", "prompt": "6 * 7?", "response": text, "metadata": data}
        for text, data in [
            ("It is 42", {"answer": "42"}),
            ("It is 42\nor 43", {"answer": "42"}),
            ("No idea", {"answer": "42"}),
            ("It is 42", {}),
        ]
    )
    verdicts = client.batches.wait(batch.batch_id, timeout=180).verdicts
    assert [one.score.value if one.score else one.state for one in verdicts] == [
        *(1.0, 0.5, 0.0),
        "abstained",
    ]
    score = client.completions.verdict(verdicts[0].completion_id).score
    assert score is not None
    assert score.reasoning == "The last line holds the reference."
