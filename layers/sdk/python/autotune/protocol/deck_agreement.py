"""How far a deck's grader agrees with people, on the wire."""

from typing import Literal

from autotune.protocol import types
from autotune.protocol.coefficients import Coefficient, InsufficientBecause, NoIntervalBecause
from autotune.protocol.deck_feedback import JudgeResult, TruthRating
from autotune.protocol.deck_publishing import PublishedCalibration
from autotune.protocol.decks import VersionNumber
from autotune.protocol.llm_limits import ModelName


class KappaEstimate(Coefficient):
    """Cohen's κ with quadratic weights, and its interval.

    The interval is a delete-one-group jackknife on atanh κ, at the nominal ``confidence``.
    """

    low: float | None = None
    high: float | None = None
    no_interval_because: NoIntervalBecause | None = None
    confidence: float


class MeanEstimate(types.ResponseModel):
    """A mean with its interval, by group."""

    value: float | None
    low: float | None = None
    high: float | None = None
    no_interval_because: NoIntervalBecause | None = None
    n: int


class LevelBias(MeanEstimate):
    """How much too high the judge is where it says a level: the mean of judge minus truth."""

    level: int


class Applicability(types.ResponseModel):
    """Whether the question applies, by judge and by people: how many samples of each."""

    both_apply: int
    only_judge_abstains: int
    only_truth_does_not_apply: int
    neither_applies: int


class RaterKappa(Coefficient):
    """One person's κ with what the others say."""

    rater: str


class HumanCeiling(types.ResponseModel):
    """How far people agree among themselves: the most that a judge can be asked for.

    Attributes:
        alpha: Krippendorff's α for interval data, of the samples that two people or more rated.
        raters: how many people rated such a sample.
        leave_one_out_kappa: the mean of the raters' κ with what the others say, by their pairs;
            this is what a judge's κ compares with.
        by_rater: of the 100 people with the most pairs; ``raters`` counts all, and
            ``leave_one_out_kappa`` is of all.
    """

    alpha: Coefficient
    raters: int
    samples: int
    leave_one_out_kappa: float | None = None
    by_rater: list[RaterKappa] = []


class HalfAgreement(types.ResponseModel):
    """Agreement on the development half, for choosing what to try; it backs no claim."""

    kappa: KappaEstimate
    groups: int


class Agreement(types.ResponseModel):
    """How far a version of a grader agrees with people, on drawn samples that are held out.

    Attributes:
        deck_version: whose system prompt the samples have, of which this is.
        look: which look at the held-out labels the version has: 0 for the first that was looked at,
            null where it has judged none of them. Reading spends it, once for each version.
        looked: versions whose agreement was read: reading these again spends nothing.
        looks: how many were spent by all versions, beside that first one. The k-th has intervals
            of ``1 - 0.1 / 2^k``, as ``kappa.confidence`` says.
        kappa: of samples where both gave a level.
        groups: how many groups of samples those are.
        sufficient: whether there are enough labels for a claim.
        labels: drawn held-out samples with a ground truth, levels or not.
        chose_version: those of the labels by which the edit was measured that made this version. It
            was taken because it looked better on them: kappa on them is too high, and fresh labels
            say how much.
        outside_commonest: of the pairs, how many have another truth than the commonest.
        coverage: the share of labels with a level on which the judge gave one, too.
        mean_bias: judge minus truth.
        percent_agreement: the share of pairs at the same level. It decides nothing: it rises where
            a judge moves to the commonest level.
        to_adjudicate: drawn held-out samples that have no truth, because people are apart.
        skipped: held-out samples that people left to others, and that nobody rated.
        came_later: held-out samples that came when the last label had been drawn: no figure says
            anything of them.
        corrected: labels whose rater said something else later, blind, too: the first word counts,
            until somebody adjudicates.
        not_blind: drawn held-out samples that have no truth that counts: who rated them had been
            shown the judge's result. As with those to adjudicate and the skipped ones, nothing is
            claimed while there are many.
        other_criteria: labels given under other criteria than this version's.
        failed: labels on which the judge failed; ``ungraded``: those that it has not judged.
        development: the same of the development half; all its labels, drawn or not.
        confusion: of the development half, how many samples have truth (row) and judge (column) at
            each of the levels -3 to 3.
        ceiling: of drawn samples that are held out, by ratings that were given blind, as ``kappa``.
        published: what tasks score by, which may be another version; null where nothing is.
    """

    grader_id: str
    version: int
    deck_version: int
    look: int | None = None
    looks: int = 0
    looked: list[int] = []
    kappa: KappaEstimate
    n: int
    groups: int
    sufficient: bool
    insufficient_because: InsufficientBecause | None = None
    labels: int
    chose_version: int
    outside_commonest: int
    coverage: float | None = None
    mean_bias: MeanEstimate
    bias_by_level: list[LevelBias]
    percent_agreement: float | None = None
    applicability: Applicability
    to_adjudicate: int
    not_blind: int
    skipped: int
    came_later: int = 0
    corrected: int
    other_criteria: int
    failed: int
    ungraded: int
    development: HalfAgreement
    confusion: list[list[int]]
    ceiling: HumanCeiling
    published: PublishedCalibration | None = None


