import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args

import pytest

from autotune.protocol.apprentice_events import ApprenticeTrainingChanged
from autotune.protocol.apprentice_trainings import ApprenticeTrainingError
from autotune_platform.apprentice.hosting.stepping import COUNTED_MESSAGE, STUCK_MESSAGE
from autotune_platform.apprentice.training.bounds import ABOVE_BOUND as JOB_ABOVE_BOUND
from autotune_platform.apprentice.training.watching import PAID_MESSAGE
from autotune_platform.audit.events import AUDITED_MESSAGE
from autotune_platform.graders.probing import GONE
from autotune_platform.ledger.comparing import ABOVE_BOUND, DIFFERS
from autotune_platform.ledger.prices import UNPRICED
from autotune_platform.ledger.unclear import WAITS_FOR_OPERATOR
from autotune_platform.projections.counting import COUNTED
from autotune_platform.scoring.sweeper import SWEPT

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "operators.md"


def test_dead_letters_and_failed_runs_call_a_person(aws):
    alarms = [
        each["Properties"] for each in aws.service.find_resources("AWS::CloudWatch::Alarm").values()
    ]
    metrics = sorted(alarm["MetricName"] for alarm in alarms)
    assert metrics == [
        "5xx",
        *["ApproximateAgeOfOldestMessage"] * 6,
        *["ApproximateNumberOfMessagesVisible"] * 13,
        *["AsyncEventsDropped"] * 12,
        "AuditEntriesNotWritten",
        "CallbacksRefused",
        "CallsNotHandedOver",
        "ConcurrentExecutions",
        "Duration",
        *["Errors"] * 12,
        *["ExecutionsAborted"] * 6,
        *["ExecutionsFailed"] * 6,
        *["ExecutionsTimedOut"] * 6,
        "GradersDown",
        "HostingNanoUsd",
        "HostingsStuck",
        *["IteratorAge"] * 4,
        "LlmBatchesUnresolved",
        "LlmCostsAboveBound",
        "LlmCostsDiffer",
        "LlmRowsUnpriced",
        "OldestDueBatchSeconds",
        "PlatformErrorPercent",
        *["ReadThrottleEvents"] * 8,
        "Throttles",
        "TrainingJobsAboveBound",
        "TrainingNanoUsd",
        "TrainingsNeedOperator",
        "UnreservedConcurrentExecutions",
        *["WriteThrottleEvents"] * 8,
    ]
    [topic] = aws.service.find_resources(
        "AWS::SNS::Topic", {"Properties": {"DisplayName": "Autotune alarms"}}
    )
    assert all(alarm["AlarmActions"] == [{"Ref": topic}] for alarm in alarms)
    beyond_one = {
        "5xx": {5},
        "ApproximateAgeOfOldestMessage": {900, 3_600, 86_400},
        "ConcurrentExecutions": {800},
        "Duration": {5_000},
        # A hundred US dollars a day.
        "HostingNanoUsd": {100_000_000_000},
        "TrainingNanoUsd": {100_000_000_000},
        "IteratorAge": {900_000},
        "OldestDueBatchSeconds": {900},
        # Of the 160 that API, dispatch and projection share, four fifths.
        "UnreservedConcurrentExecutions": {128},
    }
    for name, thresholds in beyond_one.items():
        found = {alarm["Threshold"] for alarm in alarms if alarm["MetricName"] == name}
        assert found == thresholds, name
    assert {alarm["Threshold"] for alarm in alarms if alarm["MetricName"] not in beyond_one} == {1}


def test_what_a_day_of_small_models_costs_calls_a_person(aws):
    found = {
        name.removeprefix("Alarms")[:-8]: each["Properties"]
        for name, each in aws.service.find_resources("AWS::CloudWatch::Alarm").items()
        if each["Properties"]["MetricName"].endswith("NanoUsd")
    }
    assert found.keys() == {"HostingSpend", "TrainingSpend"}
    for alarm in found.values():
        assert (alarm["Statistic"], alarm["Period"]) == ("Sum", 86_400)
        assert alarm["TreatMissingData"] == "notBreaching"


