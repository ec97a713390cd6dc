import json
from collections import Counter

import pytest


def queues_by_priority(synthesized):
    """The three queues, by the priority in their logical id."""
    return {
        priority: (logical_id, each["Properties"])
        for logical_id, each in synthesized.service.find_resources("AWS::SQS::Queue").items()
        for priority in ("High", "Normal", "Low")
        if logical_id.startswith(f"{priority}PriorityQueue")
    }


def test_what_a_consumer_refuses_five_times_becomes_a_dead_letter(aws):
    queues = queues_by_priority(aws)
    assert set(queues) == {"High", "Normal", "Low"}
    dead_letters = {
        each["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0] for _, each in queues.values()
    }
    assert len(dead_letters) == 3
    assert {each["RedrivePolicy"]["maxReceiveCount"] for _, each in queues.values()} == {5}
    aws.service.resource_count_is("AWS::SQS::Queue", 19)


def test_operators_move_the_dead_letters_of_every_queue_back(aws):
    """A queue that is added needs no line anywhere: its dead letters are known."""
    queues = aws.service.find_resources("AWS::SQS::Queue")
    policies = [each["Properties"].get("RedrivePolicy") for each in queues.values()]
    dead = {one["deadLetterTargetArn"]["Fn::GetAtt"][0] for one in policies if one}
    drained = {key for key, each in queues.items() if "RedrivePolicy" in each["Properties"]}
    assert len(dead) == len(drained) == 6
    redrives = aws.functions()["RedriveDeadLetters"]
    told = json.dumps(redrives["Environment"]["Variables"]["DEAD_LETTERS"])
    assert {key for key in queues if f'"{key}"' in told} == dead | drained


def test_messages_stay_invisible_for_six_timeouts_of_their_consumer(aws):
    timeout = aws.functions()["DispatchChunks"]["Timeout"]
    for _, queue in queues_by_priority(aws).values():
        assert queue["VisibilityTimeout"] >= 6 * timeout


def test_one_function_drains_one_webhook_so_that_a_slow_one_holds_up_no_other(aws):
    queues = aws.service.find_resources("AWS::SQS::Queue")
    [(logical_id, queue)] = [
        (key, each["Properties"]) for key, each in queues.items() if key.startswith("WebhooksQueue")
    ]
    assert queue["VisibilityTimeout"] >= 6 * aws.functions()["DeliverEvents"]["Timeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
    [mapping] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if each["Properties"]["EventSourceArn"].get("Fn::GetAtt") == [logical_id, "Arn"]
    ]
    assert aws.function_name({"Fn::GetAtt": [mapping["FunctionName"]["Ref"]]}) == "DeliverEvents"
    assert mapping["BatchSize"] == 1
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 50}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_queues_are_encrypted_and_refuse_plain_http(aws):
    queues = aws.service.find_resources("AWS::SQS::Queue")
    assert {each["Properties"]["SqsManagedSseEnabled"] for each in queues.values()} == {True}
    refusals = [
        statement
        for policy in aws.service.find_resources("AWS::SQS::QueuePolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]
    assert len(refusals) == len(queues)


@pytest.mark.parametrize(
    ("priority", "concurrency", "window"), [("High", 20, 0), ("Normal", 10, 0), ("Low", 2, 5)]
)
def test_a_higher_priority_is_drained_faster(aws, priority, concurrency, window):
    logical_id, _ = queues_by_priority(aws)[priority]
    [mapping] = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if each["Properties"]["EventSourceArn"].get("Fn::GetAtt") == [logical_id, "Arn"]
    ]
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": concurrency}
    assert mapping["MaximumBatchingWindowInSeconds"] == window
    assert mapping["BatchSize"] == 10
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "ProjectVerdicts",
            [
                ("INSERT", "decided#", {}),
                ("INSERT", "verdict#", {"NewImage": {"alone": {"BOOL": [True]}}}),
                ("INSERT", "opinion#", {"NewImage": {"alone": {"BOOL": [True]}}}),
            ],
        ),
        ("FollowChanges", [("INSERT", "review", {}), ("REMOVE", "content", {})]),
        ("PublishEvents", [("INSERT", "event#", {})]),
        (
            "FollowRuns",
            [
                ("INSERT", "run", {}),
                ("INSERT", "configuration#", {}),
                ("INSERT", "version#", {}),
                ("MODIFY", "version#", {}),
                (
                    "MODIFY",
                    "run",
                    {"NewImage": {"state": {"S": ["answered", "refused", "failed"]}}},
                ),
            ],
        ),
    ],
)
def test_a_stream_is_followed_from_its_start_for_what_the_function_is_about(aws, name, changes):
    mappings = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if aws.function_name({"Fn::GetAtt": [each["Properties"]["FunctionName"]["Ref"]]}) == name
    ]
    assert mappings
    for mapping in mappings:
        assert mapping["StartingPosition"] == "TRIM_HORIZON"
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["BisectBatchOnFunctionError"]
        assert mapping["MaximumRetryAttempts"] == 10
        assert "OnFailure" in mapping["DestinationConfig"]
        assert [json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"]] == [
            {
                "eventName": [event],
                "dynamodb": {"Keys": {"sk": {"S": [{"prefix": prefix}]}}, **image},
            }
            for event, prefix, image in changes
        ]


def test_no_more_functions_follow_a_table_than_may_read_a_shard_at_once(aws):
    followed = Counter(
        json.dumps(each["Properties"]["EventSourceArn"])
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if each["Properties"].get("StartingPosition")
    )
    assert sorted(followed.values()) == [1, 1, 1, 2, 2]


def test_events_that_are_stored_beside_what_happened_are_followed(aws):
    mappings = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Lambda::EventSourceMapping").values()
        if each["Properties"]["FunctionName"]
        == {"Ref": aws.functions()["PublishEvents"]["logicalId"]}
    ]
    assert sorted(
        table
        for mapping in mappings
        for table in ("Registry", "Ledger", "Decks", "Completions", "Apprentice")
        if table in json.dumps(mapping["EventSourceArn"])
    ) == ["Apprentice", "Decks", "Ledger", "Registry"]
    failures = {json.dumps(mapping["DestinationConfig"]["OnFailure"]) for mapping in mappings}
    assert len(failures) == 4, "each stream's failures are told apart"
