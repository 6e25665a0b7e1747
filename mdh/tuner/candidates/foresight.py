"""Previews the cost model's pruning before a search: the model's part of `mdh explain --space`."""

from dataclasses import dataclass
from random import Random
from statistics import median

from mdh.cost.predict import predict
from mdh.cost.prediction import Prediction
from mdh.tuner.candidates.proposals import TRIES
from mdh.tuner.candidates.shortlist import DRAWN, EXPLORE, FIRST, drawn_first, favourites, worth
from mdh.tuner.space.identity import identity
from mdh.tuner.space.space import ExactSpace


@dataclass(frozen=True, slots=True)
class Foresight:
    """Statistics of legal points, drawn and chosen as a search would at its start.

    drawn: the number of different programs. best, median, worst: predicted seconds. spilled: how many need
    more registers than there are. hopeless: how many have more code than a compiler takes. group: how many
    points compete for one build; 1 if none compete. first: how many are built as the best of their groups.
    explored: how many others are built, each with probability `explore`. aside: how many wait until the space
    is used up.
    """

    drawn: int
    best: float
    median: float
    worst: float
    spilled: int
    hopeless: int
    group: int
    first: int
    explored: int
    aside: int
    explore: float


def foresee(space: ExactSpace, seed: int = 0) -> Foresight | None:
    """The statistics with the constants that mdh comes with; None if no legal point was found. The result is
    the same for the same seed."""
    found = _drawn(space, Random(f"{seed} drawn"))
    if not found:
        return None
    rng, group = Random(f"{seed} model"), FIRST if drawn_first(space.count) else 1
    first = chosen = 0
    for start in range(0, len(found), group):
        pool = found[start : start + group]
        first += len(favourites(pool, (), share=1 / group))
        chosen += len(worth(pool, (), rng, share=1 / group))
    times = sorted(p.seconds for p in found)
    return Foresight(
        drawn=len(found),
        best=times[0],
        median=median(times),
        worst=times[-1],
        spilled=sum(p.signs.spills > 0 for p in found),
        hopeless=sum(p.signs.hopeless for p in found),
        group=group,
        first=first,
        explored=chosen - first,
        aside=len(found) - chosen,
        explore=EXPLORE,
    )


def _drawn(space: ExactSpace, rng: Random) -> list[Prediction]:
    """Predictions for different programs, in the order in which a search draws them."""
    out: dict[str, Prediction] = {}
    for _ in range(DRAWN):
        point = space.draw_legal(rng, tries=TRIES)
        if point is None:
            # a search gives up drawing here too
            break
        plan = point[1]
        out.setdefault(identity(plan), predict(plan))
    return list(out.values())
