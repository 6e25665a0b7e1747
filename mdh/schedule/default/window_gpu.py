"""Contractions over windows (convolutions) on a GPU: chooses tiles by an estimate of the time.

A block computes some features of a box of points, a few channels at a time. It copies what the box reads,
with its border, and the weights. A thread computes several features of neighbouring points, whose windows
overlap in its registers. If the results are too few to fill the machine, blocks share the sum.

The costs of the estimate (`mdh.cost.gpu.WINDOWS`) are fitted to measured convolutions on an H200.
"""

from collections.abc import Mapping

from mdh.cost.gpu import WINDOWS, seconds
from mdh.hardware import Layer, Space
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes
from mdh.schedule.default.operands import Tiling, asynchronous, shared_copy
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.window import Window
from mdh.schedule.default.window_plans import plans, unrolls, work_of
from mdh.schedule.model import Mem, Unit


def window_gpu(
    shape: Shape, window: Window, machine: Machine, *, adding: bool = False
) -> tuple[ScheduleBuilder, float] | None:
    """The steps of the plan with the best estimate, in seconds; None if no plan fits."""

    def time(plan: Tiling) -> float:
        return seconds(work_of(shape, window, machine, plan), machine, WINDOWS)

    every = ((plan, time(plan)) for plan in plans(shape, window, machine, adding=adding))
    best = min(every, key=lambda timed: timed[1], default=None)
    return None if best is None else (outline_of(shape, window, machine, best[0]), best[1])


def outline_of(shape: Shape, window: Window, machine: Machine, plan: Tiling) -> ScheduleBuilder:
    """The steps of a plan."""
    out = shape.contiguous(shape.writes[0])
    outline = ScheduleBuilder(shape)
    axes = dict(block_axes(plan.first, shape.extents, machine, out))
    outline.step(plan.first, axes, entries=plan.entries(shape))
    outline.step(plan.slices, entries=held(shape) | _copies(shape, window, machine))
    thread = {**dict.fromkeys(plan.block, 1), **plan.thread}
    outline.step(thread, _threads(outline, thread, out))
    # channel by channel, so that few other values are used between two uses of a value of the image
    unroll = (attribute("unroll"),)
    whole = unrolls(shape, window, machine, plan)
    outline.step(dict.fromkeys(window.channels, 1), attrs=unroll if whole else ())
    fragments = {b: staged(shape, b, Space.RM) for b in (window.image, window.weights)}
    outline.step(dict.fromkeys(window.reduced, 1), entries=fragments, attrs=unroll)
    return outline


def _threads(outline: ScheduleBuilder, thread: Mapping[int, int], out: int | None) -> dict[int, Unit]:
    """Puts neighbouring threads along the output's contiguous dimension, then along the inner ones."""
    cut = sorted((d for d, t in thread.items() if t < outline.tiles[d]), key=lambda d: (d != out, -d))
    return {d: Unit(Layer.THR, axis) for d, axis in zip(cut, ("x", "y", "z"), strict=False)}


def _copies(shape: Shape, window: Window, machine: Machine) -> dict[str, Mem]:
    image, weights = (
        staged(shape, window.image, Space.SM),
        shared_copy(shape, window.weights, window.features[0]),
    )
    return {
        window.image: asynchronous(shape, image, machine),
        window.weights: asynchronous(shape, weights, machine),
    }
