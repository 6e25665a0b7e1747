"""Contractions over windows (convolutions): their dimensions by role."""

from dataclasses import dataclass

from mdh.schedule.default.operands import Contraction
from mdh.schedule.default.shape import Shape, ShapeAccess


@dataclass(frozen=True, slots=True)
class Window:
    """A contraction whose operand `image` is read at sums of result and reduced dimensions.

    slid: pairs of (result, reduced) dimensions, in the order of the image's positions. channels: the other
    reduced dimensions. features: result dimensions of the operand `weights` alone, the main one first.
    images: result dimensions of `image` alone. others: all other result dimensions.
    """

    image: str
    weights: str
    slid: tuple[tuple[int, int], ...]
    channels: tuple[int, ...]
    features: tuple[int, ...]
    images: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def reduced(self) -> tuple[int, ...]:
        return (*self.channels, *(r for _, r in self.slid))


def find_window(shape: Shape, found: Contraction) -> Window | None:
    """The window of a contraction; None if no operand or both have one, or the sum's order matters."""
    if shape.keeps_order:
        return None
    sides = (
        (found.first, found.second, found.rows, found.columns),
        (found.second, found.first, found.columns, found.rows),
    )
    windows = []
    for image, weights, own, features in sides:
        slid = _slid(shape, shape.reads_of(image)[0], own, found.reduced)
        if slid:
            results, sums = zip(*slid, strict=True)
            channels = tuple(
                sorted((d for d in found.reduced if d not in sums), key=lambda d: -shape.extents[d])
            )
            images = tuple(d for d in own if d not in results)
            windows.append(Window(image, weights, slid, channels, features, images, found.batch))
    return windows[0] if len(windows) == 1 and windows[0].channels else None


def _slid(
    shape: Shape, access: ShapeAccess, own: tuple[int, ...], reduced: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """Pairs of a result dimension and a reduced dimension that share a position of the operand."""
    names = [d.name for d in shape.stage.dims]
    pairs = []
    for position in access.index:
        here = position.names if position is not None else frozenset()
        results = [d for d in own if names[d] in here]
        sums = [d for d in reduced if names[d] in here]
        if len(results) == 1 and len(sums) == 1:
            pairs.append((results[0], sums[0]))
    return tuple(pairs)
