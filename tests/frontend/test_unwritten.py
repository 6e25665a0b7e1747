"""Elements of local arrays that are read before anything is stored in them (C115), beside an enumeration."""

import random
from collections.abc import Iterator
from itertools import product

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.source import Source

ROWS, COLUMNS = 6, 5
Access = tuple[int, int, int, int, int, int]
"""Rows and columns of a nest, the row and column of the array where it begins, the least i - j of a point
that touches the array, and the step of the rows."""


def _points(a: Access) -> Iterator[tuple[int, int]]:
    rows, columns, row, column, least, step = a
    for i, j in product(range(rows), range(columns)):
        if i - j >= least:
            yield step * i + row, j + column


def _drawn(rng: random.Random) -> Access:
    step = rng.choice((1, 1, 2))
    rows = rng.randint(1, (ROWS - 1) // step + 1)
    columns = rng.randint(1, COLUMNS)
    row, column = rng.randint(0, ROWS - 1 - step * (rows - 1)), rng.randint(0, COLUMNS - columns)
    return rows, columns, row, column, rng.choice((-9, -9, -9, 0, 1)), step


def _nest(a: Access, statement: str) -> str:
    rows, columns, row, column, least, step = a
    guard = f"if (i - j >= {least}) " if least > -9 else ""
    body = statement.replace("$", f"[{step} * i + {row}][j + {column}]")
    return (
        f"  for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++)\n      {guard}{body}\n"
    )


@pytest.mark.parametrize("seed", range(60))
def test_read_elements_are_written(seed: int) -> None:
    rng = random.Random(seed)
    writes = [_drawn(rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        writes.append((ROWS, COLUMNS, 0, 0, -9, 1))
    reads = _drawn(rng)
    nests = [_nest(w, f"t$ = x$ + {k};") for k, w in enumerate(writes)] + [_nest(reads, "y$ = t$;")]
    shape = f"[{ROWS}][{COLUMNS}]"
    head = f"void f(const float x{shape}, float y{shape}) {{\n  float t{shape};\n"
    stored = {p for w in writes for p in _points(w)}
    missing = [p for p in _points(reads) if p not in stored]
    text = head + "".join(nests) + "}\n"
    try:
        read_program(Source("f.c", text))
        found = None
    except Failed as failed:
        found = failed.diagnostics[0]
    if missing:
        assert found is not None and found.code == "C115", text
        assert dict(found.witness)["element"] in {f"t[{i}][{j}]" for i, j in missing}, text
    else:
        assert found is None or found.code != "C115", text
