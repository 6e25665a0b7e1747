"""Random einsums, with operands, and their results by numpy.einsum."""

from dataclasses import dataclass
from random import Random
from string import ascii_letters

import numpy as np

from tests.languages.kinds import F64, NAMES, Array, is_float, rounding
from tests.languages.running import Written

KINDS = (
    "float",
    "float",
    "double",
    "half",
    "int",
    "int64",
    "byte",
    "int8",
    "uint32",
    "bfloat16",
    "float16",
    "int16",
)


@dataclass
class Case:
    """error: how much an element may differ."""

    written: Written
    inputs: list[Array]
    result: Array
    error: float


def case(seed: str) -> Case:
    rng = Random(seed)
    letters = rng.sample(
        rng.choice((ascii_letters, "ijkIJK", "abcdef", "aAbBcC", "intforu")), rng.choice((2, 3, 4, 5))
    )
    operands = [
        "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))
        for _ in range(rng.choice((1, 1, 2, 2, 2, 3, 3, 4)))
    ]
    used = sorted(set("".join(operands)))
    sizes = {n: rng.choice((1, 2, 2, 3, 3, 4)) for n in used}
    result = "".join(rng.sample(used, rng.randrange(len(used) + 1)))
    implicit = rng.random() < 0.25 and operands != [""]
    subscripts = ",".join(operands) + ("" if implicit else f"->{result}")
    kind = rng.choice(("", *KINDS))
    t = NAMES[kind or "float"]
    drawn = np.random.default_rng(rng.randrange(2**32))
    inputs = [
        np.asarray(drawn.integers(0 if t.kind == "u" else -2, 3, [sizes[n] for n in one])).astype(t)
        for one in operands
    ]
    wide = [a.astype(F64 if is_float(t) else np.int64) for a in inputs]
    exact = np.atleast_1d(np.einsum(subscripts, *wide))
    # a product of pairs may be larger than what comes of it
    most = float(np.einsum(f"{','.join(operands)}->", *(np.abs(a) for a in wide)))
    scale = float(np.prod([max(1.0, np.abs(a).max()) for a in wide])) * float(np.prod(list(sizes.values())))
    inexact = is_float(t) and scale >= 1 / rounding(t)
    error = 16 * len(used) * rounding(t) * max(most, scale) if inexact else 0.0
    text = (
        _spaced(subscripts, rng)
        + (f"{rng.choice((':', ' : '))}{kind}" if kind else "")
        + rng.choice(("", "\n"))
    )
    # an operand without letters is an array of one element
    given = [np.atleast_1d(a) for a in inputs]
    return Case(Written("x.einsum", text, sizes), given, exact.astype(t), error)


def _spaced(text: str, rng: Random) -> str:
    if rng.random() < 0.5:
        return text
    return "".join(c + rng.choice(("", "", " ")) for c in text.replace("->", ">")).replace(">", "->")
