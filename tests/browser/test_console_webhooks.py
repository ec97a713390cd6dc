"""Webhooks in the console, as the API has them; and a service that cannot be reached."""

from playwright.sync_api import expect

from tests.component.webhooks.conftest import publish
from tests.support.http_faults import Fault
from tests.support.subscribers import loopback_subscriber


def test_a_webhook_is_made_its_deliveries_followed_and_one_sent_again(console):
    platform = console.served.platform
    page = console.open("#/webhooks")
    expect(page.locator(".empty")).to_contain_text("autotune webhooks create")
    with loopback_subscriber() as subscriber:
        page.get_by_role("button", name="New webhook").click()
        page.get_by_label("URL", exact=True).fill(subscriber.url)
        page.get_by_label("Events", exact=True).fill("score.complete")
        page.get_by_role("button", name="Create").click()
        expect(page.locator("dialog .trouble")).to_contain_text("eventTypes")
        page.get_by_label("Events", exact=True).fill("score.completed, batch.completed")
        page.get_by_label("Description", exact=True).fill("of the trainer")
        page.get_by_role("button", name="Create").click()
        secret = page.locator("dialog code").inner_text()
        assert secret.startswith("whsec_")
        page.get_by_role("button", name="I have it").click()

        subscriber.answers(500)
        events = publish(platform, 2)
        platform.deliver()
        (made,) = platform.call("GET", "/api/v1/webhooks").json["webhooks"]
        expect(page.locator("tbody tr")).to_have_count(1)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text(subscriber.url)
        assert page.url.endswith(f"#/webhooks/{made['id']}")
        path = f"/api/v1/webhooks/{made['id']}/deliveries"
        listed = platform.call("GET", path).json["deliveries"]
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(len(listed))
        for index, delivery in enumerate(listed):
            for told in (delivery["eventId"], "pending", "500 rejected"):
                expect(rows.nth(index)).to_contain_text(told)

        page.locator("select").select_option("failed")
        expect(page.locator(".empty")).to_contain_text("No such deliveries")
        page.locator("select").select_option("")
        subscriber.answers(200)
        page.get_by_role("button", name=f"Open {events[0].id}").click()
        expect(page.locator("dialog pre")).to_contain_text('"number": 0')
        with page.expect_response("**/replay"):
            page.get_by_role("button", name="Send again").click()
        platform.deliver()
        page.get_by_role("button", name="Close").click()
        expect(page.locator("tr", has_text=events[0].id)).to_contain_text("delivered")
        assert subscriber.received[-1].verified(secret)

    page.get_by_role("button", name="Disable").click()
    page.locator("dialog").get_by_role("button", name="Disable").click()
    expect(page.locator(".facts")).to_contain_text("disabled requested")
    page.get_by_role("button", name="Delete").click()
    page.locator("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("h1")).to_have_text("Webhooks")
    assert platform.call("GET", "/api/v1/webhooks").json["webhooks"] == []


def test_what_fails_for_now_is_told_and_asked_again_by_itself(console):
    page = console.open("#/webhooks")
    console.go(page, "#/keys")
    page.context.set_offline(True)
    page.evaluate("location.hash = '#/webhooks'")
    expect(page.locator(".trouble")).to_contain_text("The service cannot be reached")
    # However often it is asked until somebody has looked.
    console.served.misbehave(*[Fault("GET /api/v1/webhooks", status=503)] * 100)
    page.context.set_offline(False)
    expect(page.locator(".trouble")).to_contain_text("unavailable")
    console.served.faults.clear()
    expect(page.locator(".empty")).to_contain_text("No webhooks", timeout=60_000)
    expect(page.locator(".trouble")).to_have_count(0)


def test_what_another_organization_has_is_not_found(console):
    platform = console.served.platform
    hook = platform.call("POST", "/api/v1/webhooks", {"url": "https://example.com/theirs"})
    webhook_id = hook.json["webhook"]["id"]
    stranger = console.open("#/webhooks", api_key=platform.new_organization("strangers"))
    expect(stranger.locator(".empty")).to_contain_text("No webhooks")
    stranger.evaluate("id => { location.hash = `#/webhooks/${id}`; }", webhook_id)
    expect(stranger.locator(".trouble")).to_contain_text("no webhook whk_")
    expect(stranger.locator(".trouble")).to_have_count(1)
    for view in ("keys", "sessions", "audit", "reward-urls"):
        console.go(stranger, f"#/{view}")
        text = stranger.locator("main").inner_text()
        assert platform.me()["id"] not in text
        assert "theirs" not in text
