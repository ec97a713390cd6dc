"""How often intervals hold the true value, on real levels drawn anew and on made ones."""

from collections.abc import Callable, Iterator

import numpy as np

from autotune_platform.statistics.intervals import (
    CONFIDENCE,
    Interval,
    kappa_with_interval,
    mean_interval,
)
from autotune_platform.statistics.kappa import quadratic_kappa
from autotune_platform.statistics.looks import alpha_of_look, change_in_kappa
from autotune_platform.statistics.means import (
    Labelled,
    Unlabelled,
    corrected_difference,
    corrected_mean,
)
from tests.simulations.rates import Rate
from tests.support.summary_levels import GPT_4
from tests.support.summary_levels.reading import SummaryLevels, summary_levels

Generator = np.random.Generator
SYSTEMS = 12


def all_coverages(runs: int, seed: int = 1) -> list[Rate]:
    """Simulates every interval.

    Args:
        runs: Draws of each.
        seed: The same seed gives the same rates.
    """
    random = np.random.default_rng(seed)
    return [
        *kappa_of_real_judges(runs, random),
        *kappa_of_made_judges(runs, random),
        *changes_of_kappa(runs, random),
        *means_by_group(runs, random),
        *corrected_means(runs, random),
        corrected_differences(runs, random),
        *differences_of_uneven_groups(runs, random),
        *kappa_and_error_of_uneven_groups(runs, random),
    ]


def covered(
    what: str,
    nominal: float,
    runs: int,
    truth: float,
    draw: Callable[[], Interval],
    *,
    off: int = 0,
) -> Rate:
    """Counts intervals that hold the truth; one that is missing does not."""
    count = 0
    for _ in range(runs):
        interval = draw()
        if interval.low is not None and interval.high is not None:
            count += interval.low <= truth <= interval.high
    return Rate(what, nominal, count, runs, off)


