"""Random einsums whose letters stand in any order: products of two tensors, sums across arrays of different
orders, transposes. Sizes leave remainders of vectors and tiles."""

from random import Random

SIZES = (1, 2, 3, 5, 8, 9, 16, 17, 24, 31, 33, 40)
MOST = 1 << 18
"""Points, so that they take little time."""


def random_sum(rng: Random) -> tuple[str, dict[str, int]]:
    """The text and the sizes of its letters."""
    while True:
        text = rng.choice((_product, _product, _across, _transpose))(rng)
        sizes = {x: rng.choice(SIZES) for x in sorted(set(text) - set(",->"))}
        points = 1
        for size in sizes.values():
            points *= size
        if points <= MOST:
            return text, sizes


def _mixed(rng: Random, *letters: str) -> str:
    together = [x for one in letters for x in one]
    rng.shuffle(together)
    return "".join(together)


def _product(rng: Random) -> str:
    rows, columns, summed = (
        "abc"[: rng.choice((1, 1, 2))],
        "def"[: rng.choice((1, 1, 2))],
        "gh"[: rng.choice((1, 2))],
    )
    batch = "i" if rng.random() < 0.25 else ""
    order = _mixed if rng.random() < 0.5 else lambda _, *letters: "".join(letters)
    left, right, out = (
        order(rng, batch, rows, summed),
        order(rng, batch, summed, columns),
        order(rng, batch, rows, columns),
    )
    return f"{left},{right}->{rng.choice((out, out[::-1]))}"


def _across(rng: Random) -> str:
    letters = "abc"[: rng.choice((2, 3))]
    kept = "".join(rng.sample(letters, rng.choice((0, 1))))
    return f"{letters},{_mixed(rng, letters)[: rng.choice((1, 2, 3))]}->{kept}"


def _transpose(rng: Random) -> str:
    letters = "abc"[: rng.choice((2, 3))]
    return f"{letters}->{_mixed(rng, letters)}"
