"""The reader that tests, benchmarks and pictures go over the console with."""

import pytest

from tests.support.http_faults import Fault
from tools.console_views import TooManyViewsError, reading, shape_of


def test_a_reader_finds_what_pages_lead_to_and_notes_what_they_ask(console, browser):
    hook = console.served.platform.call(
        "POST", "/api/v1/webhooks", {"url": "https://example.com/hook"}
    ).json["webhook"]
    with reading(browser, console.link()) as reader:
        shapes = [shape_of(view) for view in reader.views()]
        assert len(shapes) == len(set(shapes))
        assert {*reader.pages(), "#/webhooks/{id}", "#/tasks"} <= set(shapes)
        assert f"GET webhooks/{hook['id']}" in reader.asked
        assert hook["id"] in reader.ids()
        assert reader.shown_of({hook["id"]}, []) == {
            "#/webhooks": {hook["id"]},
            "#/audit": {hook["id"]},
        }


def test_a_view_takes_until_its_slowest_answer_is_there(console, browser):
    with reading(browser, console.link()) as reader:
        reader.go("#/webhooks")
        quick = reader.seconds_to("#/keys")
        reader.go("#/webhooks")
        delay = quick + 0.5
        console.served.misbehave(Fault("GET /api/v1/keys", delay_seconds=delay))
        assert reader.seconds_to("#/keys") > delay


def test_links_that_lead_on_and_on_are_no_views(console, browser):
    with reading(browser, console.link()) as reader:
        reader.pages = lambda: ["#/keys"]
        reader.links = lambda: [f"#/nothing/{number}" for number in range(201)]
        with pytest.raises(TooManyViewsError, match="more than 200"):
            list(reader.views())
