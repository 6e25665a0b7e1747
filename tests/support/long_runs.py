"""How much of a long list of cases a test takes: all in `scripts/long-tests`, a part in every other run."""

import os

LONG = bool(os.environ.get("MDH_LONG_TESTS"))


def turn(*numbers: int, of: int) -> bool:
    """Whether it is the turn of the case with these numbers, which count along the axes of a table of cases.
    Every row and every column has its turn in one of `of` places."""
    return LONG or sum(numbers) % of == 0
