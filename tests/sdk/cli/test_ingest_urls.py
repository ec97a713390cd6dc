"""``autotune decks ingest``: a URL is shown once, listed and revoked."""


def test_an_ingest_url_is_made_listed_and_revoked(run):
    made = run("decks", "ingest", "create", "--name", "curl")
    assert "/samples" in made.stdout
    assert "/decks" in made.stdout
    (listed,) = run("decks", "ingest", "list", "--json").json_lines
    assert (listed["name"], listed["state"], listed["collection"]) == (
        "curl",
        "active",
        "telemetry",
    )
    assert listed["id"] in run("decks", "ingest", "get", listed["id"]).stdout
    revoked = run("decks", "ingest", "revoke", listed["id"], "--json").json_lines[0]
    assert revoked["state"] == "revoked"
    assert "url" not in run("decks", "ingest", "list", "--json").json_lines[0]
