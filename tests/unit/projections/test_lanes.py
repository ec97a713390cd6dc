"""Processes that count at the same time come to have lanes of their own."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

from autotune_platform.storage.lanes import LANES, Lane


def test_processes_that_leave_a_lane_where_they_meet_soon_meet_no_more() -> None:
    lanes = [Lane(Random(number)) for number in range(200)]
    met = []
    for _ in range(30):
        taken = Counter(lane.number for lane in lanes)
        first: set[int] = set()
        for lane in lanes:
            # Of those that meet, one goes on.
            if taken[lane.number] > 1 and lane.number in first:
                lane.leave()
            first.add(lane.number)
        met.append(len(lanes) - len({lane.number for lane in lanes}))
    assert met[-1] == 0, met


def test_a_lane_that_is_left_is_another_one() -> None:
    lane = Lane(Random(1))
    for _ in range(2_000):
        before = lane.number
        lane.leave()
        assert lane.number != before
        assert 0 <= lane.number < LANES


def test_few_processes_have_few_lanes() -> None:
    assert len({Lane(Random(number)).number for number in range(1_000)}) == 16


def test_each_thread_has_a_lane_of_its_own_and_keeps_it() -> None:
    lane = Lane(Random(1))
    here = lane.number
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lane.leave).result()
        there = threads.submit(lambda: lane.number).result()
    assert there != here
    assert lane.number == here
