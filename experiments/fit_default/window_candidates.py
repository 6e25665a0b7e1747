"""What is measured of convolutions: for each the plans that the estimate likes, and some others."""

import random
from functools import cache

from bench.gpu.cases import schedule_path
from experiments.fit_default.build import Code, compiled
from experiments.fit_default.window_choice import Problem, problem
from experiments.fit_default.window_rows import Convolution
from mdh.cost.gpu import WINDOWS, seconds
from mdh.machine import Machine, load_machine
from mdh.schedule.default.operands import Tiling
from mdh.schedule.default.window_gpu import outline_of
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

LIKED, OTHERS = 20, 30
FAR = 2.0
"""Times the best estimate: what is measured without being liked."""


def convolutions() -> dict[Convolution, tuple[str, ...]]:
    """And the schedules that ship for them: layers of networks, large and small, and some unlike them."""
    return {
        _grouped(32, 32, 16, 16, 12): ("grouped_conv/h200/c16",),
        _grouped(32, 32, 32, 32, 5): ("grouped_conv/h200/c32",),
        _grouped(32, 32, 4, 4, 54): ("grouped_conv/h200/c4",),
        _grouped(32, 32, 8, 8, 26): ("grouped_conv/h200/c8",),
        _strided(1, 112, 3, 64, 7): ("conv2d/h200/image",),
        _strided(16, 112, 3, 64, 7): ("conv2d/h200/images",),
        _last(1, 56, 64, 64): ("conv2d_56/h200/strips",),
        _last(1, 28, 128, 128): (),
        _last(1, 14, 256, 256): (),
        _last(1, 7, 512, 512): (),
        _last(16, 28, 128, 128): (),
        _last(8, 24, 16, 32, 5): (),
        _grouped(1, 1, 64, 64, 56): (),
        _grouped(16, 1, 128, 128, 28): (),
        _grouped(4, 1, 64, 3, 112, 7): (),
        _last(4, 32, 16, 48): (),
        _grouped(8, 1, 32, 32, 17): (),
        _strided(2, 56, 32, 64, 5): (),
        _strided(8, 28, 64, 128, 3): (),
        _grouped(8, 1, 256, 256, 14): (),
    }


def _grouped(
    images: int, groups: int, features: int, channels: int, side: int, window: int = 3
) -> Convolution:
    """Channels before points."""
    sizes = (images, groups, features, channels, side, side, window, window)
    return Convolution("grouped_conv", tuple(zip("NGFCHWRS", sizes, strict=True)))


def _strided(images: int, side: int, channels: int, features: int, window: int) -> Convolution:
    sizes = zip("NHWCKRS", (images, side, side, channels, features, window, window), strict=True)
    return Convolution("conv2d", (*sizes, ("STRIDE", 2)))


def _last(images: int, side: int, channels: int, features: int, window: int = 3) -> Convolution:
    """Channels after points, added to what is there."""
    sizes = zip("NHWCKRS", (images, side, side, channels, features, window, window), strict=True)
    return Convolution("conv2d_56", tuple(sizes))


def candidates(one: Problem, rng: random.Random) -> list[Tiling]:
    """The LIKED by the estimate as it is, and OTHERS that it does not rule out."""
    timed = ((seconds(one.work(p), one.machine, WINDOWS), n, p) for n, p in enumerate(one.plans))
    ranked = sorted(timed, key=lambda x: x[:2])
    rest = [p for time, _, p in ranked[LIKED:] if time < FAR * ranked[0][0]]
    return [p for *_, p in ranked[:LIKED]] + rng.sample(rest, min(OTHERS, len(rest)))


def schedule_of(one: Problem, plan: Tiling) -> Schedule:
    outline = outline_of(one.shape, one.window, one.machine, plan)
    return Schedule((outline.section(one.shape.stage.name),), one.machine.name, one.shape.program.name)


def build(machine: str, of: Convolution, what: Tiling | str) -> Code | str:
    """The code of a plan, or of a schedule that ships, or why there is none."""
    one = _problem(machine, of)
    if isinstance(what, str):
        path = schedule_path(what)
        schedule = parse_schedule(Source(str(path), path.read_text(encoding="utf-8")))
    else:
        schedule = schedule_of(one, what)
    return compiled(one.shape.program, schedule, one.machine)


@cache
def _problem(machine: str, of: Convolution) -> Problem:
    return problem(of, _machine(machine))


@cache
def _machine(name: str) -> Machine:
    return load_machine(name)
