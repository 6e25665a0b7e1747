"""The page of a schedule inside another page, as it is: shown when its part of that page is opened."""

from html import escape

FRAME = """
.inside { display:block; width:min(1240px,calc(100vw - 24px)); height:min(1100px,88vh);
          margin:0 0 12px calc(50% - min(620px,50vw - 12px)); border:1px solid var(--line);
          border-radius:8px; background:var(--paper) }
"""
"""Its style: wider than the text around it, since pictures stand side by side in it."""


def embedded(page: str, title: str) -> str:
    """page: a whole page as text, which then needs no file of its own."""
    return f'<iframe class=inside loading=lazy title="{escape(title)}" srcdoc="{escape(page)}"></iframe>'
