"""What the model will do to a search, before it begins: the model's stage of `mdh explain --space`."""

from dataclasses import dataclass
from random import Random
from statistics import median

from mdh.cost.predict import predict
from mdh.cost.prediction import Prediction
from mdh.tuner.candidates.choose import EXPLORE, favourites, worth
from mdh.tuner.candidates.proposals import TRIES
from mdh.tuner.candidates.shortlist import DRAWN, FIRST, drawn_first
from mdh.tuner.space.identity import identity
from mdh.tuner.space.space import Space


@dataclass(frozen=True, slots=True)
class Foresight:
    """Of legal points drawn as a search draws its first ones, and chosen among as the search chooses.

    drawn: different programs. best, median, worst: predicted seconds. spilled: how many of them hold more
    than registers do; hopeless: more code than a compiler takes. group: points that compete with one
    another, 1: none do. first: the best of each group, which are built; explored: others that are built all
    the same, each with the chance `explore`; aside: what waits until the space is used up.
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


def foresee(space: Space, seed: int = 0) -> Foresight | None:
    """By the constants that mdh comes with; None where no legal point was found. The same for a seed."""
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


def _drawn(space: Space, rng: Random) -> list[Prediction]:
    """Predictions about different programs, in the order in which a search draws them."""
    out: dict[str, Prediction] = {}
    for _ in range(DRAWN):
        point = space.draw_legal(rng, tries=TRIES)
        if point is None:
            # a search too gives up drawing here
            break
        plan = point[1]
        out.setdefault(identity(plan), predict(plan))
    return list(out.values())