def articles_drawn(
    levels: SummaryLevels, random: Generator, articles: int, each: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draws articles with replacement, and some summaries of each: rows, and their groups."""
    drawn = random.integers(0, len(np.unique(levels.groups)), articles)
    systems = np.argsort(random.uniform(size=(articles, SYSTEMS)), axis=1)[:, :each]
    rows = systems * (levels.groups.max() + 1) + drawn[:, None]
    return rows.ravel(), np.repeat(np.arange(articles), each)


def kappa_of_real_judges(runs: int, random: Generator) -> Iterator[Rate]:
    for criterion, prompt in (("coherence", "mcq"), ("relevance", "rts")):
        levels = summary_levels(criterion)
        truth, judged = levels.truth, levels.judged(prompt)
        kappa = quadratic_kappa(truth, judged).value
        assert kappa is not None
        for articles, each in ((50, 1), (50, 4), (30, 12)):

            def draw(*, by_group: bool = True) -> Interval:
                rows, groups = articles_drawn(levels, random, articles, each)  # noqa: B023
                keys = groups if by_group else np.arange(groups.size)
                return kappa_with_interval(truth[rows], judged[rows], keys).interval  # noqa: B023

            of = f"κ of {criterion} {prompt}, {articles} articles with {each}"
            yield covered(of, CONFIDENCE, runs, kappa, draw)
            if each == SYSTEMS:
                yield covered(
                    f"{of}, groups ignored",
                    CONFIDENCE,
                    runs,
                    kappa,
                    lambda: draw(by_group=False),
                    off=-1,
                )


def made_levels(random: Generator, groups: int, each: int) -> tuple[np.ndarray, ...]:
    """Makes truth and a judge, both of which groups pull one way or the other."""
    numbers = np.repeat(np.arange(groups), each)
    latent = random.normal(0, 1, groups)[numbers] + random.normal(0, 1.2, numbers.size)
    pull = random.normal(0.4, 0.7, groups)[numbers]
    judged = latent + pull + random.normal(0, 0.9, numbers.size)
    return (*(np.clip(np.round(each), -3, 3) for each in (latent, judged)), numbers)


def kappa_of_made_judges(runs: int, random: Generator) -> Iterator[Rate]:
    truth, judged, _ = made_levels(np.random.default_rng(0), 300_000, 2)
    kappa = quadratic_kappa(truth, judged).value
    assert kappa is not None
    for groups, each in ((25, 2), (60, 3)):
        yield covered(
            f"κ of made levels, {groups} groups with {each}",
            CONFIDENCE,
            runs,
            kappa,
            lambda: kappa_with_interval(*made_levels(random, groups, each)).interval,  # noqa: B023
        )


def changes_of_kappa(runs: int, random: Generator) -> Iterator[Rate]:
    """Counts lower bounds of Δ at the first look that are below the true Δ."""
    levels = summary_levels("coherence")
    truth = levels.truth
    for before, after in (("altrts", "mcq"), ("mcq", "altmcq")):
        old, new = levels.judged(before), levels.judged(after)
        kappas = [quadratic_kappa(truth, each).value for each in (old, new)]
        delta = kappas[1] - kappas[0]  # type: ignore[operator]
        for articles, each in ((50, 2), (40, 6)):
            count = 0
            for _ in range(runs):
                rows, groups = articles_drawn(levels, random, articles, each)
                low = change_in_kappa(truth[rows], old[rows], new[rows], groups, look=1).low
                count += low is not None and low <= delta
            what = f"lower bound of Δκ, {before} to {after}, {articles} articles with {each}"
            yield Rate(what, 1 - alpha_of_look(1), count, runs)


def means_by_group(runs: int, random: Generator) -> Iterator[Rate]:
    levels = summary_levels("relevance")
    error = levels.judged("altmcq") - levels.truth
    for articles, each in ((25, 2), (30, 12)):

        def draw() -> Interval:
            rows, groups = articles_drawn(levels, random, articles, each)  # noqa: B023
            return mean_interval(error[rows], groups)[1]

        what = f"mean error, {articles} articles with {each}"
        yield covered(what, CONFIDENCE, runs, float(error.mean()), draw)


def corrected_means(runs: int, random: Generator) -> Iterator[Rate]:
    levels = summary_levels("relevance")
    truth, judged = levels.truth, levels.judged("rts", GPT_4)
    for n in (50, 100, 300):

        def real() -> Interval:
            rows = random.permutation(truth.size)
            chosen, rest = rows[:n], rows[n:]  # noqa: B023
            return corrected_mean(
                Labelled(truth[chosen], judged[chosen], levels.groups[chosen]),
                Unlabelled(judged[rest], levels.groups[rest]),
            ).corrected.interval

        what = f"corrected mean, gpt-4 on relevance, {n} labels of 1,200"
        # There are no more than 1,200, and intervals do not know that a quarter of all is known.
        off = int(n == 300)
        yield covered(what, CONFIDENCE, runs, float(truth.mean()), real, off=off)
    true_mean = float(made_levels(np.random.default_rng(0), 300_000, 2)[0].mean())
    for groups, each in ((60, 1), (40, 3)):

        def made() -> Interval:
            y, f, keys = made_levels(random, groups, each)  # noqa: B023
            _, u, others = made_levels(random, 400, 2)
            found = corrected_mean(Labelled(y, f, keys), Unlabelled(u, others + 10_000))
            return found.corrected.interval

        what = f"corrected mean, made levels, {groups} groups with {each}"
        yield covered(what, CONFIDENCE, runs, true_mean, made)


def corrected_differences(runs: int, random: Generator) -> Rate:
    """Both versions answer the same prompts; the one after is better by a level on a third."""
    groups, labelled = 150, 60

    def version(difficulty: np.ndarray, gain: float) -> tuple[np.ndarray, np.ndarray]:
        better = np.where(random.uniform(size=difficulty.size) < 1 / 3, gain, 0)
        latent = difficulty + better + random.normal(0, 0.6, difficulty.size)
        judged = latent + 0.5 + random.normal(0, 0.8, difficulty.size)
        return np.clip(np.round(latent), -3, 3), np.clip(np.round(judged), -3, 3)

    def parts(y: np.ndarray, f: np.ndarray) -> tuple[Labelled, Unlabelled]:
        keys = random.permutation(y.size)
        chosen, rest = keys[:labelled], keys[labelled:]
        return Labelled(y[chosen], f[chosen], chosen), Unlabelled(f[rest], rest)

    def draw() -> Interval:
        difficulty = random.normal(-0.5, 1.3, groups)
        before, after = (parts(*version(difficulty, gain)) for gain in (0, 1))
        return corrected_difference(before, after).interval

    many = random.normal(-0.5, 1.3, 1_000_000)
    means = [version(many, gain)[0].mean() for gain in (0, 1)]
    what = "corrected difference of two versions, 60 labels of 150 groups each"
    return covered(what, CONFIDENCE, runs, float(means[1] - means[0]), draw)


def differences_of_uneven_groups(runs: int, random: Generator) -> Iterator[Rate]:
    """Both versions answer alike; one conversation has many of the samples."""
    for large, single, labelled in ((40, 60, 50), (100, 100, 80)):
        groups = np.repeat(np.arange(single + 1), [large] + [1] * single)

        def arm(shared: np.ndarray) -> tuple[Labelled, Unlabelled]:
            own = (shared + random.normal(size=shared.size))[groups] / np.sqrt(2)  # noqa: B023
            latent = np.sqrt(0.6) * own + np.sqrt(0.4) * random.normal(size=own.size)
            y = np.clip(np.round(2 * latent + 1.5), -3, 3)
            f = np.where(random.random(y.size) < 0.8, y, random.integers(-3, 4, y.size))
            chosen, rest = np.split(random.permutation(y.size), [labelled])  # noqa: B023
            return (
                Labelled(y[chosen], f[chosen], groups[chosen]),  # noqa: B023
                Unlabelled(f[rest], groups[rest]),  # noqa: B023
            )

        def draw() -> Interval:
            shared = random.normal(size=single + 1)  # noqa: B023
            return corrected_difference(arm(shared), arm(shared), confidence=0.95).interval

        what = f"corrected difference, one group of {large} and {single} of one, {labelled} labels"
        # Wide ones hold it more often: the large group is not all that varies.
        yield covered(what, 0.95, runs, 0.0, draw, off=1)


def kappa_and_error_of_uneven_groups(runs: int, random: Generator) -> Iterator[Rate]:
    """One conversation has many of the samples; nothing else tells it from the others."""
    truth, judged, _ = made_levels(np.random.default_rng(0), 300_000, 1)
    kappa, error = quadratic_kappa(truth, judged).value, float((judged - truth).mean())
    assert kappa is not None
    for large, single in ((40, 60), (100, 100)):
        groups = np.repeat(np.arange(single + 1), [large] + [1] * single)

        def draw() -> tuple[np.ndarray, np.ndarray]:
            pulled = random.normal(0, 1, (2, groups.max() + 1))[:, groups]  # noqa: B023
            latent = pulled[0] + random.normal(0, 1.2, groups.size)  # noqa: B023
            said = latent + 0.4 + 0.7 * pulled[1] + random.normal(0, 0.9, groups.size)  # noqa: B023
            return np.clip(np.round(latent), -3, 3), np.clip(np.round(said), -3, 3)

        def of_kappa() -> Interval:
            return kappa_with_interval(*draw(), groups).interval  # noqa: B023

        def of_error() -> Interval:
            y, f = draw()
            return mean_interval(f - y, groups)[1]  # noqa: B023

        what = f"one group of {large} and {single} of one"
        # Wide ones hold it more often: the large group is not all that varies.
        yield covered(f"κ, {what}", CONFIDENCE, runs, kappa, of_kappa, off=1)
        yield covered(f"mean error, {what}", CONFIDENCE, runs, error, of_error, off=1)
