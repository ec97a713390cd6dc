"""A version that was trained has a certificate, which anybody can check, and no second one."""

import hashlib
import json
import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from autotune import CertificateError, ConfigurationError, verify_certificate
from tests.support.trainings import TASK
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


def read(trainings, path):
    answer = trainings.platform.call("GET", path)
    assert answer.status == 200, answer.text
    return next(iter(answer.json.values()))


def certificate(trainings, version=1):
    return read(trainings, f"{TASK}/versions/{version}/certificate")


def test_a_certificate_says_what_was_learned_from_how_it_was_judged_and_what_it_cost(
    trainings, tmp_path
):
    trainings.ask(160)
    trained = trainings.train()
    signed = certificate(trainings)
    key = read(trainings, "/api/v1/apprentice/certificate-key")
    found = verify_certificate(signed, key["publicKey"])

    assert (found.task_id, found.task, found.version) == (trainings.task_id, "intents", 1)
    assert found.model == trained["model"]["name"]
    assert found.artifact_sha256 == trained["model"]["sha256"]
    assert found.definition_hash == trained["definitionHash"]
    assert found.training_id == trained["id"]
    assert (found.base_model, found.base_sha256) == (None, None)
    assert (found.model_of, found.data.holdout_frozen_at) == (None, None)
    digests = (found.data.train_sha256, found.data.holdout_sha256, found.data.examples_sha256)
    assert digests[:2] == (trained["data"]["trainSha256"], trained["data"]["holdoutSha256"])
    said = "".join(f"{one}\n" for one in digests).encode()
    assert found.data.sha256 == hashlib.sha256(said).hexdigest()
    assert float(found.test.bound) == trained["test"]["bound"]
    assert float(found.test.evidence) == trained["test"]["evidence"]
    assert float(found.test.alpha) == 1 / 40
    assert found.test.rows == trained["data"]["holdout"]
    assert float(found.cost.seconds) == trained["model"]["seconds"]
    assert found.cost.spent_nano_usd == 0
    assert found.trained_at < found.data.frozen_at < found.issued_at
    _require_others_to_agree(signed, key, tmp_path)


def _require_others_to_agree(signed, key, folder):
    """Check it with jq's form of the document, and with OpenSSL, where they are installed."""
    texts = [json.dumps(signed["certificate"], sort_keys=True, separators=(",", ":")).encode()]
    if jq := shutil.which("jq"):
        given = json.dumps(signed["certificate"])
        made = subprocess.run([jq, "-cSj", "."], input=given.encode(), check=True, stdout=-1)
        texts.append(made.stdout)
    openssl = shutil.which("openssl")
    if openssl is None:
        return
    (folder / "key.pem").write_text(key["publicKey"])
    decoded = subprocess.run(
        [openssl, "base64", "-d", "-A"], input=signed["signature"].encode(), check=True, stdout=-1
    )
    (folder / "signature").write_bytes(decoded.stdout)
    words = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature"]
    for text in texts:
        done = subprocess.run([openssl, *words], input=text, cwd=folder, stdout=-1, check=False)
        assert b"Verified OK" in done.stdout


def test_a_change_or_another_key_is_found(trainings):
    trainings.ask(160)
    trainings.train()
    signed = certificate(trainings)
    key = read(trainings, "/api/v1/apprentice/certificate-key")["publicKey"]

    test = {**signed["certificate"]["test"], "bound": "0.99"}
    changed = {**signed["certificate"], "test": test}
    with pytest.raises(CertificateError, match="signature"):
        verify_certificate({**signed, "certificate": changed}, key)
    with pytest.raises(CertificateError, match="signature"):
        verify_certificate({**signed, "certificate": {**signed["certificate"], "more": 1}}, key)
    with pytest.raises(CertificateError, match="of the key"):
        verify_certificate(signed, another_key())
    with pytest.raises(CertificateError, match="no signed certificate"):
        verify_certificate({**signed, "certificate": {"bound": 0.5}}, key)
    with pytest.raises(ConfigurationError, match="PEM"):
        verify_certificate(signed, "no key")


def another_key():
    made = ec.generate_private_key(ec.SECP256R1()).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return made.public_bytes(serialization.Encoding.PEM, form).decode()


def test_a_version_has_one_certificate_however_often_it_is_hosted(trainings):
    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event)
    first = certificate(trainings)
    trainings.step("host_student", event)

    assert certificate(trainings) == first


def test_a_version_and_its_certificate_come_together(trainings, monkeypatch):
    from autotune_platform.apprentice.training.progress import TrainingProgress

    trainings.ask(160)
    trainings.start()
    (event,) = trainings.executions()
    trainings.steps(event, through="validate_student")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(TrainingProgress, "host", killed)
        with pytest.raises(KeyboardInterrupt):
            trainings.step("host_student", event)
    path = f"{TASK}/versions/1"
    for shown in (path, f"{path}/certificate"):
        assert trainings.platform.call("GET", shown).status == 404
    trainings.step("host_student", event)

    assert trainings.platform.call("GET", path).status == 200
    assert certificate(trainings)["certificate"]["version"] == 1


def test_a_version_that_was_not_trained_here_has_none(trainings):
    answer = trainings.platform.call("GET", f"{TASK}/versions/1/certificate")
    assert answer.status == 404
    assert "has no certificate" in answer.json["detail"]


def test_a_certificate_goes_with_its_task(trainings):
    trainings.ask(160)
    trainings.train()
    assert trainings.platform.call("DELETE", TASK).status == 204
    trainings.put()

    assert trainings.platform.call("GET", f"{TASK}/versions/1/certificate").status == 404
