"""The hot loop of the machine code in the page; a row that is pointed at shows its line of the kernel's
text."""

from collections.abc import Sequence
from html import escape

from mdh.assembly.hot import HotLoop
from mdh.report.hot_text import hot_head
from mdh.report.picture.code import CodeLine

_MOST = 2000


def hot_html(loop: HotLoop | None, lines: Sequence[CodeLine]) -> str:
    """lines: of the text, which know their steps. Empty without a loop."""
    if loop is None:
        return ""
    rows = []
    for one in loop.instructions[:_MOST]:
        there = one.line is not None and one.line <= len(lines)
        line = lines[one.line - 1] if there and one.line is not None else None
        mark = f' data-n="{one.line}"' if line is not None else ""
        if line is not None and line.step is not None:
            mark += f' data-s="{line.stage}.{line.step}"'
        number = "" if one.line is None else str(one.line)
        rows.append(f"<span class=l{mark}><span class=n>{number:>4} </span>{escape(one.text)}</span>")
    left = len(loop.instructions) - _MOST
    more = f"<p class=note>{left:,} more: mdh explain --asm prints them all.</p>" if left > 0 else ""
    head = hot_head(loop)
    said = f"{head[:1].upper()}{head[1:]}. In front is the line of the kernel's text."
    code = f'<pre class="code asm" tabindex=0>{"".join(rows)}</pre>'
    return f"<section class=hot><h2>Assembly</h2><p class=note>{escape(said)}</p>{code}{more}</section>"
