"""Inference components: copies that come and go, and adapters."""

import json
import sys

import pytest
from botocore.exceptions import ClientError

from local.sagemaker import hosts
from local.sagemaker.faults import Kind
from tests.support.local_sagemaker import (
    IMAGE,
    ROLE,
    an_hour_later,
    laboratory,
    until,
    variant,
)

# A server with adapters, as vLLM is one: an image that needs no script of the model's.
ADAPTED = """
import json, os, pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
adapters = {}
class Handler(BaseHTTPRequestHandler):
    def answer(self, status, said):
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(200, {})
    def do_DELETE(self):
        adapters.pop(self.path.split("/")[-1])
        self.answer(200, {})
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/adapters":
            file = pathlib.Path(asked["src"], "adapter")
            if not file.exists():
                return self.answer(400, "no adapter there")
            adapters[asked["name"]] = file.read_text()
            return self.answer(200, {})
        name = self.headers["X-Amzn-SageMaker-Adapter-Identifier"]
        self.answer(200, {"adapter": adapters.get(name, "base"), "pid": os.getpid()})
port = int(os.environ["SAGEMAKER_BIND_TO_PORT"])
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("components")
    (folder / "adapted.py").write_text(ADAPTED)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        images = {"*djl*": [sys.executable, str(folder / "adapted.py")]}
        with laboratory(folder / "sagemaker", images=images) as made:
            made.config("shared", variant(None), ExecutionRoleArn=ROLE)
            made.endpoint("shared", "shared")
            yield made


def request(name, **changes):
    return {
        "InferenceComponentName": name,
        "EndpointName": "shared",
        "VariantName": "all",
        "Specification": {
            "Container": {"Image": "djl-serving"},
            "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024},
        },
        "RuntimeConfig": {"CopyCount": 1},
        **changes,
    }


def created(lab, name, **changes):
    lab.sagemaker.create_inference_component(**request(name, **changes))
    return lab.component(name)


def asked(lab, name):
    return json.loads(lab.ask("shared", "{}", InferenceComponentName=name))


def resized(lab, name, copies):
    lab.sagemaker.update_inference_component_runtime_config(
        InferenceComponentName=name, DesiredRuntimeConfig={"CopyCount": copies}
    )
    return lab.component(name)["RuntimeConfig"]


def test_a_component_of_a_model_answers_by_its_name(lab):
    lab.model("of-a-model")
    specification = {
        "ModelName": "of-a-model",
        "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024},
    }
    described = created(lab, "of-a-model", Specification=specification)
    assert described["InferenceComponentStatus"] == "InService"
    assert described["RuntimeConfig"] == {"DesiredCopyCount": 1, "CurrentCopyCount": 1}
    assert asked(lab, "of-a-model") == {"model": "of-a-model", "data": {}}
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="Name header is required"):
        lab.ask("shared", "{}")


def test_copies_go_to_zero_and_come_back(lab):
    described = created(lab, "scaled")
    assert described["Specification"]["Container"]["DeployedImage"]["SpecifiedImage"]
    first = asked(lab, "scaled")["pid"]
    assert resized(lab, "scaled", 2) == {"DesiredCopyCount": 2, "CurrentCopyCount": 2}
    assert len({asked(lab, "scaled")["pid"] for _ in range(4)}) == 2
    assert resized(lab, "scaled", 0) == {"DesiredCopyCount": 0, "CurrentCopyCount": 0}
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="no capacity"):
        asked(lab, "scaled")
    resized(lab, "scaled", 1)
    assert asked(lab, "scaled")["pid"] != first


def test_no_component_is_created_without_a_copy(lab):
    with pytest.raises(ClientError, match="larger than 0"):
        created(lab, "cold", RuntimeConfig={"CopyCount": 0})


def test_an_adapter_is_loaded_by_its_base_and_stays_when_it_is_scaled(lab):
    created(lab, "base")
    uri = lab.archive("adapters/v1.tar.gz", {"adapter": "v1"})
    adapter = request(
        "v1",
        Specification={
            "BaseInferenceComponentName": "base",
            "Container": {"ArtifactUrl": uri},
        },
    )
    del adapter["RuntimeConfig"]
    lab.sagemaker.create_inference_component(**adapter)
    described = lab.component("v1")
    assert described["InferenceComponentStatus"] == "InService"
    assert "RuntimeConfig" not in described
    assert asked(lab, "v1")["adapter"] == "v1"
    assert asked(lab, "base")["adapter"] == "base"

    resized(lab, "base", 0)
    resized(lab, "base", 1)
    assert asked(lab, "v1")["adapter"] == "v1"
    with pytest.raises(ClientError, match="copies of their base"):
        resized(lab, "v1", 2)
    with pytest.raises(ClientError, match="is the base of"):
        lab.sagemaker.delete_inference_component(InferenceComponentName="base")

    wrong = lab.archive("adapters/wrong.tar.gz", {"other": ""})
    adapter["InferenceComponentName"] = "wrong"
    adapter["Specification"]["Container"]["ArtifactUrl"] = wrong
    lab.sagemaker.create_inference_component(**adapter)
    described = lab.component("wrong")
    assert described["InferenceComponentStatus"] == "Failed"
    assert "no adapter there" in described["FailureReason"]

    for name in ("v1", "wrong"):
        lab.sagemaker.delete_inference_component(InferenceComponentName=name)
    until(lambda: names(lab, NameContains="v1") == [])
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="not found"):
        asked(lab, "v1")


def names(lab, **asked_for):
    found = lab.sagemaker.list_inference_components(EndpointNameEquals="shared", **asked_for)
    return sorted(one["InferenceComponentName"] for one in found["InferenceComponents"])


def test_an_update_has_the_new_model_and_a_failed_one_the_old(lab):
    needs = {"MinMemoryRequiredInMb": 1024}
    lab.model("one")
    lab.model("two")
    created(
        lab, "changed", Specification={"ModelName": "one", "ComputeResourceRequirements": needs}
    )
    update = lab.sagemaker.update_inference_component
    second = {"ModelName": "two", "ComputeResourceRequirements": needs}
    update(InferenceComponentName="changed", Specification=second)
    assert lab.component("changed")["Specification"]["ModelName"] == "two"
    assert asked(lab, "changed")["model"] == "two"

    lab.plant(Kind.CAPACITY, operation="UpdateInferenceComponent")
    update(
        InferenceComponentName="changed",
        Specification={"ModelName": "one", "ComputeResourceRequirements": needs},
    )
    described = lab.component("changed")
    assert described["Specification"]["ModelName"] == "two"
    assert "InsufficientInstanceCapacity" in described["FailureReason"]
    assert asked(lab, "changed")["model"] == "two"


def test_a_component_that_is_stuck_answers_nothing_and_cannot_be_deleted(lab, monkeypatch):
    lab.plant(Kind.STUCK, operation="CreateInferenceComponent", seconds=600)
    lab.sagemaker.create_inference_component(**request("stuck"))
    with pytest.raises(ClientError, match="in-progress"):
        lab.sagemaker.delete_inference_component(InferenceComponentName="stuck")
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="no capacity"):
        asked(lab, "stuck")
    an_hour_later(monkeypatch, hosts)
    assert lab.component("stuck")["InferenceComponentStatus"] == "Failed"
    lab.sagemaker.delete_inference_component(InferenceComponentName="stuck")


def test_an_endpoint_with_components_stays_until_they_are_gone(lab):
    lab.config("own", variant(None), ExecutionRoleArn=ROLE)
    lab.endpoint("own", "own")
    created(lab, "last", EndpointName="own")
    with pytest.raises(ClientError, match="has inference components"):
        lab.sagemaker.delete_endpoint(EndpointName="own")
    lab.sagemaker.delete_inference_component(InferenceComponentName="last")
    until(
        lambda: (
            not lab.sagemaker.list_inference_components(NameContains="last")["InferenceComponents"]
        )
    )
    lab.sagemaker.delete_endpoint(EndpointName="own")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"EndpointName": "nowhere"}, "Could not find endpoint"),
        ({"VariantName": "other"}, "no variant other"),
        ({"Specification": {"Container": {"Image": IMAGE}}}, "ComputeResourceRequirements"),
        (
            {"Specification": {"ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024}}},
            "Either ModelName or Container",
        ),
        (
            {"Specification": {"ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1}}},
            "greater than or equal to 128",
        ),
        ({"RuntimeConfig": {"CopyCount": -1}}, "greater than or equal to 0"),
    ],
)
def test_what_sagemaker_or_this_one_has_not_is_refused(lab, changes, said):
    with pytest.raises(ClientError, match=said) as refused:
        lab.sagemaker.create_inference_component(**request("refused", **changes))
    assert refused.value.response["Error"]["Code"] == "ValidationException"
