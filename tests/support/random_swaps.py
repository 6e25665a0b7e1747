"""Random loops of time steps that copy back what they have computed, mostly in forms that need no copies.

Some do what forbids it: copies of other boxes, readers of elements outside of it, updates in place.
"""

from random import Random

TYPES = ("float", "float", "double", "int", "_Float16")


def random_swaps(seed: int) -> str:
    """The C of a program."""
    rng = Random(f"swaps {seed}")
    rows, columns = rng.randint(6, 14), rng.randint(6, 14)
    kind = rng.choice(TYPES)
    pairs = rng.choice((1, 1, 1, 2))
    arrays = [(f"A{k}", f"B{k}") for k in range(pairs)]
    low = [rng.randint(0, 1) if rng.random() < 0.2 else 1 for _ in range(2)]
    high = [n - (1 if rng.random() < 0.8 else 2) for n in (rows, columns)]
    box = list(zip(low, high, strict=True))
    body: list[str] = []
    if rng.random() < 0.15:
        body += _nest(box, f"S[i][j] += {rng.choice(('A0', 'B0'))}[i][j];")
    for a, b in arrays:
        update = "+=" if rng.random() < 0.06 else "="
        guard = f"if (i != {rng.randrange(rows)}) " if rng.random() < 0.08 else ""
        body += _nest(box, f"{guard}{b}[i][j] {update} {_value(rng, a, box, (rows, columns))};")
    if rng.random() < 0.3:
        shift = rng.choice(("", "", " - 1"))
        body += _nest(
            box, f"S[i][j] += {rng.choice(('A0', 'B0'))}[i][j{shift}];" if low[1] or not shift else ""
        )
    for a, b in arrays:
        other = [list(side) for side in box]
        if rng.random() < 0.15:
            other[rng.randrange(2)][rng.randrange(2)] += rng.choice((-1, 1))
        other = [[max(0, x), min(y, n)] for (x, y), n in zip(other, (rows, columns), strict=True)]
        value = f"{b}[i][j]" if rng.random() < 0.93 else f"2 * {b}[i][j]"
        body += _nest(other, f"{a}[i][j] = {value};")
    if rng.random() < 0.1:
        body += _nest(box, "S[i][j] += A0[i][j];")
    lines = [f"  {line}" for line in body]
    lines = [f"for (int t = 0; t < {rng.choice((1, 2, 3, 4, 5, 6, 7, 8))}; t++) {{", *lines, "}"]
    if rng.random() < 0.2:
        lines = [
            "for (int s = 0; s < 2; s++) {",
            *(f"  {x}" for x in lines),
            *_nest(box, "  S[i][j] += A0[i][j];"),
            "}",
        ]
    own = [b for _, b in arrays if rng.random() < 0.4]
    shape = f"[{rows}][{columns}]"
    given = [name for pair in arrays for name in pair if name not in own]
    total = "float" if kind == "_Float16" else kind
    params = ", ".join([*(f"{kind} {name}{shape}" for name in given), f"{total} S{shape}"])
    temps = [f"{kind} {name}{shape};" for name in own]
    # elements of the function's own arrays are defined before they are read
    temps += [x for name in own for x in _nest([(0, rows), (0, columns)], f"{name}[i][j] = i - j;")]
    text = "".join(f"  {line}\n" for line in (*temps, *lines))
    return f"void swaps({params}) {{\n{text}}}\n"


def _nest(box: list[tuple[int, int]] | list[list[int]], statement: str) -> list[str]:
    if not statement:
        return []
    (a, b), (c, d) = box
    head = f"for (int i = {a}; i < {b}; i++)", f"  for (int j = {c}; j < {d}; j++)"
    return [*head, f"    {statement}"]


def _value(rng: Random, a: str, box: list[tuple[int, int]], shape: tuple[int, int]) -> str:
    """A stencil over array a that stays inside of it."""
    terms = []
    for _ in range(rng.randint(1, 3)):
        at = []
        for name, (low, high), n in zip("ij", box, shape, strict=True):
            move = rng.choice([m for m in (-1, 0, 0, 1) if low + m >= 0 and high + m <= n])
            at.append(f"{name} + {move}" if move > 0 else f"{name} - 1" if move else name)
        terms.append(f"{a}[{at[0]}][{at[1]}]")
    return f"({' - '.join(terms)}) / 2" if rng.random() < 0.5 else " - ".join(terms)
