"""Prompts and responses as HTML that is safe to show: whatever they hold, nothing runs or loads."""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererProtocol
    from markdown_it.token import Token

MAX_RENDERED_CHARACTERS = 100_000
"""Longer text is shown as it is: nobody reads it as a page, and rendering takes seconds."""

MAX_HTML_CHARACTERS = 1_000_000
"""Longer HTML is given up: few characters of markdown can stand for many, as in wide tables."""

# The page's own headings are above those of the text.
_DEEPER_HEADINGS = 2
_FOLLOWED_SCHEMES = ("http://", "https://", "mailto:")


def rendered(text: str) -> str | None:
    """Return markdown (CommonMark, tables, strikethrough) as HTML; None where it is too long.

    Addresses stand where they are used: a name for one could have it copied thousands of times.
    HTML in the text is shown, not interpreted. Links open elsewhere, and the address does not learn
    where they were followed; images are named, not loaded.
    """
    if len(text) > MAX_RENDERED_CHARACTERS:
        return None
    html: str = _markdown().render(text)
    return html if len(html) <= MAX_HTML_CHARACTERS else None


@cache
def _markdown() -> "MarkdownIt":
    # A twentieth of the cold start of an API of which one route shows text.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    markdown.disable("reference")
    markdown.validateLink = _is_followed  # type: ignore[method-assign,assignment]
    markdown.core.ruler.push("headings", _lower_headings)
    markdown.core.ruler.push("links", _drop_links_to_nowhere)
    markdown.add_render_rule("link_open", _link)
    markdown.add_render_rule("image", _image)
    return markdown


def _is_followed(address: str) -> bool:
    return address.strip().lower().startswith(_FOLLOWED_SCHEMES)


def _lower_headings(state: Any) -> None:
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1:]) + _DEEPER_HEADINGS)}"


def _drop_links_to_nowhere(state: Any) -> None:
    """Leave the text alone of links such as ``[x]()``, which would open the page itself."""
    for token in state.tokens:
        leads_nowhere, kept = False, []
        for child in token.children or ():
            if child.type == "link_open":
                leads_nowhere = not child.attrGet("href")
            if not (leads_nowhere and child.type in {"link_open", "link_close"}):
                kept.append(child)
        if token.children is not None:
            token.children = kept


def _link(
    renderer: "RendererProtocol", tokens: Sequence["Token"], at: int, options: Any, _env: Any
) -> str:
    token = tokens[at]
    token.attrSet("rel", "noreferrer noopener nofollow")
    token.attrSet("target", "_blank")
    # A link's text and its address may differ.
    token.attrSet("title", str(token.attrGet("href")))
    html: str = renderer.renderToken(tokens, at, options, _env)  # type: ignore[attr-defined]
    return html


def _image(
    _renderer: "RendererProtocol", tokens: Sequence["Token"], at: int, _options: Any, _env: Any
) -> str:
    token = tokens[at]
    address = escape(str(token.attrGet("src")))
    return f'<span class="image" title="{address}">{escape(token.content)}</span>'
