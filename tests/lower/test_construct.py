"""Mixed-radix numbers and their digits, and loops over boxes, as the lowering writes them."""

from itertools import product

from mdh.ir.construct import ZERO, conjunction, digit, less, loops, num, number, when
from mdh.ir.expr import Const, Var
from mdh.ir.kernel import For, If, Store
from mdh.lower.passes.simplify import fold

PARTS = (2, 3, 4)
STORE = Store("y", (Var("i"), Var("j")), ZERO)


def test_digits_are_those_that_the_number_is_made_of() -> None:
    for n, digits in enumerate(product(*map(range, PARTS))):
        made = number((num(d), parts) for d, parts in zip(digits, PARTS, strict=True))
        assert fold(made) == num(n)
        radix, found = 1, list[object]()
        for parts in reversed(PARTS):
            found.insert(0, fold(digit(num(n), radix, parts, 24)))
            radix *= parts
        assert found == [num(d) for d in digits]


def test_the_slowest_digit_needs_no_remainder() -> None:
    assert digit(Var("t"), 1, 24, 24) == Var("t")
    assert number([]) == ZERO


def test_loops_stand_in_the_order_of_their_names() -> None:
    (outer,) = loops(("i", "j"), (2, 3), [STORE])
    assert isinstance(outer, For) and (outer.var, outer.stop) == ("i", num(2))
    (inner,) = outer.body
    assert isinstance(inner, For) and (inner.var, inner.stop, inner.body) == ("j", num(3), (STORE,))


def test_a_guard_that_always_holds_is_none() -> None:
    assert when(conjunction([None, None]), [STORE]) == [STORE]
    guard = less(Var("i"), Const(5, ZERO.dtype))
    assert when(conjunction([None, guard]), [STORE]) == [If(guard, (STORE,))]
