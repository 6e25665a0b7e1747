"""The pass that leaves out what says nothing."""

from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var
from mdh.ir.kernel import Alloc, Buf, For, If, Launch, Let, Stmt, Store
from mdh.lower.passes.simplify import fold, simplify

LAUNCH = Launch((56, 1, 1), (32, 1, 1))
BLOCK = Call("block_id", (Const(0, I32),), I32)


def n(value: int) -> Const:
    return Const(value, I32)


def plus(a: Expr, b: Expr, op: str = "+") -> Expr:
    return Binary(op, a, b, I32)


def put(index: Expr, value: float = 1.0) -> Store:
    return Store("M", (index,), Const(value, F32))


def loop(var: str, start: Expr, stop: int, *body: Stmt, step: int = 1) -> For:
    return For(var, start, n(stop), n(step), body)


def test_arithmetic() -> None:
    x = Var("x")
    assert fold(plus(plus(x, n(0)), n(0), "-")) == x
    assert fold(plus(n(8), n(0))) == n(8)
    assert fold(plus(plus(n(2), n(3), "%"), plus(x, n(1), "/"))) == plus(n(2), x)
    big = plus(n(2**30), n(2), "*")
    assert fold(big) == big


def test_numbers_made_of_their_digits() -> None:
    x, y = plus(Var("tid"), n(4), "*"), Var("y")

    def digits(e: Expr, k: int, of: Expr) -> Expr:
        return plus(plus(plus(e, n(k), "/"), n(k), "*"), plus(of, n(k), "%"))

    assert fold(digits(x, 17, x)) == x
    assert fold(
        plus(plus(plus(y, plus(plus(x, n(17), "/"), n(17), "*")), n(0)), plus(x, n(17), "%"))
    ) == plus(y, x)
    assert fold(plus(plus(plus(x, n(60), "/"), n(60), "*"), digits(plus(x, n(60), "%"), 15, x))) == x
    for other in (
        digits(x, 17, y),
        digits(plus(x, n(16), "%"), 17, x),
        plus(plus(x, n(17), "/"), plus(x, n(17), "%")),
    ):
        assert fold(other) == other


def test_constants_are_put_in() -> None:
    body = (Let("c", n(0)), put(plus(Var("c"), Var("x"))))
    assert simplify(body, LAUNCH) == (put(Var("x")),)


def test_loops_of_one_turn() -> None:
    assert simplify((loop("r", n(3), 4, put(Var("r"))),), LAUNCH) == (put(n(3)),)
    assert simplify((loop("r", n(3), 3, put(Var("r"))),), LAUNCH) == (loop("r", n(3), 3, put(Var("r"))),)
    once = simplify((loop("tile", BLOCK, 56, put(Var("tile")), step=56),), LAUNCH)
    assert once == (Let("tile", BLOCK), put(Var("tile")))
    twice = (loop("tile", BLOCK, 57, put(Var("tile")), step=56),)
    assert simplify(twice, LAUNCH) == twice


def test_namesakes_stay_apart() -> None:
    row = Alloc(Buf("row", Space.RM, F32, (4,), (1,)))
    body = (loop("r", n(0), 1, row, put(Var("r"))), loop("r", n(1), 2, row, put(Var("r"))))
    first, second = simplify(body, LAUNCH)
    assert first == If(n(1), (row, put(n(0)))) and second == If(n(1), (row, put(n(1))))


def test_equal_branches() -> None:
    at = Load("M", (Var("i"),), F32)
    add = Store("M", (Var("i"),), Binary("+", at, Var("x", F32), F32))
    cond = Binary("==", Var("k"), n(0), I32)
    assert simplify((If(cond, (add,), (add,)),), LAUNCH) == (add,)
    assert simplify((If(cond, (add,)),), LAUNCH) == (If(cond, (add,)),)
