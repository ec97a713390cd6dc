import json

import pytest

from infra.config import REPOSITORY_ROOT

BASE = {"REGISTRY_TABLE", "SECRETS_KEY_ID", "POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"}
CONTENT = {"COMPLETIONS_TABLE", "CONTENT_BUCKET"}
QUEUES = {"HIGH_QUEUE_URL", "NORMAL_QUEUE_URL", "LOW_QUEUE_URL"}
DEAD_LETTERS = {
    *("HIGH_DEAD_LETTERS_URL", "NORMAL_DEAD_LETTERS_URL", "LOW_DEAD_LETTERS_URL"),
    *("WEBHOOK_QUEUE_URL", "WEBHOOK_DEAD_LETTERS_URL"),
}
WEBHOOKS = {"DELIVERIES_TABLE", "WEBHOOK_QUEUE_URL"}
GRADERS = {"ADMIT_PRIVATE_ADDRESSES"}
AUDIT = {"AUDIT_TABLE"}
EXPORTS = CONTENT | {"EXPORT_BUCKET"}

# Function: module of its handler, timeout in seconds, what its environment has besides the base.
FUNCTIONS = {
    "AccessApi": ("functions.access.api", 29, AUDIT),
    "TasksApi": ("functions.tasks.api", 29, AUDIT),
    "GradersApi": ("functions.graders.api", 29, GRADERS | AUDIT),
    "CompletionsApi": ("functions.completions.api", 29, CONTENT | QUEUES | AUDIT),
    "ScoringApi": ("functions.scoring.api", 29, CONTENT | AUDIT),
    "ScoreExportApi": ("functions.scoring.export_api", 29, CONTENT | AUDIT),
    "ExportsApi": ("functions.exports.api", 29, EXPORTS | AUDIT | {"EXPORT_SCORES_ARN"}),
    "WriteExport": ("functions.exports.write_export", 900, EXPORTS),
    "FailExport": ("functions.exports.fail_export", 60, EXPORTS),
    "SweepExports": ("functions.exports.sweep_exports", 60, EXPORTS | {"EXPORT_SCORES_ARN"}),
    "DispatchChunks": (
        "functions.completions.dispatch_chunks",
        30,
        {"COMPLETIONS_TABLE", "SCORE_COMPLETIONS_ARN"},
    ),
    "GradeChunk": (
        "functions.scoring.grade_chunk",
        120,
        CONTENT | GRADERS | {"BUDGETS_TABLE", "API_URL"},
    ),
    "AwaitAnswers": ("functions.scoring.await_answers", 30, CONTENT),
    "CallbacksApi": ("functions.callbacks.api", 29, CONTENT | AUDIT),
    "FailChunk": ("functions.scoring.fail_chunk", 60, CONTENT),
    "ProjectVerdicts": ("functions.scoring.project_verdicts", 60, CONTENT | WEBHOOKS | AUDIT),
    "WebhooksApi": ("functions.webhooks.api", 29, WEBHOOKS | GRADERS | AUDIT),
    "DeliverEvents": ("functions.webhooks.deliver_events", 60, WEBHOOKS | GRADERS),
    "SweepDeliveries": ("functions.webhooks.sweep_deliveries", 60, WEBHOOKS),
    "CreateOrganization": ("functions.operations.create_organization", 30, set()),
    "SweepBatches": ("functions.operations.sweep_batches", 60, CONTENT | QUEUES | WEBHOOKS | AUDIT),
    "ListStuck": ("functions.operations.list_stuck", 30, CONTENT | QUEUES),
    "RedriveDeadLetters": (
        "functions.operations.redrive_dead_letters",
        60,
        QUEUES | DEAD_LETTERS,
    ),
    "ProbeGraders": ("functions.graders.probe_graders", 240, GRADERS),
    "ExportAudit": ("functions.access.export_audit", 900, AUDIT | {"AUDIT_BUCKET"}),
    "ReviewsApi": ("functions.reviews.api", 29, CONTENT | AUDIT | {"API_URL"}),
    "RewardsApi": ("functions.rewards.api", 29, AUDIT | {"REWARD_URL"}),
    "TrainersApi": ("functions.rewards.answer_trainers", 900, CONTENT | QUEUES | AUDIT),
    "ReviewPage": ("functions.reviews.serve_page", 29, set()),
    "FollowChanges": (
        "functions.completions.follow_changes",
        60,
        CONTENT | WEBHOOKS | {"API_URL", "REVIEW_TOPIC_ARN"},
    ),
    "PublishEvents": ("functions.webhooks.publish_events", 60, WEBHOOKS),
}

