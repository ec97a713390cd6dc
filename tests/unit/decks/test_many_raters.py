"""Agreement of very many people is shown in a bounded answer."""

from types import SimpleNamespace
from typing import Any

from autotune.protocol.limits import MAX_SHOWN_RATERS
from autotune_platform.decks.labels.agreement import _ceiling


def test_the_people_with_the_most_pairs_are_shown_and_all_are_counted() -> None:
    def truth(place: int) -> Any:
        said = {f"often{place % 3}": 1, f"once{place:04}": 2, f"rarely{place:04}": 1}
        words = {
            rater: SimpleNamespace(score=score, saw_result=False) for rater, score in said.items()
        }
        return SimpleNamespace(sample_id=f"smp_{place}", words=words)

    grader: Any = SimpleNamespace(organization_id="org_1", id="grd_1")
    found = _ceiling(grader, [truth(place) for place in range(300)])
    assert (found.raters, found.samples) == (603, 300)
    assert len(found.by_rater) == MAX_SHOWN_RATERS
    assert {one.rater for one in found.by_rater[:3]} == {"often0", "often1", "often2"}
    assert [one.n for one in found.by_rater[:4]] == [100, 100, 100, 1]
