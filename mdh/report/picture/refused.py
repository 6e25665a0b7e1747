"""The page of a schedule that was refused: its text, and the C's, with every message below its line."""

from collections.abc import Sequence
from html import escape

from mdh.diagnostics import Diagnostic, Label
from mdh.report.picture.page import document
from mdh.source import Source


def refused_page(title: str, sources: Sequence[Source], diagnostics: Sequence[Diagnostic]) -> str:
    """sources: the texts to show whole, in this order; a message without a place in them stands on top."""
    count = len(diagnostics)
    lead = f"{count} message{'' if count == 1 else 's'}: the schedule is not legal, so nothing is drawn."
    parts = [f"<h1>{escape(title)}</h1><p class=lead>{escape(lead)}</p>"]
    parts += [_message(d, None) for d in diagnostics if not any(x.span.source in sources for x in d.labels)]
    parts += [_text(source, diagnostics) for source in sources]
    return document(title, "".join(part + "\n" for part in parts))


def _text(source: Source, diagnostics: Sequence[Diagnostic]) -> str:
    """Every line with its number; below it the whole message, or, at further places, what is said there."""
    rows = source.text.splitlines()
    width = len(str(len(rows)))
    below: dict[int, list[str]] = {}
    for d in diagnostics:
        for n, label in enumerate(d.labels):
            if label.span.source == source:
                said = _message(d, label) if _is_main(d, n, source) else _further(d, label, width)
                below.setdefault(label.span.line, []).append(said)
    out = []
    for number, row in enumerate(rows, 1):
        bad = " bad" if number in below else ""
        out.append(f'<span class="l{bad}"><span class=n>{number:>{width}} </span>{escape(row)}</span>')
        out.extend(below.get(number, ()))
    return f"<h2>{escape(source.name)}</h2><pre class=source>{''.join(out)}</pre>"


def _is_main(d: Diagnostic, n: int, source: Source) -> bool:
    """The first place of a message in a text carries its headline."""
    return n == next(k for k, label in enumerate(d.labels) if label.span.source == source)


def _caret(label: Label, margin: int) -> str:
    line = label.span.source.line(label.span.line)
    start = label.span.column - 1
    width = max(1, min(label.span.end - label.span.start, len(line) - start))
    said = f" {label.message}" if label.message else ""
    return f"<span class='l caret'>{' ' * (margin + start)}{'^' * width}{escape(said)}</span>"


def _further(d: Diagnostic, label: Label, width: int) -> str:
    return f"{_caret(label, width + 1)}<span class='l caret'>{' ' * (width + 1)}({d.code})</span>"


def _message(d: Diagnostic, label: Label | None) -> str:
    """The caret in the text's own columns, then headline, notes, witness and help."""
    caret = ""
    if label is not None:
        caret = _caret(label, len(str(label.span.source.text.count("\n") + 1)) + 1)
    more = [*d.notes, *([f"help: {d.help}"] if d.help else [])]
    said = "".join(f"<p>{escape(line)}</p>" for line in more)
    head = f"<b>{d.severity}[{d.code}]</b> {escape(d.headline)}"
    return f"{caret}<div class=message id={d.code}>{head}{said}</div>"
