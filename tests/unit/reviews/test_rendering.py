import time

import pytest

from autotune_platform.reviews.rendering import (
    MAX_HTML_CHARACTERS,
    MAX_RENDERED_CHARACTERS,
    rendered,
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** ~~s~~ `c`", "<p><strong>b</strong> <s>s</s> <code>c</code></p>\n"),
        ("a\nb", "<p>a<br />\nb</p>\n"),
        ("# top", "<h3>top</h3>\n"),
        ("##### low", "<h6>low</h6>\n"),
        ("```py\nx < 1\n```", '<pre><code class="language-py">x &lt; 1\n</code></pre>\n'),
        ("<b>not bold</b>", "<p>&lt;b&gt;not bold&lt;/b&gt;</p>\n"),
        (
            "![a < b](https://x.example/i.png)",
            '<p><span class="image" title="https://x.example/i.png">a &lt; b</span></p>\n',
        ),
    ],
)
def test_markdown_becomes_html(text, html):
    assert rendered(text) == html


def test_a_link_opens_elsewhere_and_shows_where_it_leads():
    html = rendered('[bank](https://evil.example/?q="x" "your bank")')
    assert 'href="https://evil.example/?q=%22x%22"' in html
    assert 'rel="noreferrer noopener nofollow"' in html
    assert 'target="_blank"' in html
    assert 'title="https://evil.example/?q=%22x%22"' in html


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "vbscript:x"),
        *("data:text/html,<script>", "data:image/svg+xml;base64,AA", "file:///etc/passwd"),
        *("//evil.example", "/api/v1/keys", "#token", "&#106;avascript:alert(1)"),
    ],
)
def test_only_web_and_mail_addresses_are_links(address):
    for text in (f"[x]({address})", f"[x](<{address}>)", f"<{address}>", f"![x](<{address}>)"):
        html = rendered(text)
        assert "href" not in html
        assert "src" not in html


@pytest.mark.parametrize("text", ["[x]()", "[x](\n)"])
def test_a_link_that_leads_nowhere_is_text(text):
    assert rendered(f"a {text} *b* [c](https://c.example)").startswith("<p>a x <em>b</em> <a href=")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '[x](https://a.example "onmouseover=alert(1) \\" onclick=\\"y")',
        '![x" onload="alert(1)](https://a.example)',
        '```"><script>alert(1)</script>\ncode\n```',
        "<https://a.example/\"onclick='alert(1)'>",
        "<!-- --><svg/onload=alert(1)>",
        "[a]: https://x.example '\"><script>'\n[a]",
    ],
)
def test_nothing_of_a_text_becomes_a_tag_or_an_attribute(text):
    import html.parser

    class Tags(html.parser.HTMLParser):
        allowed = frozenset({"p", "a", "code", "pre", "span", "br"})
        attributes = frozenset({"href", "rel", "target", "title", "class"})

        def handle_starttag(self, tag, attrs):
            assert tag in self.allowed
            assert {name for name, _ in attrs} <= self.attributes

    Tags().feed(rendered(text))


@pytest.mark.parametrize(
    "unit", ["[", "![a", "*a ", "> ", "- ", "`", "|a", "_a__", "[a](", "<", "a**b"]
)
def test_no_text_takes_long(unit):
    text = unit * (MAX_RENDERED_CHARACTERS // len(unit))
    before = time.process_time()
    assert rendered(text) is not None
    assert time.process_time() - before < 10


def test_an_address_that_is_named_once_and_used_often_is_not_copied():
    text = f"[a]: http://{'x' * 40_000}\n\n{'[a][a]' * 9_000}"
    assert len(rendered(text) or "") < 2 * len(text)


def test_what_would_be_too_long_as_html_is_left_as_it_is():
    row = "|" * 301 + "\n"
    assert rendered(row + "|:-:" * 300 + "|\n" + row * 300) is None
    assert len(rendered('"' * MAX_RENDERED_CHARACTERS) or "") < MAX_HTML_CHARACTERS


def test_what_is_too_long_is_left_as_it_is():
    assert rendered("x" * (MAX_RENDERED_CHARACTERS + 1)) is None