# They write Parquet and TFRecord, and have the layer that this takes.
WRITE_RECORDS = {"ScoreExportApi", "WriteExport"}

ROUTES = {
    "$default": "AccessApi",
    "ANY /api/v1/keys": "AccessApi",
    "ANY /api/v1/keys/{proxy+}": "AccessApi",
    "ANY /api/v1/audit": "AccessApi",
    "ANY /api/v1/tasks": "TasksApi",
    "ANY /api/v1/tasks/{proxy+}": "TasksApi",
    "ANY /api/v1/graders": "GradersApi",
    "ANY /api/v1/graders/{proxy+}": "GradersApi",
    "ANY /api/v1/completions": "CompletionsApi",
    "ANY /api/v1/completions/{proxy+}": "CompletionsApi",
    "ANY /api/v1/batches": "CompletionsApi",
    "ANY /api/v1/batches/{proxy+}": "CompletionsApi",
    "ANY /api/v1/runs": "CompletionsApi",
    "ANY /api/v1/runs/{proxy+}": "CompletionsApi",
    "ANY /api/v1/callbacks/{proxy+}": "CallbacksApi",
    "ANY /api/v1/webhooks": "WebhooksApi",
    "ANY /api/v1/webhooks/{proxy+}": "WebhooksApi",
    "ANY /api/v1/reviews": "ReviewsApi",
    "ANY /api/v1/reviews/{proxy+}": "ReviewsApi",
    "ANY /api/v1/review-links": "ReviewsApi",
    "ANY /api/v1/reward-urls": "RewardsApi",
    "ANY /api/v1/reward-urls/{proxy+}": "RewardsApi",
    "ANY /review": "ReviewPage",
    "ANY /review/{proxy+}": "ReviewPage",
    "ANY /api/v1/scores": "ScoringApi",
    "ANY /api/v1/scores/{proxy+}": "ScoringApi",
    "ANY /api/v1/scores/export": "ScoreExportApi",
    "ANY /api/v1/exports": "ExportsApi",
    "ANY /api/v1/exports/{proxy+}": "ExportsApi",
}


def test_there_are_the_functions_that_are_named_here(aws):
    assert set(aws.functions()) == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_handler_is_in_the_repository(aws, name):
    module, _, attribute = aws.functions()[name]["Handler"].rpartition(".")
    assert module == FUNCTIONS[name][0]
    source = REPOSITORY_ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert f"def {attribute}(" in source.read_text() or f"{attribute} =" in source.read_text()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_exactly_the_environment_that_it_reads(aws, name):
    variables = aws.functions()[name]["Environment"]["Variables"]
    assert set(variables) == BASE | FUNCTIONS[name][2]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_small_traced_and_logs_json(aws, name):
    properties = aws.functions()[name]
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert properties["MemorySize"] == 512
    assert properties["Timeout"] == FUNCTIONS[name][1]
    assert properties["TracingConfig"] == {"Mode": "Active"}
    assert properties["LoggingConfig"]["LogFormat"] == "JSON"
    assert len(properties["Layers"]) == (4 if name in WRITE_RECORDS else 3)


def test_only_aws_gets_the_layer_of_what_every_local_worker_has_already(aws, local):
    def described(synthesized):
        layers = synthesized.service.find_resources("AWS::Lambda::LayerVersion").values()
        return {each["Properties"]["Description"] for each in layers}

    assert described(aws) - described(local) == {"Autotune: dependencies", "Autotune: exports"}
    assert all(len(each["Layers"]) == 2 for each in local.functions().values())


