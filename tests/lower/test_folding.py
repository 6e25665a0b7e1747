"""Values by turn are what substituting and folding gives, object by object."""

from random import Random

import pytest

from mdh.hardware import Space
from mdh.ir.dtype import F32, I32, I64, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, substitute
from mdh.ir.kernel import Buf
from mdh.lower.passes.folding import Folding

TABLES = {
    "C": Buf("C", Space.DM, F32, (4, 6), (6, 1), values=tuple(float(n % 3) for n in range(24))),
    "J": Buf("J", Space.DM, I32, (6,), (1,), values=(0, 1, 0, 5, 2, 3)),
}


def _index(rng: Random, depth: int, most: int) -> Expr:
    """Below `most`, where the variables are below 3."""
    if depth and most > 4 and rng.random() < 0.4:
        return Binary("+", _index(rng, depth - 1, most // 2), _index(rng, depth - 1, most // 2), I32)
    if depth and most >= 6 and rng.random() < 0.3:
        return Load("J", (_index(rng, depth - 1, 6),), I32)
    return rng.choice((Const(rng.randrange(min(most, 3)), I32), Var("i"), Var("n")))


def _value(rng: Random, t: DType, depth: int) -> Expr:
    if not depth:
        number = rng.choice((0, 0, 1, 2, -1))
        known = Const(float(number) if t.is_float else number, t)
        named = Cast(Var("i"), t) if t != I32 else Var("i")
        return rng.choice((known, named, Load("A", (Var("n"),), t), Load("A", (Var("i"),), t, lanes=4)))
    a, b = _value(rng, t, depth - 1), _value(rng, t, depth - 1)
    match rng.randrange(9):
        case 0:
            return Unary("-", a, t)
        case 1:
            return Select(_index(rng, 1, 2), a, b, t)
        case 2:
            return Call("fmax" if t.is_float else "max", (a, b), t)
        case 3 if t == F32:
            return Load("C", (_index(rng, 2, 4), _index(rng, 2, 6)), F32)
        case 4:
            other = rng.choice([x for x in (F32, I32, I64) if x != t])
            return Cast(_value(rng, other, depth - 1), t)
        case _:
            return Binary(rng.choice("**++-"), a, b, t)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", range(200))
def test_by_turn(seed: int, strict: bool) -> None:
    rng = Random(f"folding {seed}")
    e = _value(rng, rng.choice((F32, I32, I64)), rng.randint(1, 5))
    one, other = Folding(TABLES, strict), Folding(TABLES, strict)
    by_turn = one.by_turn(e, "i")
    for n in range(3):
        value = Const(n, I32)
        assert by_turn(value) == other.folded(substitute(e, {"i": value}))
