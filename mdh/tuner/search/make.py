"""`make_searcher`: samplers by their names."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING

from mdh.diagnostics import fail
from mdh.tuner.search.evolution import Evolution
from mdh.tuner.search.interfaces import Searcher, SearchSpace, Strategy, fingerprint
from mdh.tuner.search.proposals import Proposals
from mdh.tuner.search.uniform import Exhaustive, Uniform
from mdh.wording import meant

if TYPE_CHECKING:
    from mdh.tuner.search.shared import SharedStudy


@dataclass(frozen=True, slots=True)
class Sampler:
    """packages: what it imports besides mdh's own dependencies. own: over the exact space, without Optuna."""

    name: str
    packages: tuple[str, ...] = ()
    own: Callable[[SearchSpace, Random], Strategy] | None = None


SAMPLERS = (
    Sampler("evolution", own=Evolution),
    Sampler("tpe"),
    Sampler("gp", packages=("scipy", "torch")),
    Sampler("cmaes", packages=("cmaes",)),
    Sampler("nsga2"),
    Sampler("qmc", packages=("scipy",)),
    Sampler("random", own=Uniform),
    Sampler("exhaustive", own=Exhaustive),
)
AROUND = "around"
"""Not of a space: `mdh.tuner.local_search` makes it."""
DEFAULT = "evolution"
"""It is within 0.5 % of the best points after a hundred trials in our comparison (`scripts/search-compare`,
results in artifacts/tuner_search.md), needs no packages, and takes a tenth of a millisecond a suggestion."""
REPLACED = {"bayes": "evolution"}
"""Samplers of earlier versions of mdh, and what takes their place."""


def make_searcher(
    name: str, space: SearchSpace, *, seed: int, storage: str | None = None, study: str = "mdh"
) -> Searcher:
    """A searcher that proposes the same points whenever it is told the same times.

    storage None: all in memory. Else a storage URL or a journal file that tuners share: the points that the
    others propose count as proposed here, their results are learned, and `ask` and `tell` raise Failed F183
    where the storage is lost. study: its name there, see `study_name`.

    Raises Failed: F180 no such sampler, F181 it needs packages, F182 the storage cannot be opened, F184 the
    study is of another space.
    """
    sampler = _sampler(name)
    strategy: Strategy
    if sampler.own is not None:
        strategy = sampler.own(space, Random(f"{seed} {name}"))
    else:
        strategy = import_module("mdh.tuner.search.optuna_strategy").OptunaStrategy(name, space, seed)
    peers: SharedStudy | None = None
    if storage is not None:
        peers = import_module("mdh.tuner.search.shared").SharedStudy(storage, study, space)
    return Proposals(name, space, strategy, Random(f"{seed} aside"), peers)


def study_name(program: str, device: str, space: SearchSpace) -> str:
    """The study of a program on a kind of device: tuners meet where program, device and space are one."""
    return f"{program}/{device}/{fingerprint(space)}"


def _sampler(name: str) -> Sampler:
    known = {s.name: s for s in SAMPLERS}
    sampler = known.get(name)
    if sampler is None:
        names = ", ".join((*known, AROUND))
        hint = meant(name.lower(), (*known, AROUND), cutoff=0.6, always=f"samplers are {names}")
        if name in REPLACED:
            hint = f"`{name}` is gone, `{REPLACED[name]}` takes its place; samplers are {names}"
        raise fail("F180", f"there is no sampler `{name}`", help=hint)
    missing = [p for p in sampler.packages if find_spec(p) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise fail(
            "F181",
            f"the sampler `{name}` needs {' and '.join(missing)}, which {verb} not installed",
            help="pip install '.[samplers]' in mdh's folder",
        )
    return sampler
