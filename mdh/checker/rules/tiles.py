"""K104: a tile is positive and not larger than the tile it splits."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at, step_name
from mdh.diagnostics import Diagnostic

CODE = "K104"


def check_tiles(draft: Draft) -> Iterator[Diagnostic]:
    """For each dim d, steps s in text order: 1 <= tile(s, d) <= tile(s - 1, d), tile(0, d) = extent(d)."""
    parents = list(draft.extents)
    whose = ["the extent of the loop"] * len(parents)
    for n, step in enumerate(draft.steps, start=1):
        for d, tile in enumerate(step.tiles):
            if not isinstance(tile.value, int):
                continue
            name = draft.stage.dims[d].name
            if tile.value < 1:
                headline = f"{step_name(step, n)} has tile {tile.value} for `{name}`"
                yield Diagnostic(
                    CODE, headline, at(tile.span or step.span), help=f"a tile from 1 to {parents[d]}, or `^`"
                )
            elif tile.value > parents[d] and step is not draft.initial:
                headline = (
                    f"tile {tile.value} for `{name}` is larger than the {parents[d]} it splits ({whose[d]})"
                )
                labels = at(tile.span or step.span, f"at most {parents[d]}")
                yield Diagnostic(CODE, headline, labels, help=_smaller(parents[d]))
            else:
                parents[d], whose[d] = tile.value, f"the tile of {step_name(step, n)}"


def _smaller(parent: int) -> str:
    divisors = [str(n) for n in range(1, parent + 1) if parent % n == 0][-6:] if parent <= 1 << 16 else []
    exact = f"; without a remainder: {', '.join(divisors)}" if len(divisors) > 1 else ""
    return f"a tile from 1 to {parent}, or `^`{exact}"