CLOUDWATCH = {"Service": "cloudwatch.amazonaws.com"}


def test_every_alarm_reaches_its_topic(aws):
    """Action, then the topic's policy, then the policy of the key that the topic is encrypted with.

    CloudWatch needs all three: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    """
    template = aws.service.to_json()
    resources = template["Resources"]
    alarms = {
        name: each["Properties"]
        for name, each in resources.items()
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    assert len(alarms) == 101
    for name, alarm in alarms.items():
        assert alarm.get("ActionsEnabled", True), name
        (action,) = alarm["AlarmActions"]
        topic = action["Ref"]
        assert resources[topic]["Type"] == "AWS::SNS::Topic"
        policies = [
            each["Properties"]["PolicyDocument"]["Statement"]
            for each in resources.values()
            if each["Type"] == "AWS::SNS::TopicPolicy" and action in each["Properties"]["Topics"]
        ]
        assert len(policies) == 1, "with two, the later one replaces the other"
        (publish,) = [
            each
            for each in policies[0]
            if each["Effect"] == "Allow" and each["Principal"] == CLOUDWATCH
        ]
        assert (publish["Action"], publish["Resource"]) == ("sns:Publish", action)
        assert set(publish["Condition"]) == {"StringEquals", "ArnLike"}
        assert publish["Condition"]["StringEquals"] == {
            "aws:SourceAccount": {"Ref": "AWS::AccountId"}
        }
        (pattern,) = publish["Condition"]["ArnLike"].values()
        assert fnmatchcase(_alarm_arn(alarm.get("AlarmName", name)), _resolved(pattern))
        denied = [each for each in policies[0] if each["Effect"] == "Deny"]
        assert all(
            each["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for each in denied
        )
        key = _key_behind(resources[topic]["Properties"]["KmsMasterKeyId"], aws)
        assert key.get("Enabled", True)
        used = [
            each
            for each in key["KeyPolicy"]["Statement"]
            if each["Effect"] == "Allow" and each["Principal"] == CLOUDWATCH
        ]
        granted = {action for each in used for action in each["Action"]}
        assert granted == {"kms:Decrypt", "kms:GenerateDataKey*"}


def _resolved(value):
    joined = value["Fn::Join"][1]
    names = {
        "AWS::Partition": "aws",
        "AWS::Region": "eu-west-1",
        "AWS::AccountId": "123456789012",
    }
    return "".join(part if isinstance(part, str) else names[part["Ref"]] for part in joined)


def _alarm_arn(name):
    return f"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:{name}"


def _key_behind(reference, aws):
    """Return the properties of the key that another stack exports the ARN or the id of."""
    exported = reference["Fn::ImportValue"]
    data = aws.data.to_json()
    (output,) = [
        each["Value"] for each in data["Outputs"].values() if each["Export"]["Name"] == exported
    ]
    key = data["Resources"][output["Fn::GetAtt"][0] if "Fn::GetAtt" in output else output["Ref"]]
    assert key["Type"] == "AWS::KMS::Key"
    return key["Properties"]


def test_topics_are_encrypted_and_refuse_plain_http(aws):
    topics = aws.service.find_resources("AWS::SNS::Topic")
    assert {each["Properties"]["DisplayName"] for each in topics.values()} == {
        "Autotune alarms",
        "Autotune reviews",
    }
    assert all(each["Properties"]["KmsMasterKeyId"] for each in topics.values())
    for topic in topics:
        refusals = [
            statement
            for policy in aws.service.find_resources("AWS::SNS::TopicPolicy").values()
            if policy["Properties"]["Topics"] == [{"Ref": topic}]
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Deny"
        ]
        assert [one["Condition"] for one in refusals] == [
            {"Bool": {"aws:SecureTransport": "false"}}
        ]


def test_a_schedule_that_fails_or_is_not_kept_calls_a_person(aws):
    watched = {"Errors": set(), "AsyncEventsDropped": set()}
    for each in aws.service.find_resources("AWS::CloudWatch::Alarm").values():
        if each["Properties"]["MetricName"] in watched:
            [dimension] = each["Properties"]["Dimensions"]
            watched[each["Properties"]["MetricName"]].add(dimension["Value"]["Ref"])
    scheduled = {
        target["Arn"]["Fn::GetAtt"][0]
        for each in aws.service.find_resources("AWS::Events::Rule").values()
        for target in each["Properties"]["Targets"]
    }
    assert len(scheduled) == 12
    assert watched == {"Errors": scheduled, "AsyncEventsDropped": scheduled}


def test_every_api_function_has_its_unwritten_audit_entries_counted(aws):
    from autotune_platform.audit.calls import NOT_WRITTEN

    filters = [
        each["Properties"]
        for name, each in aws.service.find_resources("AWS::Logs::MetricFilter").items()
        if "AuditEntriesNotWritten" in name
    ]
    groups = {each["LogGroupName"]["Ref"] for each in filters}
    functions = aws.functions()
    apis = [name for name in functions if name.endswith("Api")]
    assert groups == {functions[name]["LoggingConfig"]["LogGroup"]["Ref"] for name in apis}
    assert {each["FilterPattern"] for each in filters} == {f'{{ $.message = "{NOT_WRITTEN}" }}'}
    assert {
        (one["MetricNamespace"], one["MetricName"], one["MetricValue"])
        for each in filters
        for one in each["MetricTransformations"]
    } == {("Autotune", "AuditEntriesNotWritten", "1")}


@pytest.mark.parametrize(
    ("name", "message", "value"),
    [
        ("GradersDown", GONE, "1"),
        ("HostingNanoUsd", COUNTED_MESSAGE, "$.nano_usd"),
        ("HostingSeconds", COUNTED_MESSAGE, "$.seconds"),
        ("HostingsStuck", STUCK_MESSAGE, "1"),
        ("LlmBatchesUnresolved", WAITS_FOR_OPERATOR, "1"),
        ("LlmCostsAboveBound", ABOVE_BOUND, "1"),
        ("LlmCostsDiffer", DIFFERS, "1"),
        ("LlmRowsUnpriced", UNPRICED, "1"),
        ("OldestDueBatchSeconds", SWEPT, "$.oldest_due_seconds"),
        ("TrainingJobsAboveBound", JOB_ABOVE_BOUND, "1"),
        ("PlatformErrorPercent", COUNTED, "$.platform_error_percent"),
    ],
)
def test_what_logs_say_becomes_a_metric(aws, name, message, value):
    filters = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Logs::MetricFilter").values()
        if each["Properties"]["MetricTransformations"][0]["MetricName"] == name
    ]
    # Of rows above their bound, four functions write, and two of jobs.
    assert len(filters) == {"LlmCostsAboveBound": 4, "TrainingJobsAboveBound": 2}.get(name, 1)
    assert len({str(made["LogGroupName"]) for made in filters}) == len(filters)
    for made in filters:
        assert made["FilterPattern"] == f'{{ $.message = "{message}" }}'
        assert made["MetricTransformations"][0]["MetricValue"] == value


def test_ends_of_trainings_are_counted_by_what_came_of_them(aws):
    told = set(ApprenticeTrainingChanged.model_json_schema(by_alias=True)["properties"])
    found = {
        one["Properties"]["MetricTransformations"][0]["MetricName"]: one["Properties"]
        for one in aws.service.find_resources("AWS::Logs::MetricFilter").values()
        if AUDITED_MESSAGE in one["Properties"]["FilterPattern"]
    }
    states = ["TrainingsHosted", "TrainingsDiscarded", "TrainingsFailed"]
    assert found.keys() == {*states, "TrainingNanoUsd", "TrainingsNeedOperator"}
    for name, made in found.items():
        pattern = made["FilterPattern"]
        assert '$.action = "apprentice_training"' in pattern, name
        assert '$.data.change = "ended"' in pattern, name
        # What comes again is no further count, and may be the alarm that was lost.
        is_count = name != "TrainingsNeedOperator"
        assert ('$.delivery = "first"' in pattern) == is_count, name
        assert {field.removeprefix("data.") for field in _data_fields(pattern)} <= told, name
    assert [
        f'$.data.state = "{state}"' in found[name]["FilterPattern"]
        for name, state in zip(states, ("hosted", "discarded", "failed"), strict=True)
    ] == [True] * 3
    spent = found["TrainingNanoUsd"]["MetricTransformations"][0]["MetricValue"]
    assert spent == "$.data.spentNanoUsd"
    [left] = [
        one["Properties"]
        for one in aws.service.find_resources("AWS::Logs::MetricFilter").values()
        if PAID_MESSAGE in one["Properties"]["FilterPattern"]
    ]
    [metric] = left["MetricTransformations"]
    assert (metric["MetricName"], metric["MetricValue"]) == ("TrainingNanoUsd", "$.nano_usd")
    named = re.findall(
        r'\$\.data\.error = "([a-z_]+)"', found["TrainingsNeedOperator"]["FilterPattern"]
    )
    assert {"hosting_capacity", "hosting_quota", "not_hosted"} <= set(named)
    assert "no_capacity" in named  # most often a quota, which an operator has raised
    assert {"data_refused", "artifact_refused"} <= set(named)  # somebody changed bytes in storage
    assert set(named) <= set(get_args(ApprenticeTrainingError))


def _data_fields(pattern):
    return re.findall(r"\$\.(data\.[A-Za-z]+)", pattern)


def test_the_operators_guide_has_an_entry_for_each_alarm(aws):
    """Each row names alarms, with an ellipsis for what several of them share."""
    table = GUIDE.read_text().partition("## Alarms")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = {
        name.replace("\N{HORIZONTAL ELLIPSIS}", "*")
        for row in rows
        for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])
    }
    alarms = [
        name.removeprefix("Alarms")[:-8]
        for name in aws.service.find_resources("AWS::CloudWatch::Alarm")
    ]
    assert [
        name for name in alarms if not any(fnmatchcase(name, f"*{known}") for known in named)
    ] == []
    assert [
        known for known in named if not any(fnmatchcase(name, f"*{known}") for name in alarms)
    ] == []


