"""The page of a legal schedule: one file without other resources, readable also without scripts."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path

from mdh.assembly.hot import HotLoop
from mdh.counters.counted import Counted
from mdh.hardware import Space
from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.language import LANGUAGES
from mdh.report.explain import Explanation, FrontRow, SharedLoop, StageReport, explain_plan
from mdh.report.html_style import document, facts_html
from mdh.report.picture.bank_chart import banks_html
from mdh.report.picture.banks import bank_accesses
from mdh.report.picture.code import CodeLine, code_lines
from mdh.report.picture.colours import coloured
from mdh.report.picture.hot_loop import hot_html
from mdh.report.picture.stage import StageView, stage_view
from mdh.report.picture.tables import held_html, occupancy_html, traffic_html
from mdh.report.picture.time_spent import time_html
from mdh.report.picture.tour import tour
from mdh.report.text import (
    bytes_text,
    inline_text,
    inner_text,
    launch_text,
    loops_text,
    runs,
    seconds_text,
    shares,
)  # fmt: skip
from mdh.target.text import KernelText

_SCRIPTS = ("ownership.js", "pictures.js", "view.js")
_FOLDER = Path(__file__).resolve().parent
_CODE_LIMIT = 4000
"""The most lines of source that are shown; browsers are slow on longer pages."""
ICON = '<link rel="icon" href="data:,">'
"""An empty icon, so that browsers ask for none."""
SCRIPT_ID = "schedule-script"
"""The id of the element with the script, in a page that holds pages of schedules."""
_BORROWED = (
    'const own = document.createElement("script");'
    f'own.textContent = parent.document.getElementById("{SCRIPT_ID}").textContent;'
    "document.body.append(own);"
)


def schedule_page(
    plan: Plan,
    module: Module,
    text: KernelText,
    notes: Sequence[str] = (),
    *,
    inside: bool = False,
    hot: HotLoop | None = None,
    counted: Counted | None = None,
) -> str:
    """The whole page as text. notes: remarks at its top. inside: it is embedded in another page, which has
    the script (`html_frame`). hot, counted: what was asked for besides."""
    views = [None if stage.call else stage_view(plan, stage) for stage in plan.stages]
    told = explain_plan(plan, module)
    sizes = ", ".join(f"{name} {n}" for name, n in _sizes(plan))
    lead = f"{plan.machine.name}, {LANGUAGES[plan.target].title}{'; ' + sizes if sizes else ''}"
    parts = [f"<h1>{escape(plan.program.name)}</h1><p class=lead>{escape(lead)}</p>"]
    parts += [f"<p class=note>{escape(note)}</p>" for note in notes]
    parts += [
        f"<p class=note>stage {escape(row.name)}: {escape(inline_text(row))}</p>" for row in told.inline
    ]
    parts += [f"<p class=note>stage {escape(row.name)}: {escape(inner_text(row))}</p>" for row in told.inner]
    parts += [f"<p class=note>loop {escape(_shared(row))}</p>" for row in told.shared]
    parts += [f"<p class=note>loop {escape(_front(row))}</p>" for row in told.fronts]
    parts += [f"<p class=note>one launch: {escape(launch_text(row))}</p>" for row in told.launches]
    for n, (view, report) in enumerate(zip(views, told.stages, strict=True)):
        if view is None:
            parts.append(f"<p class=note>stage {escape(report.entries.stage)}: {escape(report.call)}</p>")
        else:
            parts.append(_stage(n, view, report, plan, module, told))
    parts.append(time_html(plan, counted))
    lines = code_lines(plan, text)
    parts += [_code(lines, text, views), hot_html(hot, lines)]
    parts.append(f"<h2>Schedule</h2><pre>{escape(plan.text)}</pre>")
    own = _BORROWED if inside else script()
    parts.append(f"{data_html([v and asdict(v) for v in views])}<script>{own}</script>")
    return document(f"{plan.program.name} on {plan.machine.name}", parts, asset("page.css"), ICON)


def data_html(stages: Sequence[object]) -> str:
    """The element from which the script takes what it draws."""
    data = json.dumps({"stages": stages}, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="data">{data}</script>'


def script() -> str:
    """The files of the script as one, in a scope of its own."""
    return f'"use strict";\n(() => {{\n{"".join(asset(name) for name in _SCRIPTS)}}})();\n'


@cache
def asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _sizes(plan: Plan) -> list[tuple[str, int]]:
    return list({**dict(plan.program.constants), **plan.program.sizes}.items())[:12]


def _shared(loop: SharedLoop) -> str:
    return f"{loop.name}( {loop.counter} ): {shares(loop)} of {', '.join(loop.stages)}"


def _front(row: FrontRow) -> str:
    return f"{row.name}( {', '.join(row.counters)} ): {runs(row)} of {', '.join(row.stages)}"


def _stage(
    n: int, view: StageView, report: StageReport, plan: Plan, module: Module, told: Explanation
) -> str:
    title = f"<h2>Stage {escape(view.name)}</h2>" if not plan.alone else ""
    gpu = plan.machine.kind != "cpu"
    kernels = [k for k in module.kernels if k.stage == view.name]
    found = tuple(a for k in kernels for a in bank_accesses(k)) if gpu else ()
    loops = escape(loops_text(report.loops))
    missing = "".join(f"<p class=note>NaN in {escape(said)}</p>" for said in report.entries.nan)
    one = "".join(f"<p class=note>one dimension: {escape(', '.join(g))}</p>" for g in plan.stages[n].fused)
    return (
        f'<section id="stage-{n}">{title}{_facts(report)}{one}{missing}<h3>Tiles and units</h3>{tour(view)}'
        f"<details><summary>Loops in code order</summary><pre>{loops}</pre></details>"
        f"{traffic_html(report)}{held_html(view, report, plan.machine)}{occupancy_html(report)}"
        f"{banks_html(found)}</section>"
    )


def _facts(report: StageReport) -> str:
    dm = next((row.bytes for row in report.layers if row.layer == Space.DM), 0)
    facts = [
        (seconds_text(max(report.arithmetic_bound, report.memory_bound)), "at the machine's peak"),
        (bytes_text(dm), f"asked of DM, {bytes_text(report.compulsory)} must be"),
    ]
    main = max(report.resources, key=lambda r: (r.own, r.blocks * r.threads), default=None)
    if main is not None and main.limit:
        facts.append((f"{main.occupancy:.0%}", f"occupancy, bound by {main.limit}"))
        facts.append((f"{main.blocks:,} × {main.threads:,}", "blocks × threads"))
    elif main is not None:
        facts.append((f"{main.blocks:,}", "work-groups"))
    return facts_html(facts)


def _code(lines: Sequence[CodeLine], text: KernelText, views: Sequence[StageView | None]) -> str:
    """The steps, and beside them the text, in which each line has its step."""
    rows, shown = [], lines[:_CODE_LIMIT]
    for line, html in zip(shown, coloured([x.text for x in shown], text.language), strict=True):
        mark = "" if line.step is None else f' data-s="{line.stage}.{line.step}"'
        rows.append(f"<span class=l{mark}>{html}</span>")
    left = len(lines) - _CODE_LIMIT
    more = f"<p class=note>{left:,} more lines: mdh compile -o writes them all.</p>" if left > 0 else ""
    said = f"{LANGUAGES[text.language].title}. Choose a line to see its step, or a step to see its lines."
    code = f"<pre class=code tabindex=0>{''.join(rows)}</pre>"
    beside = f"<div class=beside>{_beside(views)}{code}</div>"
    return f"<h2>Kernel</h2><p class=note>{said}</p>{beside}{more}"


def _beside(views: Sequence[StageView | None]) -> str:
    """The steps of all stages as buttons."""
    drawn = [(n, view) for n, view in enumerate(views) if view is not None]
    out = []
    for n, view in drawn:
        if len(views) > 1:
            out.append(f"<p>{escape(view.name)}</p>")
        for s, step in enumerate(view.steps):
            kind = step.layers[0].lower() if step.layers else "loop"
            said = escape(step.text) if step.text else f"{step.number}: single elements"
            out.append(f'<button type=button class="mini {kind}" data-mini="{n}.{s}">{said}</button>')
    return f'<nav class="minis js" aria-label="steps" hidden>{"".join(out)}</nav>'
