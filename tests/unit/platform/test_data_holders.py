"""Each domain says what it keeps, for how long and how it is erased, and operators can read it."""

import re
from itertools import groupby

from autotune_platform.access.routes import ROUTES
from autotune_platform.storage.data_holders import Holding
from tools.data_holders import GUIDE, domains, holders, with_table

# They work on what others keep, or on nothing that is stored.
KEEP_NOTHING = {
    "checks",
    "gateway",
    "http",
    "operations",
    "outbound",
    "overview",
    "runtime",
    "statistics",
    "storage",
    "wiring",
}


def holdings() -> list[Holding]:
    return [holding for holder in holders().values() for holding in holder.holds]


def test_every_domain_says_what_it_keeps_or_keeps_nothing() -> None:
    assert holders().keys() == set(domains()) - KEEP_NOTHING
    assert holders().keys() | KEEP_NOTHING == set(domains())
    assert {name: holder.domain for name, holder in holders().items()} == {
        name: name for name in holders()
    }
    assert all(holder.holds for holder in holders().values())


def test_no_two_domains_keep_the_same() -> None:
    places = sorted((holding.place, holding.key) for holding in holdings())
    assert [key for key, same in groupby(places) if len(list(same)) > 1] == []


def test_what_is_kept_is_erased_on_request_or_retained_for_a_reason() -> None:
    assert [one for one in holdings() if bool(one.erased) == bool(one.retained)] == []


def test_texts_are_always_erased_on_request() -> None:
    assert [one for one in holdings() if one.has_text and not one.erased] == []


def test_what_erases_is_a_route() -> None:
    routes = {(method, re.sub(r"<\w+>", "{id}", path)) for method, path in ROUTES}
    named = {named for one in holdings() for named in re.findall(r"`(\w+) (\S+)`", one.erased)}
    assert named
    assert named <= routes


def test_the_operators_guide_has_all_of_it() -> None:
    guide = GUIDE.read_text()
    assert guide == with_table(guide), "python -m tools.data_holders"