def test_the_dashboard_draws_what_alarms_watch(aws):
    [dashboard] = aws.service.find_resources("AWS::CloudWatch::Dashboard").values()
    drawn = str(dashboard["Properties"]["DashboardBody"])
    for name in (
        *("GradersDown", "LlmBatchesUnresolved", "OldestDueBatchSeconds"),
        *("LlmCostsAboveBound", "LlmCostsDiffer", "LlmRowsUnpriced"),
        *("PlatformErrorPercent", "Throttles"),
        *("TrainingsHosted", "TrainingsDiscarded", "TrainingsFailed", "TrainingsNeedOperator"),
        *("TrainingNanoUsd", "HostingNanoUsd", "HostingSeconds", "HostingsStuck"),
        "TrainingJobsAboveBound",
    ):
        assert name in drawn


def test_a_person_is_called_when_strangers_take_the_callbacks_of_graders(aws):
    """What a grader sends in vain for five minutes ends ``callback_timeout``, which is final."""
    [found] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Logs::MetricFilter").values()
        if each["Properties"]["MetricTransformations"][0]["MetricName"] == "CallbacksRefused"
    ]
    status, route = re.findall(r'\(\$\.(?:status|routeKey) = "([^"]+)"\)', found["FilterPattern"])
    [log_group] = aws.service.find_resources(
        "AWS::Logs::LogGroup",
        {"Properties": {"LogGroupName": "/aws/vendedlogs/apigateway/autotune"}},
    )
    assert found["LogGroupName"] == {"Ref": log_group}
    [stage] = aws.service.find_resources("AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["Properties"]["AccessLogSettings"]["Format"])
    assert (line["status"], line["routeKey"]) == ("$context.status", "$context.routeKey")
    throttled = stage["Properties"]["RouteSettings"]
    assert status == "429"
    assert [key for key in throttled if fnmatchcase(key, route)] == [
        "ANY /api/v1/callbacks/{proxy+}"
    ]
