"""The grader's CDK app: ``cdk deploy`` puts it into your account, see README.md."""

import aws_cdk as cdk
from deployment.grader_stack import GraderStack

app = cdk.App()
GraderStack(
    app,
    app.node.try_get_context("stackName") or "AutotuneGrader",
    target=app.node.try_get_context("target") or "aws",
    max_instances=app.node.try_get_context("maxInstances"),
)
app.synth()
