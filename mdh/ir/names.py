"""Fresh names."""

from collections.abc import Collection


def unused(stem: str, taken: Collection[str]) -> str:
    """`stem`, or `stem_2`, `stem_3`… if that is taken."""
    name, n = stem, 2
    while name in taken:
        name, n = f"{stem}_{n}", n + 1
    return name


def fresh(stem: str, taken: set[str]) -> str:
    """An unused name, which is taken from now on."""
    name = unused(stem, taken)
    taken.add(name)
    return name
