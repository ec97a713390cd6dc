from fnmatch import fnmatchcase


def test_dead_letters_and_failed_runs_call_a_person(aws):
    alarms = [
        each["Properties"] for each in aws.service.find_resources("AWS::CloudWatch::Alarm").values()
    ]
    metrics = sorted(alarm["MetricName"] for alarm in alarms)
    assert metrics == [
        *["ApproximateNumberOfMessagesVisible"] * 7,
        *["AsyncEventsDropped"] * 5,
        "AuditEntriesNotWritten",
        *["Errors"] * 5,
        *["ExecutionsAborted"] * 2,
        *["ExecutionsFailed"] * 2,
        *["ExecutionsTimedOut"] * 2,
        *["IteratorAge"] * 3,
    ]
    [topic] = aws.service.find_resources(
        "AWS::SNS::Topic", {"Properties": {"DisplayName": "Autotune alarms"}}
    )
    assert all(alarm["AlarmActions"] == [{"Ref": topic}] for alarm in alarms)
    assert all(
        alarm["Threshold"] == (900_000 if alarm["MetricName"] == "IteratorAge" else 1)
        for alarm in alarms
    )


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
    assert len(alarms) == 27
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
    assert len(scheduled) == 5
    assert watched == {"Errors": scheduled, "AsyncEventsDropped": scheduled}


def test_every_api_function_has_its_unwritten_audit_entries_counted(aws):
    from autotune_platform.audit.calls import NOT_WRITTEN

    filters = [
        each["Properties"]
        for each in aws.service.find_resources("AWS::Logs::MetricFilter").values()
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
