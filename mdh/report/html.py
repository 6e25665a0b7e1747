"""The page of a tuning: one file without other resources. Scripts are only needed for the best schedule's
controls."""

from html import escape

from mdh.pipeline import Pipeline
from mdh.report.html_charts import Roofline, history, importance, parallel, roof_of, roofline
from mdh.report.html_frame import FRAME, embedded, shared
from mdh.report.html_style import document, facts_html
from mdh.report.picture.page import schedule_page
from mdh.report.text import duration_text, seconds_text
from mdh.report.tune_importance import Sensitivity, sensitivities
from mdh.report.tune_text import failure_counts, first_of, given_text
from mdh.results.tuning import Tuned
from mdh.wording import plural

_HISTORY = "Every dot is a candidate, the line is the best so far; orange dots at the top failed."
_IMPORTANCE = "Share of the variance of log time that a hole alone explains, with its value in the best."
_PARALLEL = "A line a trial, the thick one is the best; the last axis is the time."
_ROOFLINE = "Bandwidth and arithmetic peak are the machine file's; bytes are those that memory must carry."


def tuned_page(tuned: Tuned) -> str:
    """The whole page of a tuning as text, with the page of its best schedule."""
    if tuned.plan is None or tuned.text is None:
        return page(tuned)
    picture = schedule_page(tuned.plan, Pipeline().lower(tuned.plan), tuned.text, inside=True)
    return page(tuned, picture, roof_of(tuned, tuned.plan))


def page(tuned: Tuned, picture: str = "", roof: Roofline | None = None) -> str:
    """The whole page. picture: the page of the best schedule; roof: its place under the roofline."""
    rows = sensitivities(tuned)
    sizes = ", ".join(f"{name} {value}" for name, value in tuned.defines)
    lead = f"{', '.join(tuned.devices)}, {tuned.title}{'; ' + sizes if sizes else ''}"
    body = [
        f"<h1>{escape(tuned.program)}</h1><p class=lead>{escape(lead)}</p>",
        _facts(tuned),
        _chart("History", history(tuned), _HISTORY),
        _chart("What matters", importance(rows), _IMPORTANCE),
        _holes(rows),
        _chart("Trials", parallel(tuned), _PARALLEL),
        _failures(tuned),
    ]
    if roof is not None:
        body.append(_chart("Roofline", roofline(roof), _ROOFLINE))
    if picture:
        body.append(f"<h2>The best schedule</h2>{shared()}{embedded(picture, 'the best schedule')}")
    return document(f"{tuned.program} on {tuned.title}", body, FRAME)


def _facts(tuned: Tuned) -> str:
    best = tuned.best.outcome.seconds if tuned.best else None
    facts = [("none" if best is None else seconds_text(best), "best")]
    if tuned.speedup is not None:
        facts.append((f"{tuned.speedup:.2f} ×", "the device's default"))
    if tuned.speedup_over_given is not None:
        facts.append((f"{tuned.speedup_over_given:.2f} ×", given_text(tuned)))
    right = sum(1 for t in tuned.measured if t.outcome.failure is None)
    facts.append((f"{right}", f"right of {plural(len(tuned.measured), 'candidate')}"))
    facts.append((duration_text(tuned.elapsed), f"of tuning, {tuned.sampler}"))
    if tuned.sizes is not None and tuned.variables:
        facts.append((f"{tuned.sizes.structural:.3g}", "points of the space"))
    return facts_html(facts)


def _chart(title: str, chart: str, caption: str) -> str:
    if not chart:
        return ""
    return f"<h2>{title}</h2><figure>{chart}<figcaption>{escape(caption)}</figcaption></figure>"


def _holes(rows: tuple[Sensitivity, ...]) -> str:
    if not rows:
        return ""
    cells = "".join(_hole(row) for row in rows)
    head = (
        "<tr><th>hole<th>value<th class=n>share<th>next best value<th class=n>costs<th class=n>values tried"
    )
    return f"<details><summary>All holes</summary><table>{head}{cells}</table></details>"


def _hole(row: Sensitivity) -> str:
    share = "" if row.share is None else f"{row.share:.0%}"
    rival = "" if row.rival is None else str(row.rival)
    regret = "" if row.regret is None else f"{row.regret:.2f} ×"
    value = "" if row.value is None else str(row.value)
    name, tried = row.variable.name, f"{row.tried} of {len(row.variable.values)}"
    texts = (escape(name), escape(value), share, escape(rival), regret, tried)
    marks = ("", "", " class=n", "", " class=n", " class=n")
    return "<tr>" + "".join(f"<td{m}>{t}" for m, t in zip(marks, texts, strict=True))


def _failures(tuned: Tuned) -> str:
    counts = failure_counts(tuned)
    skipped = "; ".join(f"{n:,} {reason}" for reason, n in tuned.skipped)
    note = f"<p class=note>Not measured: {escape(skipped)}</p>" if skipped else ""
    if not counts:
        return f"<h2>Failures</h2><p class=note>None.</p>{note}"
    rows = []
    for failure, count in counts:
        first = first_of(tuned, failure).outcome
        message = f"{first.code}: {first.message}" if first.code else first.message
        rows.append(f"<tr><td>{failure}<td class=n>{count}<td><pre>{escape(message)}</pre>")
    head = "<tr><th>class<th class=n>trials<th>the first message"
    return f"<h2>Failures</h2><table>{head}{''.join(rows)}</table>{note}"