class AgreementResponse(types.ResponseModel):
    """How far one version of a grader agrees with people."""

    agreement: Agreement


DisagreementAbout = Literal["levels", "applicability"]
"""On what judge and people differ: how good an output is, or whether the question applies."""


class Disagreement(types.ResponseModel):
    """A sample of the development half on which judge and people differ.

    Attributes:
        truth: the level; null where people say that the question does not apply.
        score: the judge's; null where it abstained.
        distance: judge minus truth; null where one of them has no level.
    """

    sample_id: str
    truth: int | None
    score: int | None
    distance: int | None
    input_excerpt: str
    output_excerpt: str
    result: JudgeResult
    ratings: list[TruthRating]
    explanations: dict[str, str]


class DisagreementList(types.ResponseModel):
    """A page of disagreements, the widest first; never of what is held out.

    Attributes:
        confusion: how many samples have truth (row) and judge (column) at each of the levels -3 to
            3, whatever is asked for. Unlike an agreement's it spends no look.
        applicability: whether the question applies, by judge and by people, of the development half
            as well.
    """

    disagreements: list[Disagreement]
    total: int
    confusion: list[list[int]]
    applicability: Applicability
    next_token: str | None = None


class CellPattern(types.ResponseModel):
    """Samples of one true level that the judge puts at another one, more often than by chance.

    Attributes:
        expected: how many there would be if the judge erred to either side alike: half of this cell
            and its mirror, where ``truth`` and ``score`` are swapped, together.
        p: probability that it outnumbers its mirror in so many groups by chance (a sign test).
        q: the same, adjusted for all comparisons (Benjamini and Hochberg).
        significant: whether ``q`` is at most 0.05.
    """

    truth: int
    score: int
    count: int
    expected: float
    p: float
    q: float
    significant: bool


class ErrorPattern(types.ResponseModel):
    """How much too high (above 0) or too low the judge is on samples of one kind.

    Attributes:
        factor: what they share: ``length`` of the output, ``model`` that wrote it, ``script`` of
            its letters, the one ``rater``; ``all`` of all samples.
        value: which of its values.
        mean_error: judge minus truth, with its interval by group.
    """

    factor: str
    value: str
    n: int
    mean_error: float
    low: float | None = None
    high: float | None = None
    no_interval_because: NoIntervalBecause | None = None
    p: float | None = None
    q: float | None = None
    significant: bool


class DeckPatterns(types.ResponseModel):
    """Where a judge errs, the surest first; never of what is held out.

    Attributes:
        n: samples of the development half with both levels.
    """

    grader_id: str
    version: int
    n: int
    cells: list[CellPattern]
    errors: list[ErrorPattern]


class DeckPatternsResponse(types.ResponseModel):
    """Where a version of a grader errs."""

    patterns: DeckPatterns


class AgreementRequest(types.RequestModel):
    """Asks for agreement, and spends a version's look at the held-out labels where it has none.

    Attributes:
        version: of the grader; the current one without it.
        deck_version: only samples with the system prompt of this version of the deck; of the
            current one without it.
    """

    version: VersionNumber | None = None
    deck_version: VersionNumber | None = None


class DeckMeansRequest(AgreementRequest):
    """Asks for means, and spends a version's look at the held-out labels where it has none.

    Attributes:
        model: only what this model wrote.
    """

    model: ModelName | None = None


class DeckMeans(types.ResponseModel):
    """The mean level that people would give to held-out samples, from -3 to 3, three ways.

    Attributes:
        deck_version: whose system prompt the samples have.
        model: whose responses they are; null for all.
        look: which look at the held-out labels the version has, as its agreement says.
        naive: the mean of what the judge says: as far off as the judge.
        corrected: the judge's mean, corrected by the labels (PPI++), by group.
        labels_only: the mean of the labels.
        power: how much the judge helps, from 0 to 1: the weight of its word in ``corrected``.
        use: which of the last two has the narrower interval.
        labels: samples with a drawn level of people, whatever the judge said.
        unlabelled: the others that were judged.
        unjudged: held-out samples that the judge has not judged. With one of them labels alone
            count, and neither ``naive`` nor ``corrected`` is of what it says: which samples are
            judged is chosen by whoever names them in runs.
        came_later: samples that are in no figure: they came when the labels had been drawn,
            and fewer than ten were drawn since.
        without_truth: drawn samples that have no truth that counts: people are apart on them, left
            them to others, or had been shown the judge's result. With more than 5 % of them nothing
            is claimed.
        coverage: the share of labels on which the judge gave a level. Where it gave none, it counts
            as its mean, so that abstaining moves no mean.
        sufficient: whether anything may be claimed.
        confidence: nominal coverage of the intervals.
    """

    grader_id: str
    version: int
    deck_version: int
    model: str | None = None
    look: int | None = None
    naive: float | None
    corrected: MeanEstimate
    labels_only: MeanEstimate
    power: float
    use: Literal["corrected", "labels_only"]
    labels: int
    unlabelled: int
    unjudged: int = 0
    came_later: int = 0
    without_truth: int = 0
    coverage: float | None = None
    sufficient: bool
    insufficient_because: InsufficientBecause | None = None
    confidence: float


class DeckMeansResponse(types.ResponseModel):
    """Means of one grader."""

    means: DeckMeans
