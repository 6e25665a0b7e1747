"""The atoms' tables: each element of a matrix lies with exactly one lane."""

from functools import cache
from itertools import product

import pytest

from mdh.ir.atoms import ATOMS, GROUP_LANES, LANES, Atom, Fragment, atoms_of
from mdh.ir.dtype import BF16, F64, I8


@cache
def _covered_once(fragment: Fragment, lanes: int, shape: tuple[int, int]) -> bool:
    """Atoms of several types have the same fragments."""
    places = [fragment.at(lane, v) for lane, v in product(range(lanes), range(fragment.count))]
    return sorted(places) == list(product(range(shape[0]), range(shape[1])))


@pytest.mark.parametrize("atom", ATOMS, ids=lambda a: a.name)
def test_fragments_cover_their_matrices_once(atom: Atom) -> None:
    factors = ((atom.a, (atom.m, atom.k)), (atom.b, (atom.k, atom.n)))
    lanes = GROUP_LANES if atom.grouped else LANES
    known = factors[:1] if atom.grouped else factors
    for fragment, shape in (*known, (atom.c, (atom.m, atom.n))):
        assert _covered_once(fragment, lanes, shape)


@pytest.mark.parametrize("atom", [a for a in ATOMS if not a.grouped], ids=lambda a: a.name)
def test_what_shares_a_register_lies_side_by_side_along_k(atom: Atom) -> None:
    for lane, v in product(range(LANES), range(0, atom.a.count, atom.packed)):
        row, first = atom.a.at(lane, v)
        assert [atom.a.at(lane, v + i) for i in range(atom.packed)] == [
            (row, first + i) for i in range(atom.packed)
        ]


def _named(m: int, n: int, k: int, kind: object) -> Atom:
    return next(a for a in ATOMS if a.shape == (m, n, k) and a.left == kind)


def _elements(fragment: Fragment, lane: int) -> list[tuple[int, int]]:
    return [fragment.at(lane, v) for v in range(fragment.count)]


def test_places_that_the_ptx_manual_states() -> None:
    """Lane 5 is thread 1 of group 1."""
    half = _named(16, 8, 16, BF16)
    assert _elements(half.a, 5) == [(1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11)]
    assert _elements(half.b, 5) == [(2, 1), (3, 1), (10, 1), (11, 1)]
    assert _elements(half.c, 5) == [(1, 2), (1, 3), (9, 2), (9, 3)]
    byte = _named(16, 8, 32, I8)
    rows = [(row, k) for first in (0, 16) for row in (1, 9) for k in range(first + 4, first + 8)]
    assert _elements(byte.a, 5) == rows
    assert _elements(byte.b, 5) == [(k, 1) for first in (0, 16) for k in range(first + 4, first + 8)]
    double = _named(16, 8, 8, F64)
    assert _elements(double.a, 5) == [(1, 1), (9, 1), (1, 5), (9, 5)]
    assert _elements(double.b, 5) == [(1, 1), (5, 1)]
    group = _named(64, 16, 16, BF16)
    # lane 38 is thread 2 of group 1 of the second warp, which has the rows from 16 on
    rows = [(17, 4), (17, 5), (25, 4), (25, 5)]
    assert _elements(group.c, 38) == [*rows, *((row, column + 8) for row, column in rows)]
    small = _named(8, 8, 4, F64)
    assert (_elements(small.a, 5), _elements(small.b, 5)) == ([(1, 1)], [(1, 1)])
    assert _elements(small.c, 5) == [(1, 2), (1, 3)]


def test_atoms_come_with_compute_capability() -> None:
    assert atoms_of(None) == atoms_of(70) == ()
    assert [any(a.grouped for a in atoms_of(n)) for n in (80, 90, 100)] == [False, True, False]
    assert {a.shape for a in atoms_of(80) if a.left == F64} == {(8, 8, 4)}
    doubles = {a.shape for a in atoms_of(90) if a.left == F64}
    assert doubles == {(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)}
