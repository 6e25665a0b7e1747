"""Where the time goes: the terms of the cost model as bars, and counters that were measured."""

from html import escape

from mdh.cost.predict import predict
from mdh.counters.counted import Counted
from mdh.ir.plan import Plan
from mdh.report.hot_text import count_value, derived
from mdh.report.html_style import facts_html
from mdh.report.text import seconds_text
from mdh.wording import counted

_WORDS = {
    "arithmetic": "arithmetic", "loads": "loads and stores of the body", "chains": "waiting for sums before",
    "spills": "values that registers do not hold", "loops": "counting loops", "packing": "copies to buffers",
    "guards": "conditions at edges", "l2": "the second-level cache", "l3": "the third-level cache",
    "dm": "device memory", "jumps": "pieces that no prefetch foresees", "pages": "translating addresses",
    "groups": "starting work-groups", "launch": "launching kernels", "issue": "issuing instructions",
    "shared": "shared memory", "l1": "the first-level cache", "latency": "waiting for loads",
    "combine": "combining parts of results",
}  # fmt: skip
_LEAST = 0.005
"""Terms of a smaller share of the time are left out."""


def time_html(plan: Plan, found: Counted | None) -> str:
    """The section that says where the time goes. found: what the counters say; None without `--counters`."""
    said = predict(plan)
    terms = sorted(((s, name) for name, s in said.terms if s > _LEAST * said.seconds), reverse=True)
    rows = "".join(
        f"<div><p>{escape(_WORDS.get(name, name))} <b>{seconds_text(s)}</b></p>"
        f'<div class="share full"><i style="width:{min(100.0, 100 * s / said.seconds):.1f}%"></i></div></div>'
        for s, name in terms
    )
    note = (
        f"By the cost model for {plan.machine.name}, {seconds_text(said.seconds)} in all; a full bar is as "
        "much. Resources that work at the same time overlap, so the bars add up to more. It is an estimate, "
        "by which schedules are ranked."
    )
    model = f"<p class=note>{escape(note)}</p><div class=rows>{rows}</div>"
    return f"<section class=spent><h2>Where the time goes</h2>{model}{_measured(found)}</section>"


def _measured(found: Counted | None) -> str:
    if found is None:
        return "<p class=note>Counters are measured with --counters.</p>"
    why = f"<p class=note>{escape(_missing(found))}</p>" if found.missing else ""
    if not found.counts:
        return f"<h3>Measured</h3>{why}"
    facts = [] if found.seconds is None else [(seconds_text(found.seconds), "a run, measured")]
    cells = "".join(f"<tr><td>{escape(c.name)}<td class=n>{count_value(c)}" for c in found.counts)
    table = f"<div class=scroll><table><tr><th>counter<th class=n>a run{cells}</table></div>"
    lead = f"<p class=note>By {escape(found.by)} on {escape(found.where)}, {counted(found.runs, 'run')}.</p>"
    return f"<h3>Measured</h3>{lead}{facts_html([*facts, *derived(found)])}{table}{why}"


def _missing(found: Counted) -> str:
    return f"{'Not all' if found.counts else 'No'} counters: {found.missing}."
