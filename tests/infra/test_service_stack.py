import json

import pytest

from infra.config import REPOSITORY_ROOT

# Function: module of its handler, timeout in seconds.
FUNCTIONS = {
    "AccessApi": ("functions.access.api", 29),
    "AuditApi": ("functions.audit.api", 29),
    "ExportAudit": ("functions.audit.export_audit", 900),
    "WebhooksApi": ("functions.webhooks.api", 29),
    "PublishEvents": ("functions.webhooks.publish_events", 60),
    "DeliverEvents": ("functions.webhooks.deliver_events", 60),
    "SweepDeliveries": ("functions.webhooks.sweep_deliveries", 60),
    "GradersApi": ("functions.graders.api", 29),
    "ProbeGraders": ("functions.graders.probe_graders", 240),
    "TasksApi": ("functions.tasks.api", 29),
    "CompletionsApi": ("functions.completions.api", 29),
    "WaitingApi": ("functions.completions.waiting_api", 29),
    "ScoresApi": ("functions.completions.scores_api", 29),
    "ProjectVerdicts": ("functions.projections.project_verdicts", 60),
    "FollowChanges": ("functions.projections.follow_changes", 60),
    "OverviewApi": ("functions.overview.api", 29),
    "RunsApi": ("functions.runs.api", 29),
    "DispatchChunks": ("functions.scoring.dispatch_chunks", 30),
    "GradeChunk": ("functions.scoring.grade_chunk", 120),
    "AwaitAnswers": ("functions.scoring.await_answers", 30),
    "ContinueRun": ("functions.scoring.continue_run", 30),
    "FailRun": ("functions.scoring.fail_run", 60),
    "CallbacksApi": ("functions.scoring.callbacks_api", 29),
    "SweepBatches": ("functions.scoring.sweep_batches", 60),
    "ReviewsApi": ("functions.reviews.api", 29),
    "Pages": ("functions.console.serve_pages", 29),
    "ReviewPage": ("functions.console.serve_pages", 29),
    "RewardsApi": ("functions.rewards.api", 29),
    "TrainersApi": ("functions.rewards.answer_trainers", 900),
    "ExportsApi": ("functions.exports.api", 29),
    "ScoreExportApi": ("functions.exports.direct_api", 29),
    "WriteExport": ("functions.exports.write_export", 900),
    "FailExport": ("functions.exports.fail_export", 60),
    "SweepExports": ("functions.exports.sweep_exports", 60),
    "ApprenticeApi": ("functions.apprentice.api", 29),
    "ApprenticeRunsApi": ("functions.apprentice.runs_api", 29),
    "WorkRuns": ("functions.apprentice.work_runs", 300),
    "AnswerLinear": ("functions.apprentice.answer_linear", 25),
    "ScoreSimilarity": ("functions.apprentice.score_similarity", 30),
    "ApprenticeReportsApi": ("functions.apprentice.reports_api", 29),
    "ApprenticeExamplesApi": ("functions.apprentice.examples_api", 29),
    "SweepHostings": ("functions.apprentice.sweep_hostings", 60),
    "ApprenticeTrainingsApi": ("functions.apprentice.trainings_api", 29),
    "FreezeExamples": ("functions.apprentice.freeze_examples", 900),
    "TrainLinear": ("functions.apprentice.train_linear", 900),
    "TrainOnSageMaker": ("functions.apprentice.train_on_sage_maker", 300),
    "DeployStudent": ("functions.apprentice.deploy_student", 60),
    "VerifyArtifact": ("functions.apprentice.verify_artifact", 900),
    "ValidateStudent": ("functions.apprentice.validate_student", 900),
    "HostStudent": ("functions.apprentice.host_student", 300),
    "FailTraining": ("functions.apprentice.fail_training", 60),
    "SweepTrainings": ("functions.apprentice.sweep_trainings", 60),
    "FollowRuns": ("functions.apprentice.follow_runs", 900),
    "SweepRuns": ("functions.apprentice.sweep_runs", 300),
    "DecksApi": ("functions.decks.api", 29),
    "SamplesApi": ("functions.decks.samples_api", 29),
    "DeckFeedbackApi": ("functions.decks.feedback_api", 29),
    "DeckMeasuresApi": ("functions.decks.measures_api", 29),
    "DeckTelemetryApi": ("functions.decks.telemetry_api", 29),
    "IngestUrlsApi": ("functions.decks.ingest_urls_api", 29),
    "IngestApi": ("functions.decks.ingest_api", 29),
    "EraseExpired": ("functions.decks.erase_expired", 300),
    "EraseDecks": ("functions.decks.erase_decks", 300),
    "DeckRunsApi": ("functions.decks.runs_api", 29),
    "DeckEditsApi": ("functions.decks.edits_api", 29),
    "AdvanceDeckEdits": ("functions.decks.advance_deck_edits", 120),
    "AdvanceDeckRun": ("functions.decks.advance_deck_run", 300),
    "SweepDeckRuns": ("functions.decks.sweep_runs", 60),
    "LedgerApi": ("functions.ledger.api", 29),
    "LlmBatchesApi": ("functions.ledger.batches_api", 29),
    "ConnectionsApi": ("functions.ledger.connections_api", 29),
    "WorkLlmBatch": ("functions.ledger.work_batch", 300),
    "ImportsApi": ("functions.ledger.imports_api", 29),
    "CaptureCalls": ("functions.decks.capture_calls", 60),
    "ChatApi": ("functions.compatible.chat_api", 29),
    "OpenAiApi": ("functions.compatible.api", 29),
    "ImportRequests": ("functions.ledger.import_requests", 300),
    "SweepLedger": ("functions.ledger.sweep_ledger", 60),
    "CreateOrganization": ("functions.operations.create_organization", 30),
    "DeleteOrganization": ("functions.operations.delete_organization", 45),
    "ManageOrganizations": ("functions.operations.manage_organizations", 30),
    "ListStuck": ("functions.operations.list_stuck", 30),
    "RedriveDeadLetters": ("functions.operations.redrive_dead_letters", 60),
}

