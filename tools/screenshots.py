"""Pictures of the review page for the documentation: ``python -m tools.screenshots``.

The page is the real one; what it asks the API for is answered here, with an example.
"""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, Page, Route

from autotune.protocol.ids import derived_id
from autotune.protocol.reviews import NextReviewResponse, Preliminary, Review, ReviewResponse
from autotune_platform.reviews.rendering import rendered
from functions.console.serve_pages import lambda_handler
from tools.browser import launched

IMAGES = Path(__file__).parent.parent / "docs" / "images"
DESKTOP = (1280, 860)
PHONE = (375, 812)

_PROMPT = """Write a Python function that returns the `n`-th Fibonacci number, and say in one
sentence how its running time grows with `n`."""
_RESPONSE = """Here is an iterative version:

```python
def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
```

It runs in **linear time**: each step does one addition. Note that

- `fibonacci(0)` is `0` and `fibonacci(1)` is `1`,
- Python's integers do not overflow, so large `n` is fine.

| n | value |
|---|---|
| 10 | 55 |
| 20 | 6765 |
"""


class _PageServer(BaseHTTPRequestHandler):
    """Serves the page as the deployed function does."""

    def do_GET(self) -> None:
        """Answer with what the function answers."""
        answer = lambda_handler(
            {
                "requestContext": {"http": {"method": "GET"}},
                "rawPath": self.path,
                "headers": dict(self.headers),
            },
            None,
        )
        self.send_response(answer["statusCode"])
        for name, value in answer["headers"].items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer["body"].encode())

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def main() -> None:
    """Write ``review-desktop.png`` and ``review-phone.png``, and the same in the dark."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _PageServer)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with launched() as browser:
            url = f"http://127.0.0.1:{server.server_port}/review#example"
            for name, size, scheme in (
                ("review-desktop", DESKTOP, "light"),
                ("review-phone", PHONE, "light"),
                ("review-desktop-dark", DESKTOP, "dark"),
            ):
                _take(browser, url, name=name, size=size, is_dark=scheme == "dark")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _take(browser: Browser, url: str, *, name: str, size: tuple[int, int], is_dark: bool) -> None:
    width, height = size
    is_phone = width < height
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if is_dark else "light",
        device_scale_factor=2 if is_phone else 1,
    )
    page = context.new_page()
    review = _example()
    _answer(page, "**/reviews/next*", NextReviewResponse(review=review))
    _answer(page, "**/reviews/rev_*", ReviewResponse(review=review))
    page.goto(url)
    page.locator("#response h3, #response p").first.wait_for()
    page.keyboard.press("8")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator("#explanation").fill("Correct and clear; the table was not asked for.")
    page.locator("#explanation").blur()
    if is_dark:
        page.keyboard.press("p")
        page.locator("#graders dl").wait_for()
    page.screenshot(path=IMAGES / f"{name}.png", full_page=is_phone)
    context.close()


def _answer(page: Page, where: str, body: NextReviewResponse | ReviewResponse) -> None:
    page.route(where, partial(_fulfill, text=body.model_dump_json(by_alias=True)))


def _fulfill(route: Route, *, text: str) -> None:
    route.fulfill(json=json.loads(text))


def _example() -> Review:
    now = datetime.now(UTC)
    return Review(
        id=derived_id("rev", "example"),
        completion_id=derived_id("cmp", "example"),
        task_id="task_example",
        batch_id=derived_id("bat", "example"),
        reason="disagreement",
        state="open",
        created_at=now,
        expires_at=now + timedelta(days=3),
        on_expiry="keep",
        instructions="Is the code correct, and is the claim about its running time true?",
        prompt=_PROMPT,
        response=_RESPONSE,
        prompt_html=rendered(_PROMPT),
        response_html=rendered(_RESPONSE),
        has_preliminary=True,
        preliminary=Preliminary.model_validate(
            {
                "state": "scored",
                "value": 0.61,
                "confidence": 0.48,
                "dimensions": [
                    {"name": "correctness", "value": 0.9},
                    {"name": "brevity", "value": 0.35},
                ],
            }
        ),
    )


if __name__ == "__main__":
    main()
