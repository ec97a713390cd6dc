"""A group's half follows from the group, the organisation and the share alone."""

import pytest

from autotune_platform.decks.splitting import split_of

GROUPS = [f"group {number}" for number in range(4_000)]


def held_out(organization_id: str, share: float) -> set[str]:
    return {
        group
        for group in GROUPS
        if split_of(organization_id, group, holdout_share=share) == "holdout"
    }


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_about_the_share_of_groups_is_held_out(share: float) -> None:
    # Four standard deviations of a fair draw.
    spread = 4 * (share * (1 - share) / len(GROUPS)) ** 0.5
    assert abs(len(held_out("org_a", share)) / len(GROUPS) - share) <= spread


def test_what_a_smaller_share_holds_out_a_larger_one_does_too() -> None:
    assert held_out("org_a", 0.2) < held_out("org_a", 0.6)


def test_organisations_draw_apart() -> None:
    both = held_out("org_a", 0.5) & held_out("org_b", 0.5)
    assert 850 < len(both) < 1_150
