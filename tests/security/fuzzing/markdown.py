"""What people review, rendered: nothing in it may run, load or lead where it does not say."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from random import Random
from urllib.parse import urlsplit

from autotune_platform.reviews import rendering
from tests.security.fuzzing.cases import Case, Found
from tests.security.fuzzing.mutating import odd_text, spliced

MOST_SECONDS = 10.0
"""As ``tests/unit/reviews/test_rendering.py`` has it: of a processor, on a slow machine."""

_TAGS = frozenset(
    [
        *("p", "a", "code", "pre", "span", "br", "hr", "strong", "em", "s", "blockquote"),
        *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
    ]
)
_VALUES = {
    "href": re.compile(r"(https?://|mailto:).*", re.DOTALL | re.IGNORECASE),
    "rel": re.compile(r"noreferrer noopener nofollow"),
    "target": re.compile(r"_blank"),
    "title": re.compile(r".*", re.DOTALL),
    "class": re.compile(r"image|language-[^\s]*"),
    "start": re.compile(r"\d+"),
    "style": re.compile(r"text-align:(left|right|center)"),
}
_OF_TAGS = {
    "a": {"href", "rel", "target", "title"},
    "span": {"class", "title"},
    "code": {"class"},
    "ol": {"start"},
    "th": {"style"},
    "td": {"style"},
}
# Whatever a browser might take for the beginning of something.
_OPENING = re.compile(r"<(?!/?(?:" + "|".join(sorted(_TAGS)) + r")(?:[\s/>]))")

_ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "&#106;avascript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "//evil.example",
    "/api/v1/keys",
    "#token",
    "https://a.example/?q=1&b=2",
    "http://a.example/\"onclick='x'",
    "mailto:a@b.example",
    "https:javascript:alert(1)",
    "http://[::1",
    " https://a.example",
    "\u00a0javascript:x",
    "https://a.example\\@b.example",
)
_PIECES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?php",
    "</p>",
    "<a href='javascript:alert(1)'>",
    '"><iframe src=//x>',
    "' onmouseover='alert(1)",
    "`",
    "```",
    '```"><script>\n',
    "~~~ js onload=x\n",
    "**",
    "_",
    "~~",
    "# ",
    "###### ",
    "> ",
    "- ",
    "1. ",
    "999999999) ",
    "|a|b|\n|:-:|--:|\n|c|d|\n",
    "|",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "\\",
    "&lt;script&gt;",
    "&#x3c;script&#x3e;",
    "&amp;",
    "&NotAnEntity;",
    "[a]: javascript:x 'y'\n",
    "[a]",
    "![",
    "](",
    ")",
    "<",
    ">",
    "\u2028",
    "***\n",
    "a\n===\n",
)


class _Reader(HTMLParser):
    """Reads HTML as a browser would, and keeps what is wrong with it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in _OF_TAGS.get(tag, set()) or not _VALUES[name].fullmatch(value or ""):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            elif name == "href" and _is_misleading(value or ""):
                self.wrong.append(f"href {value!r}")

    handle_startendtag = handle_starttag

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"<!{decl}")

    unknown_decl = handle_pi = handle_decl


def _is_misleading(address: str) -> bool:
    """Tell whether a browser would follow an address by another scheme than it seems to have."""
    stripped = re.sub(r"[\x00-\x20]", "", address)
    try:
        return urlsplit(stripped).scheme.lower() not in {"http", "https", "mailto"}
    except ValueError:
        return not stripped.lower().startswith(("http://", "https://", "mailto:"))


def check(text: str) -> str:
    """Render a text; return what became of it.

    Raises:
        Found: the HTML is not what may be shown.
    """
    before = time.process_time()
    html = rendering.rendered(text)
    took = time.process_time() - before
    if took > MOST_SECONDS:
        raise Found(f"rendering takes {MOST_SECONDS} s at most", text, took)
    if html is None:
        return "plain"
    if len(html) > rendering.MAX_HTML_CHARACTERS:
        raise Found("HTML is bounded", text, len(html))
    reader = _Reader()
    reader.feed(html)
    reader.close()
    if reader.wrong:
        raise Found("only what is allowed is rendered", text, reader.wrong)
    if opening := _OPENING.search(html):
        raise Found("no other tag begins", text, html[opening.start() :][:200])
    return "rendered"


def document(random: Random) -> str:
    """Return markdown that is made to break out of what it may be."""
    pieces: list[str] = []
    for _ in range(random.randrange(1, 24)):
        kind = random.random()
        if kind < 0.6:
            pieces.append(random.choice(_PIECES))
        elif kind < 0.75:
            address = random.choice(_ADDRESSES)
            shape = random.choice(
                ["[x]({})", "[x](<{}>)", "<{}>", "![x]({})", '[x]({} "t\\" onclick=y")', "{}"]
            )
            pieces.append(shape.format(address))
        elif kind < 0.85 and pieces:
            pieces.append((pieces[-1] * random.choice([2, 50, 400]))[:40_000])
        else:
            pieces.append(odd_text(random, longest=3_000))
    text = "".join(pieces)
    return spliced(text, random) if random.random() < 0.3 else text


@contextmanager
def opened() -> Iterator[Case]:
    yield lambda random: check(document(random))
