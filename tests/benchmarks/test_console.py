"""What the benchmark of the console takes for a difference."""

from benchmarks.console import OF_WHO_ASKS, View, changed


def view(shape, completions, *, requests=1, reads=5):
    return View(shape, completions, requests, reads, seconds=0.1, longest=0.2)


def test_a_page_that_asks_for_more_where_there_is_more_is_found():
    small = [view("#/a", 10), view("#/b", 10), view("#/c", 10), view("#/d", 10)]
    large = [
        view("#/a", 1_000, reads=5 + OF_WHO_ASKS),
        view("#/b", 1_000, reads=6 + OF_WHO_ASKS),
        view("#/c", 1_000, requests=2),
        view("#/d", 1_000, reads=1),
        view("#/only-there", 1_000, reads=500),
    ]
    assert changed(small, large) == ["#/b", "#/c"]
