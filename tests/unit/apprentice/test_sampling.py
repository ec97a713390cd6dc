"""How much is sampled, and that the draw is uniform, exact and the same each time."""

import hashlib
import hmac
import math
from bisect import bisect_left
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from autotune_platform.apprentice.sampling import (
    Draw,
    Reason,
    SamplingRate,
    SamplingSettings,
    SamplingSettingsError,
    Step,
    is_drawn,
    sampling_rate,
    wilson_bound,
)
from autotune_platform.apprentice.window import WindowFigures

KEY = b"a secret of the tests"
EXPONENTIAL = SamplingSettings(decay="exponential")
LINEAR = SamplingSettings(decay="linear")
TABLE = SamplingSettings(decay="step", steps=[Step(0.85, 0.5), Step(0.9, 0.1), Step(0.95, 0.005)])


def window(mean: float | None, pairs: int = 100, *, is_stale: bool = False) -> WindowFigures:
    return WindowFigures(
        pairs=pairs,
        mean=mean,
        slope=0.0,
        trend="stable",
        has_drift=False,
        has_shift=False,
        is_stale=is_stale,
    )


def rate(
    figures: WindowFigures,
    settings: SamplingSettings = EXPONENTIAL,
    *,
    is_serving: bool = True,
    alarm_level: float = 0.0,
    is_settling: bool = False,
) -> SamplingRate:
    return sampling_rate(
        figures,
        settings,
        coaching=0.8,
        alpha=0.05,
        is_serving=is_serving,
        alarm_level=alarm_level,
        false_alarm_pairs=900,
        is_settling=is_settling,
    )


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.49])
@pytest.mark.parametrize(("hits", "pairs"), [(0, 1), (1, 1), (17, 20), (95, 100), (9_999, 10_000)])
def test_the_bound_is_wilsons(hits: int, pairs: int, alpha: float) -> None:
    """SciPy's interval has two sides, of twice alpha together."""
    interval = stats.binomtest(hits, pairs).proportion_ci(1 - 2 * alpha, "wilson")
    assert wilson_bound(hits / pairs, pairs, alpha) == pytest.approx(interval.low, abs=1e-9)


def test_below_coaching_stale_near_an_alarm_and_before_graduation_all_is_sampled() -> None:
    assert rate(window(0.99), is_serving=False).reason is Reason.NOT_GRADUATED
    assert rate(window(0.99, is_stale=True)).reason is Reason.STALE
    assert rate(window(None, 0, is_stale=True)).reason is Reason.STALE
    assert rate(window(0.85)).reason is Reason.BELOW_COACHING, "its bound is below, not its mean"
    assert rate(window(0.99), alarm_level=30.0).reason is Reason.NEAR_ALARM
    assert rate(window(0.99), is_settling=True).reason is Reason.COVERAGE
    for found in (
        rate(window(0.99), is_serving=False),
        rate(window(0.99, is_stale=True)),
        rate(window(None, 0, is_stale=True)),
        rate(window(0.85)),
        rate(window(0.99), alarm_level=30.0),
        rate(window(0.99), is_settling=True),
    ):
        assert found.rate == 1.0
    assert rate(window(0.99), alarm_level=29.999).rate < 1


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_the_rate_is_the_formula_of_its_decay(mean: float, pairs: int) -> None:
    bound = wilson_bound(mean, pairs, 0.05)
    share = (bound - 0.8) / 0.2
    for settings, formula in (
        (EXPONENTIAL, lambda: math.exp(-4 * share)),
        (LINEAR, lambda: 1 - share),
    ):
        found = rate(window(mean, pairs), settings)
        assert found.bound == bound
        if bound < 0.8:
            assert found == SamplingRate(1.0, Reason.BELOW_COACHING, bound)
        else:
            assert found.rate == pytest.approx(max(0.02, formula()))
            assert 0.02 <= found.rate <= 1
            assert (found.reason is Reason.FLOOR) == (found.rate == 0.02)


@pytest.mark.parametrize(
    ("mean", "pairs", "expected"),
    [
        (0.87, 1_000, 0.5),  # a bound of .851
        (0.84, 1_000, 1.0),  # below the first step, and above coaching
        (0.93, 1_000, 0.1),
        (0.99, 1_000, 0.02),  # the floor is above the table
    ],
)
def test_steps_are_those_of_the_table_and_the_floor_holds(
    mean: float, pairs: int, expected: float
) -> None:
    assert rate(window(mean, pairs), TABLE).rate == expected


