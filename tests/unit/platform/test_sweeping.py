"""The loop of sweeps: one that fails is put off, and holds up nothing behind it."""

import logging

import pytest

from autotune_platform.runtime.sweeping import look_at_each


def doubled(one):
    if one < 0:
        raise ValueError(one)
    return 2 * one


def sweep(due, *, has_time=lambda: True, put_off=lambda _: None, look=doubled):
    return look_at_each(due, look, has_time=has_time, put_off=put_off)


def test_each_is_looked_at_in_its_order():
    looks = sweep([3, 1, 2]).require()
    assert (looks.count, looks.found, looks.failed) == (3, [6, 2, 4], None)


def test_what_fails_is_put_off_and_the_first_error_is_kept():
    off = []
    looks = sweep([1, -2, 3, -4, 5], put_off=off.append)
    assert (looks.count, looks.found, off) == (5, [2, 6, 10], [-2, -4])
    with pytest.raises(ValueError, match="-2"):
        looks.require()


def test_nothing_is_begun_without_time():
    left = iter([True, True, False])
    looks = sweep([1, 2, 3, 4], has_time=lambda: next(left))
    assert looks.found == [2, 4]


def test_one_that_cannot_be_put_off_holds_up_none_either(caplog):
    def busy(_):
        raise RuntimeError("busy")

    with caplog.at_level(logging.ERROR):
        looks = sweep([-1, 2], put_off=busy)
    assert looks.found == [4]
    assert "not put off" in caplog.text
    with pytest.raises(ValueError, match="-1"):
        looks.require()


def test_what_ends_the_process_ends_the_sweep():
    def stopped(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep([1], look=stopped)


def test_what_is_added_meanwhile_is_looked_at_too():
    left = [3]

    def taken():
        while left:
            yield left.pop()

    def look(one):
        left.extend([one - 1] if one else [])
        return one

    assert sweep(taken(), look=look).found == [3, 2, 1, 0]
