"""What all pages share: a frame and the style sheet, light and dark by what the reader's system prefers."""

from collections.abc import Iterable
from html import escape

from mdh.printable import printable

STYLE = """
:root { --paper:#fbfbf9; --ink:#20242a; --soft:#6b7280; --line:#e3e4e1; --mark:#0b6e8f; --warm:#c2571a;
        --card:#fff; color-scheme:light dark }
@media (prefers-color-scheme: dark) {
  :root { --paper:#15181c; --ink:#e4e6e8; --soft:#8d96a1; --line:#2b3138; --mark:#58b7d6; --warm:#f0914f;
          --card:#1b1f24; }
}
* { box-sizing:border-box }
body { margin:0; background:var(--paper); color:var(--ink); font:15px/1.5 system-ui,sans-serif; }
main { max-width:860px; margin:0 auto; padding:32px 20px 64px }
h1, h2, h3, .lead { overflow-wrap:anywhere }
h1 { font-size:26px; margin:0 } h2 { font-size:17px; margin:34px 0 8px }
.lead { color:var(--soft); margin:2px 0 18px }
.facts { display:flex; flex-wrap:wrap; gap:10px }
.fact { background:var(--card); border:1px solid var(--line); border-radius:8px; padding:10px 16px;
        min-width:128px }
.fact b { display:block; font-size:21px; font-weight:600 } .fact span { color:var(--soft); font-size:13px }
figure { background:var(--card); border:1px solid var(--line); border-radius:8px; margin:0; padding:12px }
figcaption, .note { color:var(--soft); font-size:13px }
svg { display:block; width:100%; height:auto }
svg text { fill:var(--ink); font:12px system-ui,sans-serif }
svg .tick, svg .name { fill:var(--soft); font-size:11px }
svg .over { paint-order:stroke; stroke:var(--card); stroke-width:4px; stroke-linejoin:round }
.grid { stroke:var(--line) } .axis { stroke:var(--soft) }
.trial { fill:var(--mark); fill-opacity:.55 } .failed { fill:var(--warm); fill-opacity:.8 }
.big { fill-opacity:1 }
.best, .roof { fill:none; stroke:var(--mark); stroke-width:2 }
.baseline { stroke:var(--warm); stroke-dasharray:5 4 }
.share { fill:var(--mark); fill-opacity:.75 }
.ray { fill:none; stroke:var(--mark); stroke-width:1.2 }
.chosen { fill:none; stroke:var(--warm); stroke-width:2.6 }
.ray:hover { stroke-opacity:1 !important; stroke-width:2.4 }
table { border-collapse:collapse; width:100%; font-size:14px }
th { text-align:left; color:var(--soft); font-weight:500 }
th, td { padding:5px 10px 5px 0; border-bottom:1px solid var(--line); vertical-align:top }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums }
pre { background:var(--card); border:1px solid var(--line); border-radius:8px; padding:12px; overflow:auto;
      font:12.5px/1.45 ui-monospace,monospace; margin:0 }
details > summary { cursor:pointer; color:var(--mark); margin:8px 0 }
"""


def document(title: str, parts: Iterable[str], style: str, head: str = "") -> str:
    """A whole page. parts: its body, where empty ones are left out; style: what it has besides STYLE; head:
    further tags of its head."""
    return printable(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"{head}<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body><main>\n{''.join(part + chr(10) for part in parts if part)}</main></body></html>\n"
    )


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    """A box a fact: a figure, and what it is."""
    cells = "".join(f"<div class=fact><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in facts)
    return f"<div class=facts>{cells}</div>"
