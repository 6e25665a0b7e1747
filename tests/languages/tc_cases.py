"""Random programs in Tensor Comprehensions with their inputs, and what they compute."""

from dataclasses import dataclass, replace
from random import Random

from tests.languages.kinds import Array, DoubtfulError, RefusedError
from tests.languages.running import Written
from tests.languages.tc_random import Maker
from tests.languages.tc_ranges import fixed_names
from tests.languages.tc_run import results_of
from tests.languages.tc_syntax import Define, Func, accesses, names, text_of
from tests.languages.tc_values import Tensor


@dataclass(frozen=True)
class Case:
    """inputs: arrays in order; free: values of scalars that are no sizes, in order; before: what the
    results hold first."""

    written: Written
    inputs: list[Array]
    free: list[float]
    before: list[Array]
    results: list[Tensor]


def case(seed: str) -> Case:
    """A right program."""
    rng = Random(seed)
    while True:
        made = Maker(rng)
        made.header()
        for _ in range(rng.randrange(1, 6)):
            made.add()
        targets = made.targets()
        if not targets:
            continue
        chosen = [t for t in targets if t in made.kept or t == targets[-1] or rng.random() < 0.4]
        rng.shuffle(chosen)
        f = made.function(tuple(chosen))
        try:
            before, results = results_of(
                f, made.helpers, made.values, made.scalars, made.inputs, rng.randrange(2**32)
            )
        except (RefusedError, DoubtfulError):
            continue
        return _case(f, made, rng, before, results)


def _case(f: Func, made: Maker, rng: Random, before: list[Array], results: list[Tensor]) -> Case:
    sizes = _sizes(f)
    values = {**made.values, **made.scalars}
    free = [values[p.name] for p in f.params if not p.extents and p.name not in sizes]
    inputs = [made.inputs[p.name] for p in f.params if p.extents]
    return Case(_written(f, made, rng), inputs, free, before, results)


def _written(f: Func, made: Maker, rng: Random) -> Written:
    functions, sizes = [*made.helpers.values(), f], _sizes(f)
    rng.shuffle(functions)
    values = {n: v for n, v in made.values.items() if n in sizes}
    return Written("x.tc", text_of(tuple(functions), rng), values, f.name if len(functions) > 1 else None)


def _sizes(f: Func) -> set[str]:
    """Names of extents, and integers that subscripts and ranges use."""
    out = {n for p in f.params for n in p.extents if isinstance(n, str)}
    used = list[str]()
    for d in f.body:
        if isinstance(d, Define):
            used += [n for a in accesses(d.value) for e in a.subscripts for n in names(e)]
            used += [n for _, first, end in d.where for e in (first, end) for n in names(e)]
    return out | {n for n in used if n in fixed_names(f)}


def refused(seed: str) -> tuple[Written, tuple[str, ...]]:
    """A program of which one statement is wrong, and the codes of what is wrong about it."""
    rng = Random(seed)
    while True:
        made = Maker(rng)
        made.header()
        for _ in range(rng.randrange(0, 3)):
            made.add()
        target = rng.choice([*made.targets(), made.name_of_tensor()])
        rank = len(made.plan().shapes.get(target, "??")) if made.body else 2
        op = rng.choice(("", "+", "max"))
        d = made.definition(target, rank, op=op, fresh=True)
        if rng.random() < 0.7:
            d = replace(d, where=tuple(w for w in d.where if rng.random() < 0.5))
        made.body.append(d)
        f = made.function()
        try:
            results_of(f, made.helpers, made.values, made.scalars, made.inputs, 0)
        except RefusedError as e:
            return _written(f, made, rng), e.codes
        except DoubtfulError:
            continue
