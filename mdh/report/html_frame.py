"""Pages of schedules inside another page: shown when their part of that page is opened.

All of them take their script from the page around, which has it once. Each keeps its style: where scripts are
off nothing could be shared, and pictures without style are black.
"""

from html import escape

from mdh.report.picture.page import SCRIPT_ID, script

FRAME = """
.inside { display:block; width:min(1240px,calc(100vw - 24px)); height:min(1100px,88vh);
          margin:0 0 12px calc(50% - min(620px,50vw - 12px)); border:1px solid var(--line);
          border-radius:8px; background:var(--paper) }
"""
"""Its style: wider than the text around it, since pictures stand side by side in it."""


def embedded(page: str, title: str) -> str:
    """page: a whole page as text, made to stand inside; it then needs no file of its own."""
    # in an attribute only these two have a meaning: to escape more would make a third more of it
    quoted = page.replace("&", "&amp;").replace("'", "&#39;")
    return f"<iframe class=inside loading=lazy title=\"{escape(title)}\" srcdoc='{quoted}'></iframe>"


def shared() -> str:
    """What the page around must hold, once, and before the first page inside: browsers show that before they
    have read the rest of a long page. It is text there, which no browser runs."""
    return f'<script type="text/plain" id="{SCRIPT_ID}">{script()}</script>'
