"""The page of a tuning: one file without other resources. Scripts sort and select trials, and draw the
best schedule; all can be read without them."""

from html import escape

from mdh.pipeline import Pipeline
from mdh.report.html_charts import Roofline, history, importance, roof_of, roofline
from mdh.report.html_frame import FRAME, embedded, shared
from mdh.report.html_style import document, facts_html
from mdh.report.picture.page import ICON, schedule_page
from mdh.report.text import duration_text, seconds_text
from mdh.report.trials.table import script, style, trials_html
from mdh.report.tune_importance import Sensitivity, sensitivities
from mdh.report.tune_text import failure_counts, first_of, given_text
from mdh.results.tuning import Tuned
from mdh.wording import plural

_HISTORY = "Every dot is a candidate, the line is the best so far; orange dots at the top failed."
_IMPORTANCE = "Share of the variance of log time that a hole alone explains, with its value in the best."
_ROOFLINE = "Bandwidth and arithmetic peak are the machine file's; bytes are those that memory must carry."


def tuned_page(tuned: Tuned) -> str:
    """The whole page of a tuning as text, with the page of its best schedule."""
    return page(tuned, tuned_picture(tuned), None if tuned.plan is None else roof_of(tuned, tuned.plan))


def tuned_picture(tuned: Tuned) -> str:
    """The page of the best schedule; empty if there is none."""
    if tuned.plan is None or tuned.text is None:
        return ""
    return schedule_page(tuned.plan, Pipeline().lower(tuned.plan), tuned.text, inside=True)


def page(tuned: Tuned, picture: str = "", roof: Roofline | None = None) -> str:
    """The whole page. picture: the page of the best schedule; roof: its place under the roofline."""
    body = [shared() if picture else "", *run_parts(tuned, picture, roof), script("trials.js")]
    return document(f"{tuned.program} on {tuned.title}", body, FRAME + style(), ICON)


def run_parts(tuned: Tuned, picture: str = "", roof: Roofline | None = None) -> list[str]:
    """What a page says of a run, which may still go on. A picture needs `shared` in the same page."""
    rows = sensitivities(tuned)
    sizes = ", ".join(f"{name} {value}" for name, value in tuned.defines)
    lead = f"{', '.join(tuned.devices)}, {tuned.title}{'; ' + sizes if sizes else ''}"
    name = escape(f"{tuned.program} {sizes}")
    body = [
        f'<article data-run="{name}"><h1>{escape(tuned.program)}</h1><p class=lead>{escape(lead)}</p>',
        _facts(tuned),
        _chart("History", history(tuned), _HISTORY),
        _chart("What matters", importance(rows), _IMPORTANCE),
        _holes(rows),
        trials_html(tuned),
        _failures(tuned),
    ]
    if roof is not None:
        body.append(_chart("Roofline", roofline(roof), _ROOFLINE))
    if picture:
        body.append(f"<h2>The best schedule</h2>{embedded(picture, 'the best schedule')}")
    return [*body, "</article>"]


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
    drawn = f"<div class=scroll>{chart}</div><figcaption>{escape(caption)}</figcaption>"
    return f"<h2>{title}</h2><figure class=chart>{drawn}</figure>"


def _holes(rows: tuple[Sensitivity, ...]) -> str:
    if not rows:
        return ""
    cells = "".join(_hole(row) for row in rows)
    head = (
        "<tr><th>hole<th>value<th class=n>share<th>next best value<th class=n>costs<th class=n>values tried"
    )
    table = f"<div class=scroll><table>{head}{cells}</table></div>"
    return f"<details><summary>All holes</summary>{table}</details>"


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
    return f"<h2>Failures</h2><div class=scroll><table>{head}{''.join(rows)}</table></div>{note}"
