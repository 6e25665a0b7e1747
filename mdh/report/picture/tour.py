"""The steps of a stage beside its pictures, which the page's script makes interactive."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from mdh.hardware import Space
from mdh.report.difference_text import LAYER_WORDS
from mdh.report.picture.sketch import sketch_array, sketch_space
from mdh.report.picture.stage import ArrayView, StageView

_BAR = (
    '<div class="bar go js" hidden><button type=button data-go="-1" aria-label="previous step">‹</button>'
    '<b class=count></b><button type=button data-go="1" aria-label="next step">›</button>'
    '<span class="note keys">keys ← →</span><code class=now></code></div>'
)


@dataclass(frozen=True, slots=True)
class Later:
    """A step that is not drawn. facts: why, and what is said of it. bad: the checker refused it."""

    number: int
    text: str
    facts: tuple[str, ...]
    bad: bool


def tour(view: StageView, later: Sequence[Later] = ()) -> str:
    """The steps, and a picture of the first part of each for pages without scripts. later: steps that stand
    below them."""
    controls = '<div class="bar controls js" hidden></div><p class="who js" aria-live="polite" hidden></p>'
    right = f"{controls}{_pictures(view)}{_legend(view)}"
    sides = f"<div>{_steps(view, later)}</div><div>{right}</div>"
    return f"<p class=note>{_what(view)}</p><div class=tour>{_BAR}<div class=explore>{sides}</div></div>"


def _what(view: StageView) -> str:
    """What lit elements mean where it is not what the threads do one by one."""
    dims = ", ".join(f"{d.name} {d.extent:,} ({d.kind})" for d in view.dims)
    said = [f"Dimensions: {dims}.", "Lit is what a unit computes with; point at an element, or choose one."]
    if view.warp and any(h.region == Space.SM and not h.output and not h.boxed for h in view.held):
        said.append("Copies into SM are dealt to all threads of the block.")
    if view.combines:
        methods = ", then ".join(view.combines)
        scan = any(d.kind == "ps" for d in view.dims)
        what = "Prefixes pass from unit to unit" if scan else "Parts of one result that units hold meet"
        said.append(f"{what}: {methods}.")
    return escape(" ".join(said))


def _steps(view: StageView, later: Sequence[Later]) -> str:
    rows = []
    for s, step in enumerate(view.steps):
        kind = "bad" if step.bad else step.layers[0].lower() if step.layers else "loop"
        implied = "parts of an atom" if any("inside an atom" in f for f in step.facts) else "single elements"
        said = escape(step.text) if step.text else f"{step.number}: {implied} (implied)"
        facts = "".join(f"<li>{escape(fact)}" for fact in step.facts)
        button = f'<button type=button class=step data-step="{s}">{said}</button>'
        rows.append(f'<li class="{kind}">{button}<ul>{facts}</ul>')
    for row in later:
        facts = "".join(f"<li>{escape(fact)}" for fact in row.facts)
        said = f"<p class=step>{escape(row.text)}</p><ul>{facts}</ul>"
        rows.append(f'<li class="{"bad" if row.bad else "undrawn"}">{said}')
    return f"<ol class=steplist>{''.join(rows)}</ol>"


def _pictures(view: StageView) -> str:
    first = _figure("space", "iteration space", " × ".join(d.name for d in view.dims), sketch_space(view))
    rest = [_figure(str(n), a.name, _shape(a), sketch_array(view, a)) for n, a in enumerate(view.arrays)]
    return f"<div class=pictures>{first}{''.join(rest)}</div>"


def _shape(a: ArrayView) -> str:
    role = {"in": "read", "out": "written", "in out": "updated"}[a.role]
    data = ", subscripts are data" if any(f is None for t in a.touches for f in t.index) else ""
    return f"{a.dtype} {'×'.join(map(str, a.shape))}, {role}{data}"


def _figure(key: str, name: str, said: str, svg: str) -> str:
    caption = f"<b>{escape(name)}</b> {escape(said)}<span class=range>The first part of every step.</span>"
    inside = f'<figcaption>{caption}</figcaption><div class="axes js" hidden></div>{svg}'
    return f'<figure class=picture data-picture="{key}">{inside}</figure>'


def _legend(view: StageView) -> str:
    rows = [("lit", "computed with by what is shown")]
    rows += [(layer.lower(), f"parts of {LAYER_WORDS[layer]} ({layer})") for layer in view.layers]
    rows.append(("loop", "parts of a loop"))
    cells = "".join(f'<span><i style="background:var(--{k})"></i>{escape(w)}</span>' for k, w in rows)
    held = "<span>dashed: what SM holds, dotted: RM</span>" if view.held else ""
    return f"<div class=legend>{cells}{held}</div>"
