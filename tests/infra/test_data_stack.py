import json
import re

from aws_cdk import App, Environment
from aws_cdk.assertions import Match

from infra.application import DATA_STACK_NAME
from infra.config import DeploymentConfig
from infra.constructs.customer_keys import SECRET_KINDS
from infra.stacks.data_stack import DataStack

TABLE = "AWS::DynamoDB::GlobalTable"
IMPORT = re.compile(r'"Fn::ImportValue": "([^"]+)"')


def replica(table):
    [only] = table["Properties"]["Replicas"]
    return only


def test_tables_are_encrypted_with_the_customer_key_and_recoverable(aws):
    tables = aws.data.find_resources(TABLE)
    assert len(tables) == 8
    for table in tables.values():
        properties = table["Properties"]
        assert properties["BillingMode"] == "PAY_PER_REQUEST"
        assert properties["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
        assert "Fn::GetAtt" in replica(table)["SSESpecification"]["KMSMasterKeyId"]
        assert replica(table)["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        assert properties["TimeToLiveSpecification"] == {
            "AttributeName": "expires_at",
            "Enabled": True,
        }
        assert [key["AttributeName"] for key in properties["KeySchema"]] == ["pk", "sk"]


def test_on_aws_data_survives_its_stack(aws):
    manifest = json.loads((aws.assembly / "manifest.json").read_text())
    assert manifest["artifacts"]["autotune-data"]["properties"]["terminationProtection"] is True
    stateful = [TABLE, "AWS::S3::Bucket", "AWS::KMS::Key"]
    for kind in stateful:
        for resource in aws.data.find_resources(kind).values():
            assert resource["DeletionPolicy"] == "Retain"
            assert resource["UpdateReplacePolicy"] == "Retain"
    for table in aws.data.find_resources(TABLE).values():
        assert replica(table)["DeletionProtectionEnabled"] is True


def test_locally_data_goes_with_its_stack(local):
    for kind in [TABLE, "AWS::S3::Bucket", "AWS::KMS::Key"]:
        for resource in local.data.find_resources(kind).values():
            assert resource["DeletionPolicy"] == "Delete"
    for table in local.data.find_resources(TABLE).values():
        assert replica(table)["DeletionProtectionEnabled"] is False


def indexes_named(name, synthesized):
    return [
        index
        for table in synthesized.data.find_resources(TABLE).values()
        for index in table["Properties"].get("GlobalSecondaryIndexes", [])
        if index["IndexName"] == name
    ]


def index_named(name, synthesized):
    [index] = indexes_named(name, synthesized)
    return index


def test_the_registry_and_decks_list_an_organizations_entities_by_collection(aws):
    indexes = indexes_named("byCollection", aws)
    assert len(indexes) == 2
    for index in indexes:
        assert [key["AttributeName"] for key in index["KeySchema"]] == ["collection", "pk"]
        assert index["Projection"] == {"ProjectionType": "ALL"}


def test_the_index_of_scores_projects_small_attributes_only(aws):
    index = index_named("scoresByTask", aws)
    assert [key["AttributeName"] for key in index["KeySchema"]] == ["score_shard", "score_time"]
    assert index["Projection"]["ProjectionType"] == "INCLUDE"
    assert set(index["Projection"]["NonKeyAttributes"]) == {
        *(
            "organization_id",
            "task_id",
            "model_id",
            "grader_id",
            "grader_version",
            "state",
            "value",
        ),
        *("confidence", "reason_code", "reported_version", "attempts"),
        *("submitted_at", "decided_at", "batch_id", "opinions", "decided_by", "review_id"),
    }


def test_content_is_private_and_encrypted(aws):
    aws.data.has_resource_properties(
        "AWS::S3::Bucket",
        {
            "PublicAccessBlockConfiguration": {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {
                        "BucketKeyEnabled": True,
                        "ServerSideEncryptionByDefault": {
                            "SSEAlgorithm": "aws:kms",
                            "KMSMasterKeyID": Match.any_value(),
                        },
                    }
                ]
            },
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        },
    )


