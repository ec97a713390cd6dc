"""Certificates: signed statements of what a version of a small model was trained on and how it did.

What is signed is canonical JSON (``autotune.protocol.canonical_json``) of ``certificate``, so that
whoever has it and the public key needs nobody else to check it.
"""

from decimal import Decimal
from typing import Any, Literal

from autotune.protocol.apprentice_models import TrainingBackend
from autotune.protocol.types import ResponseModel, Timestamp

CERTIFICATE_TYPE = "autotune.apprentice.certificate"
"""What each certificate says that it is: the key signs nothing else of that type."""

CertificateAlgorithm = Literal["ECDSA_SHA_256"]
"""ECDSA on P-256 over SHA-256 (FIPS 186-5), the signature in DER."""


class ApprenticeCertificateComparison(ResponseModel):
    """The model against the version that served meanwhile, on the same inputs.

    Attributes:
        version: the one that served.
        groups: how many groups of inputs both answered.
        mean_difference: of agreement, -1 to 1; above 0 the new one is better.
        differing: share of groups on which the two differ.
        margin: how much worse may be overlooked.
        is_no_worse: whether it is shown to be no worse than that.
        power: how probable it was to be shown of two equal models that differ as much.
        groups_for_power: how many groups make that 80 %.
    """

    version: int
    groups: int
    mean_difference: Decimal
    differing: Decimal
    margin: Decimal
    is_no_worse: bool
    power: Decimal | None = None
    groups_for_power: int | None = None


class ApprenticeCertificateGate(ResponseModel):
    """From which confidence on the model's answers are shown to agree above the threshold.

    Attributes:
        confidence: 0 to 1.
        coverage: the share of inputs that it is as sure of.
        least_coverage: the share below which an alarm is due once callers ask.
        agreement: mean agreement of those.
        groups: how many of the hold-out's they are.
        p_value: how probable that would be at most, were their true agreement at the threshold.
    """

    confidence: Decimal
    coverage: Decimal
    least_coverage: Decimal
    agreement: Decimal
    groups: int
    p_value: Decimal


class ApprenticeCertificateTest(ResponseModel):
    """What the hold-out says; figures are exact.

    Attributes:
        attempt: the how many-th model it is that was judged under its definition.
        alpha: how probable it is at most that a model whose mean agreement is at the threshold
            passes at this attempt.
        rows: how many examples were held out.
        groups: of how many groups of inputs; each is one score, the mean of its examples'.
        fewest_groups: how many it takes at least, were all answers right.
        threshold: mean agreement that it has to be above.
        mean: its mean agreement. Inputs count once where all were put to the paid model. Of those
            that chance drew, one counts as often as it came, but at most as the inverse of the rate
            at which it was drawn.
        bound: what its mean agreement is above, with confidence 1 - ``alpha``.
        evidence: how much speaks for it (U).
        evidence_needed: what that has to reach: 1 / ``alpha``.
        valid: share of outputs that the schema admits.
        slow_ms: 95 % of its answers took at most so long, in milliseconds.
        comparison: with the version that served; None where none did.
        is_gated: whether the task had a gate. Then ``gate`` decided, and ``mean``, ``bound`` and
            ``evidence``, which are of all answers, did not.
        gate: None where no confidence is shown to suffice.
    """

    attempt: int
    alpha: Decimal
    rows: int
    groups: int
    fewest_groups: int
    threshold: Decimal
    mean: Decimal
    bound: Decimal
    evidence: Decimal
    evidence_needed: Decimal
    valid: Decimal
    slow_ms: int
    comparison: ApprenticeCertificateComparison | None = None
    is_gated: bool = False
    gate: ApprenticeCertificateGate | None = None


class ApprenticeCertificateData(ResponseModel):
    """The examples; digests are SHA-256 in hexadecimal digits.

    Attributes:
        sha256: of the three digests below in this order, each with a line feed: the data's hash.
        train_sha256: of the bytes that it learned from.
        holdout_sha256: of the bytes that judge it.
        examples_sha256: of the ids of the examples that were frozen with those that judge it:
            first of these and then of those to learn from, each with a line feed.
        train: how many it learned from.
        holdout: how many it never saw.
        frozen_at: when what it learned from was frozen.
        holdout_frozen_at: when what judges it was, where that was later, for a model that was kept;
            None where both were frozen together.
    """

    sha256: str
    train_sha256: str
    holdout_sha256: str
    examples_sha256: str
    train: int
    holdout: int
    frozen_at: Timestamp
    holdout_frozen_at: Timestamp | None = None


class ApprenticeCertificateCost(ResponseModel):
    """What the training took that made the model.

    Attributes:
        seconds: how long the model was computed, in seconds.
        spent_nano_usd: what its jobs on SageMaker cost, in billionths of a US dollar; 0 where a
            function of this deployment trained it.
    """

    seconds: Decimal
    spent_nano_usd: int


class ApprenticeCertificate(ResponseModel):
    """What a version was trained on, how it was judged, and what that cost.

    Attributes:
        type: always ``autotune.apprentice.certificate``.
        format: of this document; later ones may have more fields.
        version: its number within the task.
        model: by which it is hosted.
        artifact_sha256: of the model's bytes, in hexadecimal digits.
        base_model: what an adapter is of, without which its bytes answer nothing; None of models
            that need no other, and in certificates that are older than this field.
        base_sha256: of the list of the base's files and their digests (``base.json``), in
            hexadecimal digits; None alike.
        configuration_version: of the training below.
        training_id: the training that judged it and made it a version, which has the number
            ``training``.
        model_of: number of the training that made the model, where an earlier one did and it was
            kept until it could be hosted; None where that training made it itself.
        trained_at: when the training that made the model began.
        issued_at: when it was signed.
    """

    type: str
    format: int
    organization_id: str
    task_id: str
    task: str
    definition_hash: str
    configuration_version: int
    version: int
    model: str
    artifact_sha256: str
    base_model: str | None = None
    base_sha256: str | None = None
    training_id: str
    training: int
    model_of: int | None = None
    backend: TrainingBackend
    trained_at: Timestamp
    issued_at: Timestamp
    data: ApprenticeCertificateData
    test: ApprenticeCertificateTest
    cost: ApprenticeCertificateCost


class SignedApprenticeCertificate(ResponseModel):
    """A certificate with its signature.

    Attributes:
        certificate: as it was signed; ``ApprenticeCertificate`` says what is in it. It is kept as
            it came, since a field that is left out breaks the signature.
        key_id: of the public key: SHA-256 of its DER (SubjectPublicKeyInfo), in hexadecimal digits.
        signature: over the certificate's canonical JSON, in Base64.
    """

    certificate: dict[str, Any]
    algorithm: CertificateAlgorithm
    key_id: str
    signature: str


class ApprenticeCertificateKey(ResponseModel):
    """The public key by which certificates are checked.

    Attributes:
        key_id: SHA-256 of its DER (SubjectPublicKeyInfo), in hexadecimal digits.
        public_key: in PEM.
    """

    algorithm: CertificateAlgorithm
    key_id: str
    public_key: str


class SignedApprenticeCertificateResponse(ResponseModel):
    """A version's certificate."""

    certificate: SignedApprenticeCertificate


class ApprenticeCertificateKeyResponse(ResponseModel):
    """The key of certificates."""

    certificate_key: ApprenticeCertificateKey