def test_no_two_functions_share_a_role_or_a_log_group(aws):
    functions = aws.functions().values()
    roles = {json.dumps(each["Role"]) for each in functions}
    groups = {json.dumps(each["LoggingConfig"]["LogGroup"]) for each in functions}
    assert len(roles) == len(groups) == len(FUNCTIONS)


def test_every_log_group_forgets(aws):
    groups = aws.service.find_resources("AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 3
    assert {group["Properties"]["RetentionInDays"] for group in groups.values()} == {30}


@pytest.mark.parametrize(("target", "admitted"), [("aws", "false"), ("local", "true")])
def test_private_addresses_are_admitted_only_locally(request, target, admitted):
    functions = request.getfixturevalue(target).functions()
    for name in ("GradersApi", "GradeChunk", "ProbeGraders", "WebhooksApi", "DeliverEvents"):
        variables = functions[name]["Environment"]["Variables"]
        assert variables["ADMIT_PRIVATE_ADDRESSES"] == admitted


def test_routes_lead_to_the_function_of_their_domain(aws):
    integrations = aws.service.find_resources("AWS::ApiGatewayV2::Integration")
    targets = {
        logical_id: aws.function_name(each["Properties"]["IntegrationUri"])
        for logical_id, each in integrations.items()
    }
    routes = {
        each["Properties"]["RouteKey"]: targets[
            each["Properties"]["Target"]["Fn::Join"][1][1]["Ref"]
        ]
        for each in aws.service.find_resources("AWS::ApiGatewayV2::Route").values()
    }
    assert routes == ROUTES
    versions = {each["Properties"]["PayloadFormatVersion"] for each in integrations.values()}
    assert versions == {"2.0"}


def test_the_stage_is_throttled_and_has_an_access_log_without_texts(aws):
    [stage] = aws.service.find_resources("AWS::ApiGatewayV2::Stage").values()
    properties = stage["Properties"]
    assert properties["StageName"] == "$default"
    assert properties["DefaultRouteSettings"]["ThrottlingRateLimit"] == 500
    assert properties["DefaultRouteSettings"]["ThrottlingBurstLimit"] == 1000
    fields = json.loads(properties["AccessLogSettings"]["Format"])
    assert fields["requestId"] == "$context.requestId"
    assert not any("header" in value or "query" in value for value in fields.values())


@pytest.mark.parametrize(
    ("workflow", "file", "functions"),
    [
        ("ScoreCompletions", "score_completions", ("GradeChunk", "AwaitAnswers", "FailChunk")),
        ("ExportScores", "export_scores", ("WriteExport", "FailExport")),
    ],
)
def test_a_workflow_is_inline_traced_and_logs_no_texts(aws, workflow, file, functions):
    [properties] = [
        each["Properties"]
        for logical_id, each in aws.service.find_resources(
            "AWS::StepFunctions::StateMachine"
        ).items()
        if logical_id.startswith(workflow)
    ]
    definition = REPOSITORY_ROOT / "statemachines" / f"{file}.asl.json"
    assert json.loads(properties["DefinitionString"]) == json.loads(definition.read_text())
    substituted = {
        name: aws.function_name(reference)
        for name, reference in properties["DefinitionSubstitutions"].items()
    }
    assert substituted == {f"{name}FunctionArn": name for name in functions}
    assert all(f"${{{name}}}" in properties["DefinitionString"] for name in substituted)
    assert properties["LoggingConfiguration"]["Level"] == "ERROR"
    assert properties["LoggingConfiguration"]["IncludeExecutionData"] is False
    assert properties["TracingConfiguration"] == {"Enabled": True}
    assert properties["StateMachineType"] == "STANDARD"


def test_every_shard_of_graders_is_probed_every_five_minutes(aws):
    from autotune_platform.graders.repository import HEALTH_SHARDS

    [rule] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Events::Rule").values()
        if each["Properties"]["ScheduleExpression"] == "rate(5 minutes)"
    ]
    assert {aws.function_name(target["Arn"]) for target in rule["Targets"]} == {"ProbeGraders"}
    inputs = [json.loads(target["Input"]) for target in rule["Targets"]]
    assert inputs == [{"shard": shard} for shard in range(HEALTH_SHARDS)]
    assert aws.functions()["ProbeGraders"]["Timeout"] < 300


