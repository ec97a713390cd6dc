"""Certificates of versions: what they were trained on and how they did, signed once."""

import base64
import hashlib
import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from autotune.protocol import apprentice_certificates as wire
from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingComparison,
    ApprenticeTrainingGate,
)
from autotune.protocol.canonical_json import canonical_json
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.training.models import Certificate, Training
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.document_signing import ALGORITHM, DocumentSigning
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part

_FORMAT = 1


@part
class Certifying:
    """Signs what is known of a training."""

    signing: DocumentSigning
    clock: Clock = SYSTEM_CLOCK

    def certify(self, training: Training, version: int, *, made_by: Training) -> Certificate:
        """Return a certificate of a training whose model passed, and is to be a version.

        It counts once it is stored with the end of the training. Who is killed before leaves a
        signature that nobody saw.

        Args:
            training: the one that judged the model.
            version: the number that it is to have.
            made_by: the training that the model came of, most often the same.
        """
        document = certificate_of(training, version, made_by=made_by, issued_at=self.clock.now())
        text = canonical_json(document.model_dump(mode="json", by_alias=True))
        return Certificate(
            version=version,
            text=text.decode(),
            key_id=self.signing.public_key.key_id,
            signature=base64.b64encode(self.signing.sign(text)).decode(),
        )


@part
class CertificateReading:
    """Returns certificates, and the key by which they are checked."""

    tasks: TaskConfigurations
    repository: TrainingRepository
    signing: DocumentSigning

    def of_version(self, caller: Caller, name: str, version: int) -> Certificate:
        """Return the certificate of a version.

        Raises:
            NotFoundError: there is no such task or version, or the platform did not train it.
        """
        task = self.tasks.require(caller, name)
        found = self.repository.certificate(task.id, version)
        if found is None:
            raise NotFoundError(
                f"version {version} of {name} has no certificate: those have one that were "
                "trained here and passed"
            )
        return found

    def key(self) -> wire.ApprenticeCertificateKey:
        """Return the public key."""
        key_id, pem = self.signing.public_key
        return wire.ApprenticeCertificateKey(algorithm=ALGORITHM, key_id=key_id, public_key=pem)


def certificate_of(
    training: Training, version: int, *, made_by: Training, issued_at: datetime
) -> wire.ApprenticeCertificate:
    """Return what a training's certificate says; it has no text of a run or an example."""
    model = training.model
    assert model is not None
    return wire.ApprenticeCertificate(
        type=wire.CERTIFICATE_TYPE,
        format=_FORMAT,
        organization_id=training.organization_id,
        task_id=training.task_id,
        task=training.task_name,
        definition_hash=training.definition_hash,
        configuration_version=training.configuration_version,
        version=version,
        model=model.name,
        artifact_sha256=model.sha256,
        base_model=model.base_model,
        base_sha256=model.base_sha256,
        training_id=training.id,
        training=training.number,
        model_of=training.model_of,
        backend=training.backend,
        trained_at=made_by.created_at,
        issued_at=issued_at,
        data=_data(training, made_by),
        test=_test(training),
        cost=wire.ApprenticeCertificateCost(
            seconds=_exact(model.seconds), spent_nano_usd=made_by.spent_nano_usd
        ),
    )


def certificate_on_wire(certificate: Certificate) -> wire.SignedApprenticeCertificate:
    """Return a certificate as callers see it: just as it was signed."""
    document: dict[str, Any] = json.loads(certificate.text)
    return wire.SignedApprenticeCertificate(
        certificate=document,
        algorithm=ALGORITHM,
        key_id=certificate.key_id,
        signature=certificate.signature,
    )


def _data(training: Training, made_by: Training) -> wire.ApprenticeCertificateData:
    learned_from, manifest = made_by.manifest, training.manifest
    assert learned_from is not None
    assert manifest is not None
    digests = (manifest.train.sha256, manifest.held_out.sha256, manifest.examples_sha256)
    lines = "".join(f"{one}\n" for one in digests)
    return wire.ApprenticeCertificateData(
        sha256=hashlib.sha256(lines.encode()).hexdigest(),
        train_sha256=manifest.train.sha256,
        holdout_sha256=manifest.held_out.sha256,
        examples_sha256=manifest.examples_sha256,
        train=manifest.train.rows,
        holdout=manifest.held_out.rows,
        frozen_at=learned_from.frozen_at,
        holdout_frozen_at=None if training.model_of is None else manifest.frozen_at,
    )


def _test(training: Training) -> wire.ApprenticeCertificateTest:
    test = training.test
    # Of one that passed, all of it is known.
    assert test is not None
    assert test.mean is not None
    assert test.bound is not None
    assert test.evidence is not None
    return wire.ApprenticeCertificateTest(
        attempt=test.attempt,
        alpha=_exact(1 / test.evidence_needed),
        rows=test.examples,
        groups=test.groups,
        fewest_groups=test.fewest_groups,
        threshold=_exact(test.threshold),
        mean=_exact(test.mean),
        bound=_exact(test.bound),
        evidence=_exact(test.evidence),
        evidence_needed=_exact(test.evidence_needed),
        valid=_exact(test.valid),
        slow_ms=test.slow_ms,
        comparison=None if test.comparison is None else _comparison(test.comparison),
        is_gated=test.is_gated,
        gate=None if test.gate is None else _gate(test.gate),
    )


def _gate(gate: ApprenticeTrainingGate) -> wire.ApprenticeCertificateGate:
    return wire.ApprenticeCertificateGate(
        confidence=_exact(gate.confidence),
        coverage=_exact(gate.coverage),
        least_coverage=_exact(gate.least_coverage),
        agreement=_exact(gate.agreement),
        groups=gate.groups,
        p_value=_exact(gate.p_value),
    )


def _comparison(compared: ApprenticeTrainingComparison) -> wire.ApprenticeCertificateComparison:
    return wire.ApprenticeCertificateComparison(
        version=compared.version,
        groups=compared.groups,
        mean_difference=_exact(compared.mean_difference),
        differing=_exact(compared.differing),
        margin=_exact(compared.margin),
        is_no_worse=compared.is_no_worse,
        power=None if compared.power is None else _exact(compared.power),
        groups_for_power=compared.groups_for_power,
    )


def _exact(figure: float) -> Decimal:
    """Return a figure in as many digits as tell it from all others, without an exponent."""
    return Decimal(f"{Decimal(repr(float(figure))):f}")