def test_a_bound_on_the_step_itself_has_its_rate() -> None:
    bound = wilson_bound(0.9, 100, 0.05)
    table = SamplingSettings(decay="step", steps=[Step(bound, 0.3)])
    assert rate(window(0.9), table).rate == 0.3


def test_more_agreement_is_never_sampled_more() -> None:
    for settings in (EXPONENTIAL, LINEAR, TABLE):
        rates = [rate(window(mean / 100, 5_000), settings).rate for mean in range(101)]
        assert rates == sorted(rates, reverse=True)
        assert rates[-1] == 0.02


@pytest.mark.parametrize("draw", list(Draw))
def test_draws_are_uniform(draw: Draw) -> None:
    """Chi-square over 50 cells of equal probability; the ids are fixed, so it is no chance."""
    cells, runs = 50, 10_000
    edges = [place / cells for place in range(1, cells)]
    counts = [0] * cells
    for run in range(runs // 20):
        drawn = [is_drawn(draw, KEY, f"run_{run}", edge) for edge in edges]
        assert drawn == sorted(drawn), "what a rate draws, a higher one draws as well"
    for run in range(runs):
        at_rate = partial(is_drawn, draw, KEY, f"run_{run}")
        counts[bisect_left(edges, x=True, key=at_rate)] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_the_two_draws_are_independent() -> None:
    table = [[0, 0], [0, 0]]
    for run in range(10_000):
        sample, canary = (is_drawn(draw, KEY, f"run_{run}", 0.3) for draw in Draw)
        table[sample][canary] += 1
    assert stats.chi2_contingency(table).pvalue > 0.001
    assert min(map(min, table)) > 500


def test_no_label_begins_another_one() -> None:
    labels = [str(draw) for draw in Draw]
    assert not any(a != b and b.startswith(a) for a in labels for b in labels)


@given(st.text(max_size=30), st.integers(0, 2**53))
def test_the_draw_is_exact(run_id: str, parts: int) -> None:
    """As fractions have it, without rounding the digest."""
    try:
        message = b"sample" + run_id.encode()
    except UnicodeEncodeError:
        return
    digest = hmac.new(KEY, message, hashlib.sha256).digest()
    position = Fraction(int.from_bytes(digest, "big"), 2**256)
    chosen = parts / 2**53
    assert is_drawn(Draw.SAMPLE, KEY, run_id, chosen) == (position < Fraction(chosen))
    at = float(position)
    assert is_drawn(Draw.SAMPLE, KEY, run_id, at) == (position < Fraction(at))
    assert is_drawn(Draw.SAMPLE, KEY, run_id, 1.0)
    assert not is_drawn(Draw.SAMPLE, KEY, run_id, 0.0)


def test_another_key_draws_others() -> None:
    one, other = (
        [is_drawn(Draw.SAMPLE, key, f"run_{n}", 0.5) for n in range(200)] for key in (b"a", b"b")
    )
    assert 60 < sum(a == b for a, b in zip(one, other, strict=True)) < 140


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_a_rate_that_is_none_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="rate: from 0 to 1"):
        is_drawn(Draw.SAMPLE, KEY, "run_1", wrong)
    with pytest.raises(ValueError, match="key: may not be empty"):
        is_drawn(Draw.SAMPLE, b"", "run_1", 0.5)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"decay": "cosine"}, "decay"),
        ({"decay": "linear", "min_floor": 0.0009}, "min_floor"),
        ({"decay": "linear", "min_floor": math.nan}, "min_floor"),
        ({"decay": "exponential", "k": 0.0}, "k"),
        ({"decay": "step"}, "steps"),
        ({"decay": "linear", "steps": [Step(0.9, 0.1)]}, "steps"),
        ({"decay": "step", "steps": [Step(0.9, 0.1), Step(0.9, 0.05)]}, "steps"),
        ({"decay": "step", "steps": [Step(0.9, 0.1), Step(0.95, 0.2)]}, "steps"),
        ({"decay": "step", "steps": [Step(1.1, 0.1)]}, "steps"),
        ({"decay": "step", "steps": [Step(0.5 + n / 100, 0.1) for n in range(21)]}, "steps"),
    ],
)
def test_settings_outside_their_limits_are_refused_by_name(
    fields: dict[str, object], named: str
) -> None:
    with pytest.raises(SamplingSettingsError, match=f"^{named}:"):
        SamplingSettings(**fields)  # type: ignore[arg-type]