def test_scheduled_functions_run_once_each_time(aws):
    """EventBridge's retries concern its event alone; by Lambda's own a function runs anew."""
    resources = aws.service.to_json()["Resources"].values()
    rules = [each["Properties"] for each in resources if each["Type"] == "AWS::Events::Rule"]
    targets = [target for rule in rules for target in rule["Targets"]]
    assert all(target["RetryPolicy"]["MaximumRetryAttempts"] == 0 for target in targets)
    configured = {
        each["Properties"]["FunctionName"]["Ref"]: each["Properties"]
        for each in resources
        if each["Type"] == "AWS::Lambda::EventInvokeConfig"
    }
    scheduled = {target["Arn"]["Fn::GetAtt"][0] for target in targets}
    assert len(scheduled) == 5
    assert set(configured) == scheduled
    for each in configured.values():
        assert (each["MaximumRetryAttempts"], each["MaximumEventAgeInSeconds"]) == (0, 60)
        assert each["Qualifier"] == "$LATEST"


def test_links_lead_to_where_the_api_is(aws):
    for name in ("ReviewsApi", "FollowChanges"):
        url = aws.functions()[name]["Environment"]["Variables"]["API_URL"]
        assert url["Fn::GetAtt"][1] == "ApiEndpoint"


def test_outputs_name_what_operators_need(aws):
    outputs = aws.service.to_json()["Outputs"]
    assert {"ApiUrl", "ApiId", "CreateOrganizationFunctionName", "AlarmTopicArn"} <= set(outputs)


def test_graders_call_back_where_the_api_is(aws):
    url = aws.functions()["GradeChunk"]["Environment"]["Variables"]["API_URL"]
    assert url["Fn::GetAtt"][1] == "ApiEndpoint"


def test_graders_call_ministack_back_at_the_address_that_it_was_started_at(tmp_path):
    from infra.application import SERVICE_STACK_NAME, build_app

    context = {"target": "local", "api-origin": "http://127.0.0.1:4", "aws:cdk:bundling-stacks": []}
    assembly = build_app(context=context, outdir=tmp_path).synth()
    template = assembly.get_stack_by_name(SERVICE_STACK_NAME).template
    url, *others = [
        variables["API_URL"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function"
        and "API_URL" in (variables := each["Properties"]["Environment"]["Variables"])
    ]
    assert all(other == url for other in others)
    before, api, after = url["Fn::Join"][1]
    assert template["Resources"][api["Ref"]]["Type"] == "AWS::ApiGatewayV2::Api"
    assert before + after == "http://127.0.0.1:4/_aws/execute-api//$default"


def test_one_function_has_an_address_of_its_own_that_makers_of_reward_urls_know(aws):
    [(name, url)] = aws.service.find_resources("AWS::Lambda::Url").items()
    assert aws.function_name(url["Properties"]["TargetFunctionArn"]) == "TrainersApi"
    assert url["Properties"]["AuthType"] == "NONE"
    told = aws.functions()["RewardsApi"]["Environment"]["Variables"]["REWARD_URL"]
    assert told["Fn::Join"][1][0] == "https://"
    assert name in json.dumps(told)


def _reserved(synthesized):
    return {
        name: properties["ReservedConcurrentExecutions"]
        for name, properties in synthesized.functions().items()
        if "ReservedConcurrentExecutions" in properties
    }


def test_those_who_wait_for_rewards_leave_functions_to_the_rest(aws, local):
    assert _reserved(aws) == {"TrainersApi": 200}
    assert _reserved(local) == {"TrainersApi": 16}
