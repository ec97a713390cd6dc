"""What happens to a grader while it is probed is neither lost nor overwritten."""

from typing import Any

import pytest

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.graders import probing, repository
from autotune_platform.graders.service import GraderService
from autotune_platform.runtime.environment.graders import ProbingEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.transactions import ANYTHING, PRESENT, Condition, Put
from autotune_platform.wiring.grader_admin import ProbingParts
from tests.support.graders import LoopbackGrader, loopback_grader
from tests.support.health import VERIFIED, falls_ill, health, recovers, shown, told
from tests.support.platform import Platform


@pytest.mark.usefixtures("one_shard")
def test_without_time_the_longest_unprobed_come_first_the_next_time(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "_PROBES_AT_ONCE", 1)
    graders = [platform.new_grader(grader)]
    with loopback_grader() as second, loopback_grader() as third:
        graders += [platform.new_grader(second), platform.new_grader(third)]
        assert platform.probe_graders(seconds=19) == {"probed": 0, "changed": 0, "left": 3}
        probed = []
        for _ in range(3):
            asked = iter([240.0, 240.0])
            parts = ProbingParts(ProbingEnvironment.parse())
            report = parts.probing.probe(0, seconds_left=lambda asked=asked: next(asked, 0))
            parts.connections.close()
            assert (report.probed, report.left) == (2, 1)
            probed.append({id_ for id_ in graders if health(platform, id_)["lastProbe"]})
    assert [len(those) for those in probed] == [2, 3, 3]


def test_a_change_by_the_owner_during_a_probe_is_kept_and_the_status_follows_later(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    falls_ill(grader)
    platform.probe_graders()
    ask = GraderGateway.ask_health

    def ask_while_the_owner_renames(*args: Any, **options: Any) -> Any:
        platform.call("PATCH", f"/api/v1/graders/{grader_id}", {"name": "renamed"})
        return ask(*args, **options)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(GraderGateway, "ask_health", ask_while_the_owner_renames)
        assert platform.probe_graders() == {"probed": 1, "changed": 0, "left": 0}
    now = shown(platform, grader_id)
    assert (now["name"], now["status"]) == ("renamed", "active")
    assert health(platform, grader_id)["consecutiveFailed"] == 1
    assert told(platform) == [VERIFIED]

    assert platform.probe_graders()["changed"] == 1
    now = shown(platform, grader_id)
    assert (now["name"], now["status"]) == ("renamed", "degraded")
    assert len(told(platform)) == 2


def test_a_verification_during_a_probe_wins(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    ask = GraderGateway.ask_health

    def ask_while_the_owner_verifies(*args: Any, **options: Any) -> Any:
        found = ask(*args, **options)
        monkeypatch.setattr(GraderGateway, "ask_health", ask)
        platform.call("POST", f"/api/v1/graders/{grader_id}/verify")
        return found

    monkeypatch.setattr(GraderGateway, "ask_health", ask_while_the_owner_verifies)
    platform.probe_graders()
    assert health(platform, grader_id)["lastProbe"] is None


def test_a_grader_deleted_during_its_probe_does_not_come_back(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    falls_ill(grader)
    platform.probe_graders()
    ask = GraderGateway.ask_health

    def ask_while_the_owner_deletes(*args: Any, **options: Any) -> Any:
        platform.call("DELETE", f"/api/v1/graders/{grader_id}")
        return ask(*args, **options)

    monkeypatch.setattr(GraderGateway, "ask_health", ask_while_the_owner_deletes)
    assert platform.probe_graders()["changed"] == 0
    assert platform.call("GET", f"/api/v1/graders/{grader_id}").status == 404
    assert told(platform) == [VERIFIED]


def test_a_status_and_its_event_are_stored_together_or_not_at_all(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    falls_ill(grader)
    platform.probe_graders()

    def refusing_events(*, item: Any, condition: Condition = ANYTHING) -> Put:
        is_event = item["sk"].startswith("event#")
        return Put(item=item, condition=PRESENT if is_event else condition)

    with monkeypatch.context() as refused:
        refused.setattr(repository, "Put", refusing_events)
        assert platform.probe_graders()["changed"] == 0
    assert shown(platform, grader_id)["status"] == "active"
    assert health(platform, grader_id)["consecutiveFailed"] == 1
    assert told(platform) == [VERIFIED]

    assert platform.probe_graders()["changed"] == 1
    assert shown(platform, grader_id)["status"] == "degraded"
    assert len(told(platform)) == 2


def test_a_probe_of_a_busy_item_is_not_counted_and_spoils_no_other(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:

    busy = platform.new_grader(grader)
    record = GraderService.record_probe

    def refuse_one(self: Any, registered: Any, *args: Any) -> Any:
        if registered.id == busy:
            raise UnavailableError("the item is busy")
        return record(self, registered, *args)

    monkeypatch.setattr(GraderService, "record_probe", refuse_one)
    with loopback_grader() as second:
        other = platform.new_grader(second)
        assert platform.probe_graders() == {"probed": 1, "changed": 0, "left": 1}
    assert health(platform, busy)["lastProbe"] is None
    assert health(platform, other)["lastProbe"]["outcome"] == "healthy"


def test_of_two_probes_at_once_the_first_counts(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    grader_id = platform.new_grader(grader)
    falls_ill(grader)
    platform.probe_graders()
    ask = GraderGateway.ask_health

    def ask_while_another_run_finds_it_well(*args: Any, **options: Any) -> Any:
        found = ask(*args, **options)
        monkeypatch.setattr(GraderGateway, "ask_health", ask)
        recovers(grader)
        assert platform.probe_graders()["probed"] == 1
        return found

    monkeypatch.setattr(GraderGateway, "ask_health", ask_while_another_run_finds_it_well)
    assert platform.probe_graders()["changed"] == 0
    answer = health(platform, grader_id)
    assert (answer["status"], answer["consecutiveHealthy"]) == ("active", 1)
    assert told(platform) == [VERIFIED]
