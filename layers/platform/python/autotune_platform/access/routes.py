"""What each route needs: one row for each, and no route is served without one.

``Api`` looks a request's row up before anything reads its body and before its handler runs. A route
without a row fails when its function is imported.
"""

from collections.abc import Mapping

from autotune_platform.access.grants import Grant, Open, Rule

ROUTES: Mapping[tuple[str, str], Rule] = {
    ("POST", "/api/v1/keys"): Grant("keys", "create", mints=True),
    ("GET", "/api/v1/keys"): Grant("keys", "read"),
    # Who signs may know who that is: a key learns nothing but its own role and principal.
    ("GET", "/api/v1/keys/me"): Open.ANY_KEY,
    ("PATCH", "/api/v1/keys/<key_id>"): Grant("keys", "update"),
    ("DELETE", "/api/v1/keys/<key_id>"): Grant("keys", "delete"),
    # A session lends its key's role to a browser. Every role makes its own, and none in a session.
    ("POST", "/api/v1/sessions"): Grant("sessions", "create", mints=True),
    # Proven by the code in the body.
    ("POST", "/api/v1/sessions/exchange"): Open.PUBLIC,
    # Where people sign in, which is no secret; and what their provider sent them back with.
    ("GET", "/api/v1/sessions/oidc"): Open.PUBLIC,
    ("POST", "/api/v1/sessions/oidc"): Open.PUBLIC,
    ("GET", "/api/v1/sessions"): Grant("sessions", "read"),
    ("GET", "/api/v1/sessions/me"): Open.ANY_KEY,
    ("DELETE", "/api/v1/sessions/me"): Open.ANY_KEY,
    ("DELETE", "/api/v1/sessions/<session_id>"): Grant("sessions", "delete"),
    ("GET", "/api/v1/audit"): Grant("audit", "read"),
    # Figures of all completions, whoever graded them: a grader's owner has those of the grader.
    ("GET", "/api/v1/overview"): Grant("completions", "read"),
    ("POST", "/api/v1/tasks"): Grant("tasks", "create"),
    ("GET", "/api/v1/tasks"): Grant("tasks", "read"),
    ("GET", "/api/v1/tasks/<task_id>"): Grant("tasks", "read"),
    ("GET", "/api/v1/tasks/<task_id>/stats"): Grant("completions", "read"),
    ("GET", "/api/v1/tasks/<task_id>/comparison"): Grant("completions", "read"),
    ("PATCH", "/api/v1/tasks/<task_id>"): Grant("tasks", "update"),
    ("DELETE", "/api/v1/tasks/<task_id>"): Grant("tasks", "delete"),
    ("POST", "/api/v1/graders"): Grant("graders", "create", mints=True),
    ("GET", "/api/v1/graders"): Grant("graders", "read"),
    ("GET", "/api/v1/graders/<grader_id>"): Grant("graders", "read"),
    ("PATCH", "/api/v1/graders/<grader_id>"): Grant("graders", "update"),
    ("DELETE", "/api/v1/graders/<grader_id>"): Grant("graders", "delete"),
    ("POST", "/api/v1/graders/<grader_id>/verify"): Grant("graders", "update"),
    ("POST", "/api/v1/graders/<grader_id>/rotate-secret"): Grant("graders", "update", mints=True),
    ("GET", "/api/v1/graders/<grader_id>/health"): Grant("graders", "read"),
    ("GET", "/api/v1/graders/<grader_id>/stats"): Grant("graders", "read"),
    # What a statement is made of is for who may change the grader, not for all who may choose it.
    ("GET", "/api/v1/graders/<grader_id>/usage"): Grant("graders", "update"),
    ("POST", "/api/v1/completions"): Grant("completions", "create"),
    ("POST", "/api/v1/completions/batch"): Grant("completions", "create"),
    ("POST", "/api/v1/completions/rescore"): Grant("completions", "create"),
    ("GET", "/api/v1/completions/<completion_id>"): Grant("completions", "read"),
    ("DELETE", "/api/v1/completions/<completion_id>"): Grant("completions", "delete"),
    # Canceling takes back what one submitted; it deletes nothing.
    ("POST", "/api/v1/completions/<completion_id>/cancel"): Grant("completions", "create"),
    ("GET", "/api/v1/completions/<completion_id>/score"): Grant("scores", "read"),
    ("GET", "/api/v1/completions/<completion_id>/explanation"): Grant("scores", "read"),
    ("GET", "/api/v1/completions/<completion_id>/timeline"): Grant("scores", "read"),
    # A batch is what was submitted together, for whatever graders: its owner's, not theirs.
    ("GET", "/api/v1/batches"): Grant("completions", "read"),
    ("GET", "/api/v1/batches/<batch_id>"): Grant("completions", "read"),
    ("GET", "/api/v1/batches/<batch_id>/completions"): Grant("completions", "read"),
    ("GET", "/api/v1/batches/<batch_id>/explanation"): Grant("completions", "read"),
    ("POST", "/api/v1/batches/<batch_id>/cancel"): Grant("completions", "create"),
    ("DELETE", "/api/v1/batches/<batch_id>/content"): Grant("completions", "delete"),
    # Proven by the id, which nobody can guess, and by the grader's signature for its request.
    ("POST", "/api/v1/callbacks/<call_id>"): Open.PUBLIC,
    ("POST", "/api/v1/callbacks/<call_id>/heartbeat"): Open.PUBLIC,
    ("GET", "/api/v1/runs"): Grant("completions", "read"),
    ("GET", "/api/v1/runs/<run_id>"): Grant("completions", "read"),
    ("POST", "/api/v1/runs/<run_id>/cancel"): Grant("completions", "create"),
    ("GET", "/api/v1/scores"): Grant(
        "scores", "read", with_parameter={"include": Grant("completions", "read")}
    ),
    # An export by another way: its records hold texts, which not all may read who read scores.
    ("GET", "/api/v1/scores/export"): Grant("exports", "create"),
    ("POST", "/api/v1/exports"): Grant("exports", "create"),
    ("GET", "/api/v1/exports"): Grant("exports", "read"),
    ("GET", "/api/v1/exports/<export_id>"): Grant("exports", "read"),
    ("DELETE", "/api/v1/exports/<export_id>"): Grant("exports", "delete"),
    ("GET", "/api/v1/reviews"): Grant("reviews", "read"),
    ("GET", "/api/v1/reviews/progress"): Grant("reviews", "read"),
    # Whoever may ask people sees how far they agree.
    ("GET", "/api/v1/reviews/agreement"): Grant("reviews", "create"),
    ("GET", "/api/v1/reviews/<review_id>"): Grant("reviews", "read"),
    ("POST", "/api/v1/reviews/next"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/claim"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/release"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/assign"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/answer"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/correct"): Grant("reviews", "update"),
    ("POST", "/api/v1/reviews/<review_id>/cannot-judge"): Grant("reviews", "update"),
    ("POST", "/api/v1/review-links"): Grant("reviews", "create", mints=True),
    # Who makes links sees whom they are for; those who came by one do not.
    ("GET", "/api/v1/review-links"): Grant("reviews", "create"),
    ("DELETE", "/api/v1/review-links/<link_id>"): Grant("reviews", "create"),
    # A reward URL submits to one task and returns scores of what it submitted, no more: its maker
    # may do both.
    ("POST", "/api/v1/reward-urls"): Grant("reward_urls", "create", mints=True),
    ("GET", "/api/v1/reward-urls"): Grant("reward_urls", "read"),
    ("GET", "/api/v1/reward-urls/<reward_url_id>"): Grant("reward_urls", "read"),
    ("DELETE", "/api/v1/reward-urls/<reward_url_id>"): Grant("reward_urls", "delete"),
    # Proven by the token in the path. They hang below the function URL, not below the API's.
    ("POST", "/r/<token>/openrlhf"): Open.PUBLIC,
    ("POST", "/r/<token>/slime"): Open.PUBLIC,
    ("POST", "/r/<token>/nemo-gym/verify"): Open.PUBLIC,
    ("POST", "/r/<token>/azure"): Open.PUBLIC,
    ("POST", "/r/<token>/eval-protocol/evaluate"): Open.PUBLIC,
    ("POST", "/r/<token>/nova"): Open.PUBLIC,
    # A connection lets spend: who has one made may call its provider until it is revoked.
    ("POST", "/api/v1/llm-connections"): Grant("llm_connections", "create", mints=True),
    ("GET", "/api/v1/llm-connections"): Grant("llm_connections", "read"),
    ("GET", "/api/v1/llm-connections/<connection_id>"): Grant("llm_connections", "read"),
    ("PATCH", "/api/v1/llm-connections/<connection_id>"): Grant(
        "llm_connections", "update", mints=True
    ),
    ("DELETE", "/api/v1/llm-connections/<connection_id>"): Grant("llm_connections", "delete"),
    ("POST", "/api/v1/llm-connections/<connection_id>/verify"): Grant("llm_connections", "update"),
    # A token lets spend through one connection: whoever may make one may let others do so.
    ("POST", "/api/v1/llm-tokens"): Grant("llm_connections", "create", mints=True),
    ("GET", "/api/v1/llm-tokens"): Grant("llm_connections", "read"),
    ("GET", "/api/v1/llm-tokens/<llm_token_id>"): Grant("llm_connections", "read"),
    ("DELETE", "/api/v1/llm-tokens/<llm_token_id>"): Grant("llm_connections", "delete"),
    # Proven by such a token, in the header in which the openai package sends its key.
    ("POST", "/v1/chat/completions"): Open.PUBLIC,
    ("GET", "/v1/models"): Open.PUBLIC,
    ("POST", "/v1/files"): Open.PUBLIC,
    ("GET", "/v1/files"): Open.PUBLIC,
    ("GET", "/v1/files/<file_id>"): Open.PUBLIC,
    ("DELETE", "/v1/files/<file_id>"): Open.PUBLIC,
    ("GET", "/v1/files/<file_id>/content"): Open.PUBLIC,
    ("POST", "/v1/batches"): Open.PUBLIC,
    ("GET", "/v1/batches"): Open.PUBLIC,
    ("GET", "/v1/batches/<openai_batch_id>"): Open.PUBLIC,
    ("POST", "/v1/batches/<openai_batch_id>/cancel"): Open.PUBLIC,
    ("POST", "/api/v1/llm-requests"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/batch"): Grant("llm_requests", "create"),
    ("GET", "/api/v1/llm-requests"): Grant("llm_requests", "read"),
    ("GET", "/api/v1/llm-requests/<llm_request_id>"): Grant("llm_requests", "read"),
    # Canceling and trying again are for who enqueues; they delete nothing.
    ("POST", "/api/v1/llm-requests/cancel"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/retry"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/<llm_request_id>/cancel"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/<llm_request_id>/retry"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/parse"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-requests/<llm_request_id>/parse"): Grant("llm_requests", "create"),
    ("GET", "/api/v1/llm-requests/<llm_request_id>/parses"): Grant("llm_requests", "read"),
    ("POST", "/api/v1/llm-requests/delete-content"): Grant("llm_requests", "delete"),
    ("DELETE", "/api/v1/llm-requests/<llm_request_id>/content"): Grant("llm_requests", "delete"),
    # An import enqueues, and deleting one takes back what was not enqueued yet.
    ("POST", "/api/v1/llm-imports"): Grant("llm_requests", "create", mints=True),
    ("GET", "/api/v1/llm-imports"): Grant("llm_requests", "read"),
    ("GET", "/api/v1/llm-imports/<llm_import_id>"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-imports/<llm_import_id>/start"): Grant("llm_requests", "create"),
    ("DELETE", "/api/v1/llm-imports/<llm_import_id>"): Grant("llm_requests", "create"),
    ("GET", "/api/v1/llm-batches"): Grant("llm_requests", "read"),
    ("GET", "/api/v1/llm-batches/<llm_batch_id>"): Grant("llm_requests", "read"),
    ("GET", "/api/v1/llm-batches/<llm_batch_id>/rows"): Grant("llm_requests", "read"),
    ("POST", "/api/v1/llm-batches/<llm_batch_id>/cancel"): Grant("llm_requests", "create"),
    ("POST", "/api/v1/llm-batches/<llm_batch_id>/resolve"): Grant("llm_connections", "update"),
    ("GET", "/api/v1/llm-costs"): Grant("llm_requests", "read"),
    ("POST", "/api/v1/llm-estimates"): Grant("llm_requests", "read"),
    ("GET", "/api/v1/llm-budget"): Grant("llm_budget", "read"),
    ("PUT", "/api/v1/llm-budget"): Grant("llm_budget", "update"),
    # What people ask models is captured where an admin says so.
    ("GET", "/api/v1/deck-capture"): Grant("deck_capture", "read"),
    ("PUT", "/api/v1/deck-capture"): Grant("deck_capture", "update"),
    # A task's prompts and examples are like samples, and what it costs is the organisation's.
    ("PUT", "/api/v1/apprentice/tasks/<task_name>"): Grant("apprentice", "update"),
    ("GET", "/api/v1/apprentice/tasks"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>"): Grant("apprentice", "read"),
    ("DELETE", "/api/v1/apprentice/tasks/<task_name>"): Grant("apprentice", "delete"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/configurations"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/pairs"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/configurations/<version>"): Grant(
        "apprentice", "read"
    ),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/versions"): Grant("apprentice", "update"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/versions"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/versions/<version>"): Grant("apprentice", "read"),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/versions/<version>/promote"): Grant(
        "apprentice", "update"
    ),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/versions/<version>/retire"): Grant(
        "apprentice", "update"
    ),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/versions/<version>/rollback"): Grant(
        "apprentice", "update"
    ),
    # An answer is paid for; which way a run went is for whoever reads tasks.
    ("POST", "/api/v1/apprentice/tasks/<task_name>/runs"): Grant("apprentice", "create"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/runs"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/runs/<apprentice_run_id>"): Grant("apprentice", "read"),
    ("DELETE", "/api/v1/apprentice/runs/<apprentice_run_id>/content"): Grant(
        "apprentice", "update"
    ),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/examples"): Grant("apprentice", "update"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/examples"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/examples/counts"): Grant("apprentice", "read"),
    ("DELETE", "/api/v1/apprentice/tasks/<task_name>/examples/<example_id>"): Grant(
        "apprentice", "update"
    ),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/versions/<version>/certificate"): Grant(
        "apprentice", "read"
    ),
    ("GET", "/api/v1/apprentice/certificate-key"): Grant("apprentice", "read"),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/trainings"): Grant("apprentice", "update"),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/trainings/<number>/cancel"): Grant(
        "apprentice", "update"
    ),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/trainings/<number>/host"): Grant(
        "apprentice", "update"
    ),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/trainings"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/trainings/<number>"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/status"): Grant("apprentice", "read"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/report"): Grant("apprentice", "read"),
    ("POST", "/api/v1/apprentice/tasks/<task_name>/report"): Grant("apprentice", "update"),
    ("GET", "/api/v1/apprentice/tasks/<task_name>/estimate"): Grant("apprentice", "read"),
    ("POST", "/api/v1/decks"): Grant("decks", "create"),
    ("GET", "/api/v1/decks"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>"): Grant("decks", "read"),
    ("PATCH", "/api/v1/decks/<deck_id>"): Grant("decks", "update"),
    ("DELETE", "/api/v1/decks/<deck_id>"): Grant("decks", "delete"),
    ("POST", "/api/v1/decks/<deck_id>/versions"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/versions"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/versions/<version>"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/graders"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>"): Grant("decks", "read"),
    ("PATCH", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>"): Grant("decks", "update"),
    ("DELETE", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>"): Grant("decks", "update"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/versions/<version>"): Grant(
        "decks", "read"
    ),
    ("POST", "/api/v1/decks/<deck_id>/samples"): Grant("decks", "update"),
    ("POST", "/api/v1/decks/<deck_id>/samples/bulk"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/samples"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/samples/<sample_id>"): Grant("decks", "read"),
    ("DELETE", "/api/v1/decks/<deck_id>/samples/<sample_id>"): Grant("decks", "delete"),
    ("POST", "/api/v1/samples"): Grant("decks", "update"),
    ("GET", "/api/v1/unmatched-prompts"): Grant("decks", "read"),
    ("GET", "/api/v1/unmatched-prompts/<unmatched_id>"): Grant("decks", "read"),
    ("POST", "/api/v1/unmatched-prompts/<unmatched_id>/deck"): Grant("decks", "create"),
    ("DELETE", "/api/v1/unmatched-prompts/<unmatched_id>"): Grant("decks", "update"),
    # An ingest URL adds samples and makes decks, no more: its maker may do both.
    ("POST", "/api/v1/ingest-urls"): Grant("decks", "create", mints=True),
    ("GET", "/api/v1/ingest-urls"): Grant("decks", "read"),
    ("GET", "/api/v1/ingest-urls/<ingest_url_id>"): Grant("decks", "read"),
    ("DELETE", "/api/v1/ingest-urls/<ingest_url_id>"): Grant("decks", "delete"),
    # Proven by the token in the path.
    ("POST", "/i/<ingest_token>/samples"): Open.PUBLIC,
    ("POST", "/i/<ingest_token>/decks"): Open.PUBLIC,
    ("GET", "/api/v1/deck-inbox"): Grant("deck_labels", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback"): Grant(
        "deck_labels", "create"
    ),
    # Ratings of others, by name: whoever uploads them vouches for them.
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/bulk"): Grant(
        "deck_labels", "update"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback"): Grant(
        "deck_labels", "read"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/next"): Grant(
        "deck_labels", "create"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/feedback/progress"): Grant(
        "deck_labels", "read"
    ),
    # Ratings of all people.
    ("GET", "/api/v1/decks/<deck_id>/labels"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth"): Grant("decks", "read"),
    # Of those who label, some have seen no judge's result: they alone may decide.
    ("PUT", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/truth/<sample_id>"): Grant(
        "deck_labels", "create"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/agreement"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/agreement"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/disagreements"): Grant(
        "decks", "read"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/patterns"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals"): Grant(
        "decks", "update"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/estimate"): Grant(
        "decks", "read"
    ),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/proposals/cancel"): Grant(
        "decks", "update"
    ),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>"): Grant(
        "decks", "read"
    ),
    (
        "POST",
        "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/estimate",
    ): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/replay"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/accept"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/reject"): Grant(
        "decks", "update"
    ),
    (
        "POST",
        "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/edits/<deck_edit_id>/rollback",
    ): Grant("decks", "update"),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/prompt-edits"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/estimate"): Grant(
        "decks", "read"
    ),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/generate"): Grant(
        "decks", "update"
    ),
    # Figures are made, and a look is spent.
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/measure"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/accept"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/reject"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/prompt-edits/<prompt_edit_id>/rollback"): Grant(
        "decks", "update"
    ),
    ("POST", "/api/v1/decks/<deck_id>/graders/propose/estimate"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/propose"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/means"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/means"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/publish"): Grant("decks", "update"),
    ("POST", "/api/v1/decks/<deck_id>/task"): Grant("tasks", "create"),
    ("POST", "/api/v1/decks/<deck_id>/estimate"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/runs"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/runs"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/runs/<deck_run_id>"): Grant("decks", "read"),
    ("POST", "/api/v1/decks/<deck_id>/runs/<deck_run_id>/cancel"): Grant("decks", "update"),
    ("GET", "/api/v1/decks/<deck_id>/graders/<deck_grader_id>/results"): Grant("decks", "read"),
    ("GET", "/api/v1/decks/<deck_id>/samples/<sample_id>/results"): Grant("decks", "read"),
    ("POST", "/api/v1/webhooks"): Grant("webhooks", "create", mints=True),
    ("GET", "/api/v1/webhooks"): Grant("webhooks", "read"),
    ("GET", "/api/v1/webhooks/<webhook_id>"): Grant("webhooks", "read"),
    ("PATCH", "/api/v1/webhooks/<webhook_id>"): Grant("webhooks", "update"),
    ("DELETE", "/api/v1/webhooks/<webhook_id>"): Grant("webhooks", "delete"),
    ("POST", "/api/v1/webhooks/<webhook_id>/rotate-secret"): Grant(
        "webhooks", "update", mints=True
    ),
    ("GET", "/api/v1/webhooks/<webhook_id>/deliveries"): Grant("webhooks", "read"),
    ("GET", "/api/v1/webhooks/<webhook_id>/deliveries/<event_id>"): Grant("webhooks", "read"),
    ("POST", "/api/v1/webhooks/<webhook_id>/deliveries/<event_id>/replay"): Grant(
        "webhooks", "update"
    ),
}
