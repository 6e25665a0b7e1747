"""Loop headers and subscripts by C's integer rules."""

import pytest

from mdh.ir.syntax import Assignment, ForStatement
from mdh.reference.c.types import I8, INT, LONG, UINT, ULLONG, Type
from mdh.reference.slicing.forms import AffineForm, form_of, literal
from mdh.reference.slicing.headers import trips
from tests.slicing.sliced import syntax_of


def _values(header: str) -> range | None:
    function = syntax_of(f"#include <stdint.h>\nvoid f(float x[9]) {{ for ({header}) x[0] = 1; }}")
    loop = function.body.body[0]
    assert isinstance(loop, ForStatement)
    found = trips(loop, None, lambda name: None, ())
    assert found is None or found.exact
    return found and found.values


@pytest.mark.parametrize(("header", "values"), [
    ("int i = 0; i < 5; i++", range(5)),
    ("int i = 1; i <= 5; i += 2", range(1, 6, 2)),
    ("int i = 5; i >= 0; i--", range(5, -1, -1)),
    ("int i = 5; 0 < i; i = i - 2", range(5, 0, -2)),
    ("int i = 0; i != 6; i = 3 + i", range(0, 6, 3)),
    ("int i = 5; i < 5; i++", range(0)),
    ("int i = 5; i < 5; i--", range(0)),
    ("int i = 7; i < 5; i--", range(0)),
    ("int i = 0; i < (1 << 4) - 3 * 2; i++", range(10)),
    ("unsigned i = 3; i < 5; i++", range(3, 5)),
    ("unsigned char i = 0; i < 255; i++", range(255)),
    # -2 is 4294967294 where it is compared with an unsigned value
    ("int i = -2; i < 5u; i++", None),
    ("int i = 0; i < -1 + 5u; i++", range(4)),
    # endless, or for ever near it
    ("unsigned i = 5; i >= 0; i--", None),
    ("unsigned char i = 0; i < 256; i++", None),
    ("int i = 0; i != 5; i += 2", None),
    ("int i = 0; i < 5; i--", None),
    ("int i = 0; i < 2147483647; i += 2", None),
    ("float i = 0; i < 5; i++", None),
    ("int i = 0; i < n; i++", None),
    ("int i = 0; i < 5; i *= 2", None),
])  # fmt: skip
def test_values(header: str, values: range | None) -> None:
    assert _values(header) == values


@pytest.mark.parametrize(("text", "kind"), [
    ("7", INT), ("0x7fffffff", INT), ("0x80000000", UINT), ("2147483648", LONG), ("7u", UINT),
    ("7l", LONG), ("7ull", ULLONG), ("017", INT),
])  # fmt: skip
def test_literals(text: str, kind: Type) -> None:
    found = literal(text)
    assert found is not None and found.type == kind


@pytest.mark.parametrize(("text", "form"), [
    ("2 * i + j - 3", AffineForm(-3, (2, 1))),
    ("(i + 1) * 4 - i", AffineForm(4, (3, 0))),
    ("-i + 10", AffineForm(10, (-1, 0))),
    ("(int8_t)(i + 100)", AffineForm(100, (1, 0), I8)),
    ("(int8_t)(i + 120)", None),
    ("i * j", None),
    ("i / 2", None),
    ("7 / 2 * i", AffineForm(0, (3, 0))),
    # wraps below 0 for i = 0
    ("i - 1u", None),
    ("i + 1u", AffineForm(1, (1, 0), UINT)),
    ("~i", AffineForm(-1, (-1, 0))),
    ("-7 % 4", AffineForm(-3)),
    ("1u - 2u", AffineForm(4294967295, (), UINT)),
])  # fmt: skip
def test_forms(text: str, form: AffineForm | None) -> None:
    function = syntax_of(f"#include <stdint.h>\nvoid f(float x[9], int i, int j) {{ x[0] = {text}; }}")
    statement = function.body.body[0]
    assert isinstance(statement, Assignment)
    names = {"i": AffineForm(0, (1,)), "j": AffineForm(0, (0, 1))}
    found = form_of(statement.value, names.get, (range(10), range(20)))
    assert (found and (found.constant, found.at(0), found.at(1), found.type)) == (
        form and (form.constant, form.at(0), form.at(1), form.type)
    )


@pytest.mark.parametrize(("header", "values"), [
    ("int j = 0; j <= i; j++", range(10)),
    ("int j = i; j < 10; j++", range(10)),
    ("int j = 0; j < 2 * i; j += 3", range(0, 18, 3)),
    ("int j = i; j < i + 5; j += 2", range(14)),
    ("int j = 9; j > i; j--", range(9, 0, -1)),
    ("int j = i; j >= 0; j--", range(9, -1, -1)),
    # in unsigned numbers i - 1 wraps
    ("unsigned j = 0; j < i - 1u; j++", None),
    ("int j = 0; j < i; j--", None),
    ("int j = 0; j != i; j++", None),
    ("int8_t j = 0; j < 100 * i; j++", None),
])  # fmt: skip
def test_values_that_depend_on_an_outer_loop(header: str, values: range | None) -> None:
    """All that the variable ever has while i runs from 0 to 9."""
    function = syntax_of(f"#include <stdint.h>\nvoid f(float x[99], int i) {{ for ({header}) x[0] = 1; }}")
    loop = function.body.body[0]
    assert isinstance(loop, ForStatement)
    found = trips(loop, None, {"i": AffineForm(0, (1,))}.get, (range(10),))
    assert (found and found.values) == values
    assert found is None or not found.exact
