"""What is measured: products of random sizes, for each the tiles that the estimate likes, and some others."""

import random
from collections.abc import Sequence
from itertools import product
from math import exp, log

from experiments.fit_default.choice import Problem
from experiments.fit_default.rows import Sizes
from mdh.cost.gpu import PRODUCTS, seconds
from mdh.machine import Machine
from mdh.schedule.default.contraction_gpu import SHARED, SLOTS, outline_of
from mdh.schedule.default.ladder import LADDER, BlockTile
from mdh.schedule.default.ladder_plans import LadderTiling
from mdh.schedule.model import Schedule

LEAST, MOST = 32, 16384
FLOPS = 3e11
"""More than that tells tiles apart no better, and takes long."""
LIKED, OTHERS = 24, 12
FAR = 2.0
"""Times the best estimate: what is measured without being liked."""
OWN = ((2, 2), (2, 4), (4, 4), (4, 8), (8, 4), (8, 8), (8, 16))
LANES = ((2, 16), (4, 8), (8, 4))
SIDES = (16, 32, 64, 128)
THREADS = (32, 256)
DEPTHS = (16, 32)
MANY = 32
"""Results of a thread from which operands are read ahead, too."""


def tiles() -> tuple[BlockTile, ...]:
    """The ladder, and around it every tile of whole warps whose copies fit."""
    out = list(LADDER)
    for rows, columns, own, lanes, depth in product(SIDES, SIDES, OWN, LANES, DEPTHS):
        warp = (own[0] * lanes[0], own[1] * lanes[1])
        threads = rows * columns // (own[0] * own[1])
        whole = rows % warp[0] == 0 and columns % warp[1] == 0
        fits = SLOTS * depth * (rows + columns + 4) * 4 <= SHARED
        if whole and fits and THREADS[0] <= threads <= THREADS[1]:
            both = (1, 2) if own[0] * own[1] >= MANY else (1,)
            out.extend(BlockTile((rows, columns), warp, own, depth, ahead) for ahead in both)
    return tuple(dict.fromkeys(out))


def random_sizes(rng: random.Random, count: int, step: int) -> list[Sizes]:
    """Even on a logarithmic scale, lest nearly all be large; multiples of `step`."""

    def size() -> int:
        return max(LEAST, round(exp(rng.uniform(log(LEAST), log(MOST))) / step) * step)

    out = list[Sizes]()
    while len(out) < count:
        drawn = (size(), size(), size())
        if 2.0 * drawn[0] * drawn[1] * drawn[2] <= FLOPS and drawn not in out:
            out.append(drawn)
    return out


def candidates(one: Problem, every: Sequence[BlockTile], rng: random.Random) -> list[LadderTiling]:
    """The LIKED by the estimate as it is, and OTHERS that it does not rule out."""
    ranked = sorted(
        ((seconds(one.work(p), one.machine, PRODUCTS), n, p) for n, p in enumerate(one.plans(every))),
        key=lambda x: x[:2],
    )
    rest = [p for time, _, p in ranked[LIKED:] if time < FAR * ranked[0][0]]
    return [p for *_, p in ranked[:LIKED]] + rng.sample(rest, min(OTHERS, len(rest)))


def schedule_of(one: Problem, plan: LadderTiling, machine: Machine) -> Schedule:
    outline = outline_of(one.shape, one.found, machine, plan)
    return Schedule((outline.section(one.shape.stage.name),), machine.name, one.shape.program.name)
