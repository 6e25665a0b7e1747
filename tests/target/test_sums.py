"""Floats that are summed in order, several terms a turn: GCC 11 to 13.1 gets vectors of them wrong."""

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.kernel import Buf, For, Kernel, Launch, Store
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.signature import scope_of
from mdh.target.sums import IN_ORDER, sums_in_order
from mdh.target.text import KernelText
from tests.support.pairs import planned

BACKWARDS = "void f(const {t} x[64], const {t} u[64], {t} y[1])"
BACKWARDS += " {{ {t} s = 0; for (int k = 63; k >= 0; k--) s += {term}; y[0] = s; }}"
TILED = "1: (de-)comp( {n} ) ( {_} ; y:RM[1] ) ( FOR.1 )\n2: (de-)comp( 1 ) ( {_} ; ^ ) ( FOR.1 )"
TERMS = {"x[k]": 1, "x[k] * u[k]": 2, "(float)(2.0 * x[k])": 1}


def _text(term: str, ctype: str, tile: int, target: str = "c") -> KernelText:
    program = read_program(Source("f.c", BACKWARDS.format(t=ctype, term=term)))
    inputs = ", ".join("^" * TERMS[term])
    schedule = parse_schedule(Source("s.mdh", TILED.format(n=tile, _=inputs)))
    return emit(lower(planned(program, schedule, load_machine("generic-cpu"), target)), program)


@pytest.mark.parametrize("ctype", ["float", "double"])
@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("tile", [2, 4, 8])
def test_backward_sums_are_right(term: str, ctype: str, tile: int) -> None:
    try:
        device = open_device("c")
    except Failed as failed:
        pytest.skip(failed.diagnostics[0].headline)
    text = _text(term, ctype, tile)
    kind = np.float32 if ctype == "float" else np.float64
    x, u = ((np.arange(64) * n % 11).astype(kind) for n in (7, 3))
    arrays = {"x": x, "u": u, "y": np.zeros(1, kind)}
    device.build(text).call({b.name: arrays[b.name] for b in text.kernels[0].args}, {}).launch()
    want = {"x[k]": x.sum(), "x[k] * u[k]": x @ u, "(float)(2.0 * x[k])": 2 * x.sum()}[term]
    assert arrays["y"][0] == want


def test_only_such_loops_are_marked() -> None:
    assert f"{IN_ORDER};" in _text("x[k]", "float", 4).source
    assert IN_ORDER not in _text("x[k]", "float", 1).source
    assert IN_ORDER not in _text("x[k]", "int", 4).source
    assert IN_ORDER not in _text("x[k]", "float", 4, "opencl").source


def test_one_statement_may_add_several_terms() -> None:
    y, zero = Buf("y", Space.RM, F32, (1,), (1,)), Const(0, I32)
    own, x = Load("y", (zero,), F32), Load("x", (Var("i", I32),), F32)
    once, twice = Binary("+", own, x, F32), Binary("+", Binary("+", own, x, F32), x, F32)
    scope = scope_of(Kernel("k", "k", (y,), (), Launch((1, 1, 1), (1, 1, 1)), ()), {})

    def loop(value: Expr) -> For:
        return For("i", zero, Const(8, I32), Const(1, I32), (Store("y", (zero,), value),))

    assert not sums_in_order(loop(once), scope)
    assert sums_in_order(loop(twice), scope)
    assert not sums_in_order(loop(x), scope)