# Where a deployment has an OpenID provider.
WITH_OIDC = {"OidcApi": ("functions.access.oidc_api", 29)}

# They write Parquet and TFRecord, and have the layer that this takes.
WRITE_RECORDS = {"ScoreExportApi", "WriteExport"}
COMPUTE = {
    "AdvanceDeckEdits",
    "AnswerLinear",
    "DeckEditsApi",
    "DeckMeasuresApi",
    "TrainLinear",
    "ValidateStudent",
}

EMBED = {"ScoreSimilarity"}

# They do the same to thousands of things, several at once.
WHOLE_PROCESSOR = {
    "AnswerLinear",
    "DeleteOrganization",
    "FollowChanges",
    "FollowRuns",
    "FreezeExamples",
    "SweepRuns",
    "SweepBatches",
    "ValidateStudent",
    "VerifyArtifact",
}
MEMORY_MB = {
    **dict.fromkeys(WHOLE_PROCESSOR, 1_769),
    **dict.fromkeys(("ScoreSimilarity", "TrainLinear"), 3_008),
}

DISK_MB = {"WriteExport": 10_240, "FreezeExamples": 1_024}


def test_there_are_the_functions_that_are_named_here(aws):
    assert set(aws.functions()) == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_handler_is_in_the_repository(aws, name):
    module, _, attribute = aws.functions()[name]["Handler"].rpartition(".")
    assert module == FUNCTIONS[name][0]
    source = REPOSITORY_ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert f"def {attribute}(" in source.read_text() or f"{attribute} =" in source.read_text()


# Its route cannot move.
ELSEWHERE = {"ReviewPage": "Reviews"}


