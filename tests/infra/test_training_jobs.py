"""What jobs that train leave in the bucket is encrypted with the key of all data."""

import json

from tests.support.permissions import listed


def test_jobs_are_asked_to_use_the_buckets_key_and_may_through_s3_alone(aws):
    told = aws.functions()["TrainOnSageMaker"]["Environment"]["Variables"]["TRAINING_KEY_ARN"]
    (files,) = [
        one["Properties"]
        for name, one in aws.data.find_resources("AWS::S3::Bucket").items()
        if name.startswith("ApprenticeFiles")
    ]
    (rule,) = files["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    key = rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    assert key["Fn::GetAtt"][0] in json.dumps(told)

    granted = [
        statement
        for policy in aws.service.find_resources("AWS::IAM::Policy").values()
        if any("JobsRole" in json.dumps(role) for role in policy["Properties"]["Roles"])
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if any(action.startswith("kms:") for action in listed(statement["Action"]))
    ]
    assert {json.dumps(one["Resource"]) for one in granted} == {json.dumps(told)}
    actions = {action for one in granted for action in listed(one["Action"])}
    assert {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"} <= actions
    assert "kms:CreateGrant" not in actions
    for one in granted:
        assert "s3." in json.dumps(one["Condition"]["StringEquals"]["kms:ViaService"])
