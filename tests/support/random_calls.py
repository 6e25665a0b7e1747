"""Random sums of products for libraries: any order of indices, gaps, batches, sizes of 1, alpha and beta.

The C text is judged by its own interpreter, so the recogniser of products has no part in what is expected.
A longer run: `python -m tests.support.random_calls --count 1000 --seed 7`.
"""

import argparse
import sys
from dataclasses import dataclass
from random import Random

import numpy as np

from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.reference.interpreter import interpret_bounded
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.arguments import guarded, make_arrays
from mdh.verify.verdict import judge

_SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17)
NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0)
"""Values of parameters that multiply."""


@dataclass(frozen=True)
class RandomCall:
    """A program of one product. plain: arrays without gaps in the usual order of a product, so that a call
    must fit. after: another stage reads the result."""

    text: str
    plain: bool
    after: bool

    @property
    def schedule(self) -> str:
        return "stage C = library(openblas)\n"


def random_call(seed: int) -> RandomCall:
    rng = Random(f"call {seed}")
    real = rng.choice(("float", "double"))
    plain = rng.random() < 0.4
    groups = {
        "b": [] if rng.random() < 0.6 else ["b", "d"][: rng.randint(1, 2)],
        "i": ["i", "u"][: rng.choice((0, 1, 1, 1, 2))],
        "j": ["j", "v"][: rng.choice((0, 1, 1, 1, 2))],
        "k": ["k", "w"][: rng.choice((1, 1, 1, 2))],
    }
    sizes = {n: rng.choice(_SIZES) for names in groups.values() for n in names}
    arrays = {"A": "bik", "B": "bkj", "C": "bij"}
    params, places = [], {}
    for name, letters in arrays.items():
        order = [n for letter in letters for n in groups[letter]]
        if plain and rng.random() < 0.5 and name != "C":
            order = [n for letter in (letters[0], letters[2], letters[1]) for n in groups[letter]]
        if not plain:
            rng.shuffle(order)
        extents, subscripts = [], []
        for n in order:
            step = 1 if plain or rng.random() < 0.85 else 2
            shift = 0 if plain or rng.random() < 0.8 else rng.randint(1, 2)
            more = 0 if plain or rng.random() < 0.8 else rng.randint(1, 3)
            extents.append((sizes[n] - 1) * step + 1 + shift + more)
            subscripts.append(f"{step} * {n} + {shift}" if step > 1 or shift else n)
        shape = "".join(f"[{e}]" for e in extents) or "[1]"
        places[name] = name + ("".join(f"[{s}]" for s in subscripts) or "[0]")
        params.append(f"{'const ' if name != 'C' else ''}{real} {name}{shape}")
    body, numbers = _body(rng, places, real)
    after = rng.random() < 0.3
    loops = [n for letter in "bij" for n in groups[letter]]
    rng.shuffle(loops)
    head = " ".join(f"for (int {n} = 0; {n} < {sizes[n]}; {n}++)" for n in loops)
    inner = " ".join(f"for (int {n} = 0; {n} < {sizes[n]}; {n}++)" for n in groups["k"])
    text = f"{head} {{ {body.replace('SUM', inner)} }}"
    if after:
        params.append(f"{real} D{'[1]' if not loops else ''.join(f'[{sizes[n]}]' for n in loops)}")
        place = "D" + ("".join(f"[{n}]" for n in loops) or "[0]")
        text += f" {head} {place} = fabs({places['C']}) + 1;"
    params += [f"{real} {name}" for name in numbers]
    include = "#include <math.h>\n"
    return RandomCall(f"{include}void f({', '.join(params)}) {{ {text} }}\n", plain, after)


def _body(rng: Random, places: dict[str, str], real: str) -> tuple[str, list[str]]:
    """The statements inside of the loops over results, and the parameters that multiply."""
    a, b, c = (places[name] for name in "ABC")
    product = rng.choice((f"{a} * {b}", f"{b} * {a}"))
    suffix = "f" if real == "float" else ""
    alpha = rng.choice(("", "", "alpha", f"1.5{suffix}", f"alpha * 0.5{suffix}"))
    beta = rng.choice(("", "beta", f"2.0{suffix}"))
    numbers = [n for n, word in (("alpha", alpha), ("beta", beta)) if n in word]
    term = f"{alpha} * {product}" if alpha else product
    scaled = f"{alpha} * s" if alpha else "s"
    kept = f"{beta} * {c}" if beta else c
    match rng.randrange(5):
        case 0:
            return f"SUM {c} += {term};", [n for n in numbers if n != "beta"]
        case 1:
            return f"{c} = 0; SUM {c} += {term};", [n for n in numbers if n != "beta"]
        case 2:
            return f"{c} *= {beta or '2'}; SUM {c} += {term};", numbers
        case 3:
            return f"{real} s = 0; SUM s += {product}; {c} = {scaled} + {kept};", numbers
        case _:
            return f"{real} s = 0; SUM s += {product}; {c} = {scaled};", [n for n in numbers if n != "beta"]


def outcome(random: RandomCall, device: Device, seed: int) -> str:
    """`called`; or the code with which the call was refused. Raises AssertionError for a wrong result."""
    program = read_program(Source("f.c", random.text))
    schedule = parse_schedule(Source("f.mdh", random.schedule))
    machine = device.machine
    try:
        default = default_for(program, machine, "c", given=schedule)
        plan = check(program, schedule, machine, "c", default=default)
    except Failed as failed:
        return failed.diagnostics[0].code
    module = lower(plan)
    built = device.build(emit(module, program))
    rng = Random(f"numbers {seed}")
    for kind in ("exact", "random"):
        scalars = {s.name: rng.choice(NUMBERS) for s in program.scalars}
        before = make_arrays(program, scalars, seed, "exact" if kind == "exact" else "random")
        held = {n: guarded(a) for n, a in before.items()}
        built.call({n: g.array for n, g in held.items()}, scalars).launch()
        found = judge(program, before, held, wanted(program, before, scalars))
        assert not found, f"seed {seed}, {scalars}: {[d.headline for d in found]}\n{random.text}"
    return "called"


def wanted(program: Program, before: dict, scalars: dict) -> dict:
    """What the C text computes."""
    assert program.syntax is not None
    with np.errstate(all="ignore"):
        return interpret_bounded(program.syntax, before, scalars)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    device, counts = open_device("c"), dict[str, int]()
    for seed in range(given.seed, given.seed + given.count):
        random = random_call(seed)
        found = outcome(random, device, seed)
        counts[found] = counts.get(found, 0) + 1
        if random.plain and found != "called":
            sys.stdout.write(f"seed {seed}: {found}\n{random.text}\n")
    sys.stdout.write(f"{counts}\n")


if __name__ == "__main__":
    main()
