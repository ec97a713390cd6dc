"""Keys, sessions, reward URLs and the audit log in the console, compared with what the API says."""

import re
from datetime import UTC, datetime

from playwright.sync_api import expect

from autotune.protocol.audit import AuditedEvent
from autotune.protocol.ids import new_id
from autotune_platform.runtime.environment.audit import AuditEnvironment
from autotune_platform.wiring.access import AuditParts


def keys(console):
    return {
        one["name"]: one for one in console.served.platform.call("GET", "/api/v1/keys").json["keys"]
    }


def test_a_key_is_made_shown_once_named_anew_and_revoked(console):
    page = console.open("#/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("textbox", name="Name").fill("trainer")
    page.get_by_label("Role", exact=True).select_option("grader_owner")
    page.get_by_label("Principal", exact=True).fill("not a principal!")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("dialog .trouble")).to_contain_text("principalId")
    expect(page.locator("dialog .trouble")).to_contain_text(re.compile(r"Request req_\w+"))
    expect(page.get_by_label("Principal", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Principal", exact=True).fill("anna@example.com")
    page.get_by_label("Days until it expires", exact=True).fill("30")
    page.get_by_role("button", name="Create").click()
    shown = page.locator("dialog code").inner_text()
    me = console.served.platform.me(shown)
    assert (me["role"], me["principalId"]) == ("grader_owner", "anna@example.com")
    assert me["expiresAt"] is not None
    page.get_by_role("button", name="I have it").click()
    assert shown not in page.content()

    page.get_by_role("button", name="Rename trainer").click()
    page.get_by_role("textbox", name="Name").fill("judge")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rename judge")).to_be_visible()
    page.get_by_role("button", name="Revoke judge").click()
    page.get_by_role("button", name="Cancel").click()
    assert keys(console)["judge"]["status"] == "active"
    page.get_by_role("button", name="Revoke judge").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("button", name="Revoke judge")).to_have_count(0)
    assert keys(console)["judge"]["status"] == "revoked"
    expect(page.locator("tr", has_text="judge")).to_contain_text("revoked")


def test_who_is_signed_out_elsewhere_is_told_at_the_next_request(console):
    admin = console.open("#/sessions")
    operator = console.served.platform.new_key("training_operator", principal_id="bert")
    other = console.open("#/webhooks", api_key=operator)
    expect(other.locator(".who")).to_contain_text("bert")
    console.go(other, "#/sessions")
    expect(other.locator("tbody tr")).to_have_count(1)

    admin.reload()
    row = admin.locator("tr", has_text="bert")
    expect(row).to_contain_text("active")
    row.get_by_role("button").click()
    admin.locator("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    other.reload()
    expect(other.locator("h1")).to_have_text("Your session has ended")
    other.reload()
    expect(other.locator("h1")).to_have_text("Sign in")

    admin.get_by_role("button", name="Sign out").click()
    expect(admin.locator("h1")).to_have_text("You are signed out")
    listed = console.served.platform.call("GET", "/api/v1/sessions").json["sessions"]
    assert {one["status"] for one in listed} == {"revoked"}


def test_a_link_that_was_used_opens_nothing(console):
    link = console.link()
    first = console.visit("")
    first.goto(link)
    expect(first.locator(".brand")).to_be_visible()
    assert "code=" not in first.url
    second = console.visit("")
    second.goto(link)
    expect(second.locator("h1")).to_have_text("This link does not work")
    assert "code=" not in second.url


def test_the_audit_log_is_filtered_by_its_address_and_paged(console):
    platform = console.served.platform
    for number in range(60):
        platform.call("PATCH", f"/api/v1/keys/key_{number:032x}", {"name": "n"})
    page = console.open("#/audit")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.get_by_label("Action", exact=True).fill("update_key")
    page.keyboard.press("Enter")
    expect(page.locator("tbody")).not_to_contain_text("create session")
    assert "action=update_key" in page.url
    expect(page.locator("tbody tr").first).to_contain_text("not found")
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tbody tr")).to_have_count(10)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(10)
    page.get_by_role("link", name="First page").click()
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_label("Action", exact=True).fill("Not An Action")
    page.keyboard.press("Enter")
    expect(page.locator(".trouble")).to_contain_text("action")


def test_the_audit_log_shows_what_happened_by_itself(console):
    event = AuditedEvent(
        id=new_id("aud"),
        time=datetime.now(UTC),
        action="apprentice_alarm",
        event_id="evt_x",
        data={"taskId": "apt_x", "version": 2, "kind": "alarm"},
    )
    repository = AuditParts(AuditEnvironment.parse()).audit_repository
    repository.add(console.served.platform.me()["organizationId"], event)
    page = console.open("#/audit?action=apprentice_alarm")
    expect(page.locator("tbody tr")).to_have_count(1)
    for text in ("apprentice alarm", "the service", "alarm 2", "apt_x"):
        expect(page.locator("tbody tr")).to_contain_text(text)


def test_a_reward_url_is_made_for_a_task_shown_once_and_revoked(console):
    platform = console.served.platform
    task_id = console.served.new_task("arithmetic")
    page = console.open("#/reward-urls")
    expect(page.locator(".empty")).to_contain_text("autotune reward-urls create")
    page.get_by_role("button", name="New reward URL").click()
    page.get_by_role("textbox", name="Name").fill("slime run")
    page.get_by_label("Task", exact=True).select_option(task_id)
    page.get_by_label("Model", exact=True).fill("policy-7b")
    page.get_by_role("button", name="Create").click()
    shown = page.locator("dialog .copy code").inner_text()
    assert "/r/" in shown
    page.get_by_role("button", name="I have it").click()
    (made,) = platform.call("GET", "/api/v1/reward-urls").json["rewardUrls"]
    row = page.locator("tbody tr")
    for text in (made["name"], made["state"], made["taskId"], made["modelId"]):
        expect(row).to_contain_text(text)
    of_task = row.get_by_role("link", name=task_id)
    expect(of_task).to_have_attribute("href", f"#/tasks/{task_id}")
    page.get_by_role("button", name="Revoke slime run").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(row).to_contain_text("revoked")
    assert platform.call("GET", "/api/v1/reward-urls").json["rewardUrls"][0]["state"] == "revoked"