def test_a_function_is_in_the_stack_of_its_domain(aws):
    for stack, template in aws.templates.items():
        for each in template["Resources"].values():
            if each["Type"] == "AWS::Lambda::Function":
                _, folder, _, _ = each["Properties"]["Handler"].split(".")
                name = each["Properties"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
                assert stack == ELSEWHERE.get(name, folder.capitalize())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_small_traced_and_logs_json(aws, name):
    properties = aws.functions()[name]
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert properties["MemorySize"] == MEMORY_MB.get(name, 512)
    disk = properties.get("EphemeralStorage", {"Size": 512})
    assert disk == {"Size": DISK_MB.get(name, 512)}
    assert properties["Timeout"] == FUNCTIONS[name][1]
    assert properties.get("RecursiveLoop") == ("Allow" if name == "WorkRuns" else None)
    assert properties["TracingConfig"] == {"Mode": "Active"}
    assert properties["LoggingConfig"]["LogFormat"] == "JSON"
    assert len(properties["Layers"]) == (4 if name in WRITE_RECORDS | COMPUTE | EMBED else 3)


def test_only_aws_gets_the_layer_of_what_every_local_worker_has_already(aws, local):
    def described(synthesized):
        layers = synthesized.service.find_resources("AWS::Lambda::LayerVersion").values()
        return {each["Properties"]["Description"] for each in layers}

    assert described(aws) - described(local) == {
        "Autotune: dependencies",
        "Autotune: exports",
        "Autotune: numbers",
        "Autotune: similarity",
    }
    assert all(len(each["Layers"]) == 2 for each in local.functions().values())


def test_no_two_functions_share_a_role_or_a_log_group(aws):
    functions = aws.functions().values()
    roles = {json.dumps(each["Role"]) for each in functions}
    groups = {json.dumps(each["LoggingConfig"]["LogGroup"]) for each in functions}
    assert len(roles) == len(groups) == len(FUNCTIONS)


def test_every_log_group_forgets(aws):
    groups = aws.service.find_resources("AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 7
    assert {group["Properties"]["RetentionInDays"] for group in groups.values()} == {30}


@pytest.mark.parametrize(("target", "admitted"), [("aws", "false"), ("local", "true")])
def test_private_addresses_are_admitted_only_locally(request, target, admitted):
    functions = request.getfixturevalue(target).functions()
    for name in ("GradersApi", "GradeChunk", "ProbeGraders", "WebhooksApi", "DeliverEvents"):
        variables = functions[name]["Environment"]["Variables"]
        assert variables["ADMIT_PRIVATE_ADDRESSES"] == admitted


def test_the_stage_is_throttled_and_has_an_access_log_without_texts(aws):
    [stage] = aws.service.find_resources("AWS::ApiGatewayV2::Stage").values()
    properties = stage["Properties"]
    assert properties["StageName"] == "$default"
    assert properties["DefaultRouteSettings"]["ThrottlingRateLimit"] == 500
    assert properties["DefaultRouteSettings"]["ThrottlingBurstLimit"] == 1000
    fields = json.loads(properties["AccessLogSettings"]["Format"])
    assert fields["requestId"] == "$context.requestId"
    assert not any("header" in value or "query" in value for value in fields.values())


def test_what_needs_no_key_is_throttled_apart(aws):
    """A stage is refused whose settings name a route that is not there yet."""
    [stage] = aws.service.find_resources("AWS::ApiGatewayV2::Stage").values()
    settings = stage["Properties"]["RouteSettings"]
    assert set(settings) == {
        "$default",
        "POST /api/v1/sessions/exchange",
        "GET /api/v1/sessions/oidc",
        "ANY /api/v1/callbacks/{proxy+}",
        "ANY /console",
        "ANY /console/{proxy+}",
        "ANY /review",
        "ANY /review/{proxy+}",
        "ANY /v1/chat/completions",
        "ANY /v1/models",
        "ANY /v1/files",
        "ANY /v1/files/{proxy+}",
        "ANY /v1/batches",
        "ANY /v1/batches/{proxy+}",
        "ANY /i/{proxy+}",
    }
    throttle = {"ThrottlingRateLimit": 250, "ThrottlingBurstLimit": 500}
    assert all(each == throttle for each in settings.values())
    assert {"Access", "Console", "Scoring"} <= set(stage["DependsOn"])


@pytest.mark.parametrize(
    ("workflow", "file", "functions"),
    [
        (
            "ScoreCompletions",
            "score_completions",
            ("GradeChunk", "AwaitAnswers", "ContinueRun", "FailRun"),
        ),
        ("ExportScores", "export_scores", ("WriteExport", "FailExport")),
        ("WorkDeckRun", "work_deck_run", ("AdvanceDeckRun", "AdvanceDeckEdits")),
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


def test_every_part_of_the_open_batches_is_swept_every_minute(aws):
    [rule] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Events::Rule").values()
        if "SweepBatches"
        in {aws.function_name(one["Arn"]) for one in each["Properties"]["Targets"]}
    ]
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    inputs = [json.loads(target["Input"]) for target in rule["Targets"]]
    assert inputs == [{"part": part, "parts": len(inputs)} for part in range(len(inputs))]
    assert len(inputs) > 1


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
    assert len(scheduled) == 12
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


def test_graders_call_ministack_back_at_the_address_that_it_was_started_at(synthesize, tmp_path):
    synthesized = synthesize("local", tmp_path, **{"api-origin": "http://127.0.0.1:4"})
    url, *others = [
        variables["API_URL"]
        for each in synthesized.functions().values()
        if "API_URL" in (variables := each["Environment"]["Variables"])
    ]
    assert all(other == url for other in others)
    before, api, after = url["Fn::Join"][1]
    [expected] = synthesized.service.find_resources("AWS::ApiGatewayV2::Api")
    assert api == {"Ref": expected}
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


def test_those_who_wait_leave_functions_to_the_rest_and_grading_has_its_own(aws, local):
    exports = ("WriteExport", "ScoreExportApi")
    others = ("GradersApi", "ImportRequests", "ConnectionsApi", "AdvanceDeckRun")
    slow = dict.fromkeys((*exports, *others), 20)
    waiting = {"TrainersApi": 170, "WaitingApi": 170}
    models = {"WorkLlmBatch": 40, "ChatApi": 20}
    assert _reserved(aws) == {**waiting, "GradeChunk": 320, **models, **slow}
    assert sum(_reserved(aws).values()) == 840
    assert _reserved(local) == {"TrainersApi": 16, "WaitingApi": 16}
