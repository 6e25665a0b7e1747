"""A schedule as one SVG picture, for documents: its arrays, cut as its steps cut them, to scale."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import product
from math import prod

from mdh.hardware import Space
from mdh.ir.plan import Plan
from mdh.language import LANGUAGES
from mdh.printable import printable
from mdh.report.picture.sketch import Ends, first_part, part_kind, touched
from mdh.report.picture.stage import ArrayView, DimView, HeldView, StageView, stage_view

_WIDTH, _EDGE, _GAP, _ROW = 760.0, 16.0, 22.0, 17.0
_TALL = 210.0
"""Pixels of an array from top to bottom, at most."""
_LEAST = 26.0
"""Pixels of a side, below which an array gets a scale of its own."""
_IN_A_ROW = 3
_MOST_CELLS = 64
"""Parts along a side, above which only the first one is drawn."""
_LONG = 108
"""Characters of a line of text that fit."""
_STYLE = """
text { fill:#20242a; font:12px system-ui,sans-serif } .soft { fill:#6b7280 } .bold { font-weight:600 }
.step { font:11px ui-monospace,monospace } .back { fill:#fbfbf9 } .paper { fill:#fff; stroke:#6b7280 }
.cell { stroke:#fff; stroke-width:.7; fill-opacity:.42 } .cell.other { fill-opacity:.2 }
.blk, .clu, .nod, .dev { fill:#2f7fb5 } .wrp, .wgp { fill:#3c8f5a } .thr { fill:#8a63b8 }
.vec { fill:#a8742a } .mma { fill:#c2571a } .loop { fill:#7b8590 }
.box { fill:none; stroke:#20242a; stroke-width:1.3; stroke-dasharray:5 3 }
.box.fine { stroke-dasharray:1.5 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill:#e4e6e8 } .soft { fill:#8d96a1 } .back { fill:#15181c } .paper { fill:#1b1f24; stroke:#8d96a1 }
  .cell { stroke:#1b1f24 } .blk, .clu, .nod, .dev { fill:#5aa9dd } .wrp, .wgp { fill:#63bd84 }
  .thr { fill:#b392e0 } .vec { fill:#d6a458 } .mma { fill:#f0914f } .loop { fill:#94a0ad }
  .box { stroke:#e4e6e8 }
}
"""
"""Without variables, which few viewers besides browsers know."""


def still_picture(plan: Plan) -> str:
    """The SVG text: for each stage its arrays, and its steps with what they do."""
    sizes = ", ".join(f"{n} {v}" for n, v in {**dict(plan.program.constants), **plan.program.sizes}.items())
    where = f"{plan.machine.name}, {LANGUAGES[plan.target].title}{'; ' if sizes else ''}{sizes}"
    lead = _EDGE + 9 * len(plan.program.name)
    parts = [_text(_EDGE, 24, plan.program.name, "bold"), _text(lead, 24, where, "soft")]
    y = 42.0
    for stage in plan.stages:
        view = stage_view(plan, stage)
        if not plan.alone:
            parts.append(_text(_EDGE, y + 8, f"stage {view.name}", "bold"))
            y += _ROW
        drawn, y = _arrays(view, y)
        rows, y = _steps(view, y)
        parts += [*drawn, *rows]
    box = f'viewBox="0 0 {_WIDTH:.0f} {y:.0f}" width="{_WIDTH:.0f}" height="{y:.0f}"'
    said = f"<title>{escape(plan.program.name)} on {escape(plan.machine.name)}</title>"
    back = f'<rect class="back" width="{_WIDTH:.0f}" height="{y:.0f}" rx="8"/>'
    body = "\n".join((said, f"<style>{_STYLE}</style>", back, *parts))
    return printable(f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">\n{body}\n</svg>\n')


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    short = words if len(words) <= _LONG else f"{words[: _LONG - 1]}…"
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" xml:space="preserve">{escape(short)}</text>'


def _arrays(view: StageView, y: float) -> tuple[list[str], float]:
    """The pictures of all arrays, a few in a row, and the height below them."""
    room = (_WIDTH - 2 * _EDGE - (_IN_A_ROW - 1) * _GAP) / _IN_A_ROW
    sides = {a.name: (_shown(a, -1), _shown(a, -2)) for a in view.arrays}
    own = {name: min(room / x, _TALL / y_) for name, (x, y_) in sides.items()}
    common = min(own.values())
    parts: list[str] = []
    for start in range(0, len(view.arrays), _IN_A_ROW):
        low = y
        for n, array in enumerate(view.arrays[start : start + _IN_A_ROW]):
            across, down = sides[array.name]
            shared = all(side == 1 or side * common >= _LEAST for side in (across, down))
            scale = common if shared else own[array.name]
            left = _EDGE + n * (room + _GAP)
            role = {"in": "read", "out": "written", "in out": "updated"}[array.role]
            shape = "×".join(map(str, array.shape))
            parts.append(_text(left, y + 10, f"{array.name}  {shape}, {role}", "bold"))
            parts += _array(view, array, left, y + 18, scale)
            low = max(low, y + 18 + max(8.0, down * scale))
        y = low + _GAP
    return parts, y


def _shown(array: ArrayView, k: int) -> int:
    return array.shape[k] if len(array.shape) >= -k else 1


def _array(view: StageView, array: ArrayView, left: float, top: float, scale: float) -> Iterator[str]:
    """The array's last two dimensions: the parts of the cores, in them the first part of each later step, and
    what its first tiles hold in faster memory."""

    def box(ends: Sequence[Ends], kind: str) -> str:
        (x0, x1), (y0, y1) = ends
        size = f'width="{max(1.2, (x1 - x0) * scale):.1f}" height="{max(1.2, (y1 - y0) * scale):.1f}"'
        return f'<rect x="{left + x0 * scale:.1f}" y="{top + y0 * scale:.1f}" {size} class="{kind}"/>'

    yield box([(0, _shown(array, -1)), (0, _shown(array, -2))], "paper")
    for ends, kind in _cells(view, array):
        yield box(ends, f"{kind} other")
    for step in range(len(view.steps)):
        sets = [first_part(dim, step) for dim in view.dims]
        yield box(_ends(array, sets), part_kind(view, step))
    for held in view.held:
        if held.buffer == array.name:
            fine = " fine" if held.region == Space.RM else ""
            yield box(_ends(array, [_free(dim, held) for dim in view.dims]), f"box{fine}")


def _ends(array: ArrayView, sets: Sequence[Ends]) -> list[Ends]:
    rank = len(array.shape)
    return [touched(array, rank + k, sets) if rank >= -k else (0, 1) for k in (-1, -2)]


def _free(dim: DimView, held: HeldView) -> Ends:
    reach = sum(d.weight * (d.parts - 1) for d in dim.digits if d.var in held.free)
    return 0, min(dim.extent, reach + 1)


def _cells(view: StageView, array: ArrayView) -> Iterator[tuple[list[Ends], str]]:
    """Every second part of the first step that cores share, as a chessboard; none if they are too many."""
    step = next((s for s, found in enumerate(view.steps) if found.layers), None)
    if step is None:
        return
    axes = [_dims_of(array, k) for k in (-1, -2)]
    if axes[0] & axes[1]:
        return
    whole = [(0, dim.extent) for dim in view.dims]
    starts = []
    for dims in axes:
        if prod(_count(view.dims[d], step) for d in dims) > _MOST_CELLS:
            return
        starts.append(list(product(*(_parts(view.dims[d], step) for d in sorted(dims)))))
    for (x, across), (y, down) in product(enumerate(starts[0]), enumerate(starts[1])):
        if (x + y) % 2 == 0:
            continue
        sets = list(whole)
        for dims, ends in ((axes[0], across), (axes[1], down)):
            for d, one in zip(sorted(dims), ends, strict=True):
                sets[d] = one
        yield _ends(array, sets), part_kind(view, step)


def _dims_of(array: ArrayView, k: int) -> frozenset[int]:
    """The dimensions that the subscript of an axis depends on."""
    if len(array.shape) < -k:
        return frozenset()
    indices = (t.index[len(array.shape) + k] for t in array.touches)
    return frozenset(term.dim for index in indices if index is not None for term in index.terms)


def _count(dim: DimView, step: int) -> int:
    return prod(d.parts for d in dim.digits if d.step <= step)


def _parts(dim: DimView, step: int) -> list[Ends]:
    """Where the parts that the steps up to this one make lie."""
    mine = [range(0, d.weight * d.parts, d.weight) for d in dim.digits if d.step <= step]
    size = first_part(dim, step)[1]
    found = (sum(digits) for digits in product(*mine))
    return [(at, min(dim.extent, at + size)) for at in found if at < dim.extent]


def _steps(view: StageView, y: float) -> tuple[list[str], float]:
    """The steps as the schedule has them, each with what it does, and the height below them."""
    parts = []
    for s, step in enumerate(view.steps):
        if not step.text:
            continue
        kind = part_kind(view, s).rpartition(" ")[2]
        parts.append(f'<rect x="{_EDGE:.1f}" y="{y + 2:.1f}" width="10" height="10" rx="2" class="{kind}"/>')
        parts.append(_text(_EDGE + 18, y + 11, step.text, "step"))
        y += _ROW
        parts.append(_text(_EDGE + 18, y + 9, "; ".join(step.facts), "soft"))
        y += _ROW + 2
    if view.held:
        said = "dashed: what the first tile holds in SM, dotted: in RM"
        parts.append(_text(_EDGE, y + 10, said, "soft"))
        y += _ROW
    return parts, y + 10
