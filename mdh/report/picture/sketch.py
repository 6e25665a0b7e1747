"""The picture in a page without scripts: the first part of every step, to scale."""

from collections.abc import Sequence

from mdh.report.picture.stage import ArrayView, DimView, Index, StageView

_SIDE, _PAD = 330.0, 2.0
Ends = tuple[int, int]


def sketch_space(view: StageView) -> str:
    """The first two steps in the last two dimensions: rows down, columns across. One dimension is a strip."""
    shown = (1, 0) if len(view.dims) > 1 else (0, None)
    boxes = []
    for step in range(-1, len(view.steps)):
        ends = [first_part(view.dims[d], step) if d is not None else (0, 1) for d in shown]
        boxes.append((ends, part_kind(view, step)))
    return _drawing(boxes, f"iteration space of {view.name}")


def sketch_array(view: StageView, array: ArrayView) -> str:
    """The part of the array's last two dimensions that the first part of every step touches."""
    rank = len(array.shape)
    shown: tuple[int, int | None] = (rank - 1, rank - 2) if rank > 1 else (0, None)
    whole = [(0, array.shape[k]) if k is not None else (0, 1) for k in shown]
    boxes = [(whole, "paper")]
    for step in range(len(view.steps)):
        sets = [first_part(dim, step) for dim in view.dims]
        ends = [touched(array, k, sets) if k is not None else (0, 1) for k in shown]
        boxes.append((ends, part_kind(view, step)))
    return _drawing(boxes, f"array {array.name}")


def part_kind(view: StageView, step: int) -> str:
    if step < 0:
        return "paper"
    layers = view.steps[step].layers
    return f"cell even {layers[0].lower() if layers else 'loop'}"


def first_part(dim: DimView, step: int) -> Ends:
    """The range of elements that the first part of `step` can have, the end exclusive."""
    reach = sum(d.weight * (d.parts - 1) for d in dim.digits if d.step > step)
    return 0, min(dim.extent, reach + 1)


def touched(array: ArrayView, k: int, sets: Sequence[Ends]) -> Ends:
    found = [_image(t.index[k], sets) or (0, array.shape[k]) for t in array.touches]
    low, high = min(a for a, _ in found), max(b for _, b in found)
    return max(0, low), min(array.shape[k], high)


def _image(index: Index | None, sets: Sequence[Ends]) -> Ends | None:
    if index is None:
        return None
    low = high = index.offset
    for term in index.terms:
        ends = [term.factor * sets[term.dim][0], term.factor * (sets[term.dim][1] - 1)]
        low, high = low + min(ends), high + max(ends)
    return low, high + 1


def _drawing(boxes: Sequence[tuple[Sequence[Ends], str]], label: str) -> str:
    (_, across), (_, down) = boxes[0][0]
    width = _SIDE if down <= 1.1 * across else max(60.0, _SIDE * 1.1 * across / down)
    height = _SIDE * min(1.1, max(0.12 if down == 1 else 0.18, down / across))
    shapes = []
    for ((x0, x1), (y0, y1)), kind in boxes:
        left, top = _PAD + x0 / across * width, _PAD + y0 / down * height
        size = f'width="{max(1.5, (x1 - x0) / across * width):.1f}"'
        size += f' height="{max(1.5, (y1 - y0) / down * height):.1f}"'
        shapes.append(f'<rect x="{left:.1f}" y="{top:.1f}" {size} class="{kind}"/>')
    box = f'viewBox="0 0 {_SIDE + 2 * _PAD:.0f} {height + 2 * _PAD:.1f}"'
    return f'<svg {box} role="img" aria-label="{label}">{"".join(shapes)}</svg>'
