"""Embeds pages of schedules in another page; each is shown when its part of that page is opened.

All of them take their script from the outer page, which has it once. Each keeps its own style, because
without scripts nothing could be shared, and pictures without style are black.
"""

from html import escape

from mdh.report.picture.page import SCRIPT_ID, script

FRAME = """
.inside { display:block; width:min(1240px,calc(100vw - 24px)); height:min(1100px,88vh);
          margin:0 0 12px calc(50% - min(620px,50vw - 12px)); border:1px solid var(--line);
          border-radius:8px; background:var(--paper) }
"""
"""The frame's style. It is wider than the text around it, because pictures are side by side in it."""


NOTEBOOK = "width:100%;height:720px;border:1px solid #8884;border-radius:8px"
"""The style of a frame in the output of a notebook's cell."""


def embedded(page: str, title: str) -> str:
    """A frame with a whole page in it. page: the page as text; it needs no file of its own."""
    return _frame("class=inside loading=lazy", page, title)


def framed(page: str, title: str) -> str:
    """The same for a notebook, which has no style for it."""
    return _frame(f'style="{NOTEBOOK}"', page, title)


def _frame(words: str, page: str, title: str) -> str:
    # in an attribute only these two characters must be escaped; escaping more would make the page a third
    # larger
    quoted = page.replace("&", "&amp;").replace("'", "&#39;")
    return f"<iframe {words} title=\"{escape(title)}\" srcdoc='{quoted}'></iframe>"


def shared() -> str:
    """What the outer page must hold once, before the first embedded page, because browsers show that before
    they have read all of a long page. It is text, which no browser runs."""
    return f'<script type="text/plain" id="{SCRIPT_ID}">{script()}</script>'
