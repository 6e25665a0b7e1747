"""The page of a schedule that was refused: its text, and the C's, with every message below its line."""

from collections.abc import Sequence
from html import escape

from mdh.diagnostics import Diagnostic, Label
from mdh.printable import printable
from mdh.report.html_style import document
from mdh.report.picture.page import ICON, asset, data_html, script
from mdh.report.picture.stopped import Stopped, stopped_html
from mdh.source import Source
from mdh.wording import plural


def refused_page(
    title: str,
    sources: Sequence[Source],
    diagnostics: Sequence[Diagnostic],
    stopped: Stopped | None = None,
) -> str:
    """sources: the texts to show whole, in this order. Messages without a place in them are at the top.
    stopped: what can be drawn of the schedule."""
    pictures, data = ("", []) if stopped is None else stopped_html(stopped, diagnostics)
    drawn = "what comes before is drawn" if pictures else "so nothing is drawn"
    lead = f"{plural(len(diagnostics), 'message')}: the schedule is not legal, {drawn}."
    parts = [f"<h1>{escape(title)}</h1><p class=lead>{escape(lead)}</p>"]
    parts += [_message(d) for d in diagnostics if not any(x.span.source in sources for x in d.labels)]
    parts += [_text(source, diagnostics) for source in sources]
    if pictures:
        parts += [pictures, f"{data_html(data)}<script>{script()}</script>"]
    return document(title, parts, asset("page.css"), ICON)


def _text(source: Source, diagnostics: Sequence[Diagnostic]) -> str:
    """Every line with its number. Below it are the carets of each message with a place there, and the message
    at the first of its places."""
    rows = source.text.removesuffix("\n").split("\n")
    margin = len(str(len(rows))) + 1
    below: dict[int, list[str]] = {}
    for d in diagnostics:
        places = [label for label in d.labels if label.span.source == source]
        first = places[0].span.line if places else 0
        for line in dict.fromkeys(label.span.line for label in places):
            code = "" if line == first else f" ({d.code})"
            said = [_caret(label, margin, code) for label in places if label.span.line == line]
            below.setdefault(line, []).extend([*said, *([_message(d)] if line == first else [])])
    out = []
    for number, row in enumerate(rows, 1):
        bad = " bad" if number in below else ""
        count = f"<span class=n>{number:>{margin - 1}} </span>"
        out.append(f'<span class="l{bad}">{count}{escape(row.expandtabs(1))}</span>')
        out.extend(below.get(number, ()))
    return f"<h2>{escape(source.name)}</h2><pre class=source>{''.join(out)}</pre>"


def _caret(label: Label, margin: int, code: str) -> str:
    """In the columns of the text as it is shown, behind the numbers of lines."""
    line = label.span.source.line(label.span.line)
    start = label.span.column - 1
    end = start + max(1, min(label.span.end - label.span.start, len(line) - start))
    before, width = len(printable(line[:start])), max(1, len(printable(line[start:end])))
    said = f" {label.message}" if label.message else ""
    return f'<span class="l caret">{" " * (margin + before)}{"^" * width}{escape(said + code)}</span>'


def _message(d: Diagnostic) -> str:
    more = [*d.notes, *([f"help: {d.help}"] if d.help else [])]
    said = "".join(f"<p>{escape(line)}</p>" for line in more)
    return f"<div class=message id={d.code}><b>{d.severity}[{d.code}]</b> {escape(d.headline)}{said}</div>"