def test_texts_that_expire_are_gone(aws):
    [content] = [
        each["Properties"]
        for name, each in aws.data.find_resources("AWS::S3::Bucket").items()
        if name.startswith("Content")
    ]
    assert "VersioningConfiguration" not in content
    tables = aws.data.find_resources("AWS::DynamoDB::GlobalTable").values()
    assert {
        json.dumps(each["Properties"]["TimeToLiveSpecification"], sort_keys=True) for each in tables
    } == {json.dumps({"AttributeName": "expires_at", "Enabled": True})}


def test_exports_expire_when_their_records_do(aws):
    from autotune.protocol.limits import EXPORT_DAYS

    [exports] = [
        each["Properties"]
        for name, each in aws.data.find_resources("AWS::S3::Bucket").items()
        if name.startswith("Exports")
    ]
    assert "VersioningConfiguration" not in exports
    [rule] = exports["LifecycleConfiguration"]["Rules"]
    assert (rule["ExpirationInDays"], rule["Status"]) == (EXPORT_DAYS, "Enabled")


def test_content_is_refused_without_tls(aws):
    aws.data.has_resource_properties(
        "AWS::S3::BucketPolicy",
        {
            "PolicyDocument": {
                "Statement": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "Effect": "Deny",
                                "Action": "s3:*",
                                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                            }
                        )
                    ]
                )
            }
        },
    )


def test_secrets_are_derived_with_an_hmac_key_and_data_with_one_that_rotates(aws):
    keys = [each["Properties"] for each in aws.data.find_resources("AWS::KMS::Key").values()]
    of_secrets = [key for key in keys if key.get("KeySpec") == "HMAC_256"]
    signing = [key for key in keys if key.get("KeyUsage") == "SIGN_VERIFY"]
    sealing = [key for key in keys if key not in of_secrets and key not in signing]
    assert {key["Description"].rpartition(" ")[2] for key in of_secrets} == set(SECRET_KINDS)
    assert {key["KeyUsage"] for key in of_secrets} == {"GENERATE_VERIFY_MAC"}
    assert [key["KeySpec"] for key in signing] == ["ECC_NIST_P256"]
    assert [key["EnableKeyRotation"] for key in sealing] == [True, True]
    assert {key["PendingWindowInDays"] for key in keys} == {30}


def test_the_archive_of_the_audit_log_keeps_every_version(aws):
    [archive] = [
        each["Properties"]
        for name, each in aws.data.find_resources("AWS::S3::Bucket").items()
        if name.startswith("AuditArchive")
    ]
    assert archive["VersioningConfiguration"] == {"Status": "Enabled"}
    [encryption] = archive["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert set(archive["PublicAccessBlockConfiguration"].values()) == {True}
    assert not [rule for rule in archive["LifecycleConfiguration"]["Rules"] if "Expir" in str(rule)]


def test_what_other_stacks_may_use_is_exported_whether_they_use_it_or_not(aws):
    exported = [output["Value"] for output in aws.data.find_outputs("*").values()]
    ids = {value.get("Ref") or value["Fn::GetAtt"][0] for value in exported}
    kinds = (TABLE, "AWS::KMS::Key", "AWS::S3::Bucket")
    assert ids == {id_ for kind in kinds for id_ in aws.data.find_resources(kind)}
    streams = [value for value in exported if value.get("Fn::GetAtt", [""])[-1] == "StreamArn"]
    assert len(streams) == 5


def test_what_is_exported_does_not_follow_from_what_others_use(aws):
    """An export that goes because its user went makes CloudFormation refuse the update.

    The stack of data is deployed first, and the deployed services still use it then.
    """
    app = App()
    config = DeploymentConfig.create(target="aws", environment={"AWS_REGION": "eu-west-1"})
    DataStack(app, DATA_STACK_NAME, config=config, env=Environment(region="eu-west-1"))
    outputs = app.synth().get_stack_by_name(DATA_STACK_NAME).template["Outputs"].values()
    exported = {each["Export"]["Name"] for each in outputs if "Export" in each}
    others = {name: each for name, each in aws.templates.items() if name != DATA_STACK_NAME}
    imported = set(IMPORT.findall(json.dumps(others)))
    assert imported
    assert imported <= exported
