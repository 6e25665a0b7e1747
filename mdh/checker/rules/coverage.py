"""K120, K121: the parts of all steps cover every iteration exactly once, and cyclic blocks nest."""

from collections.abc import Iterator

from mdh.checker.footprint import chain_of
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.poly.coverage import Miss, miscovered
from mdh.poly.digits import Chain, unnested

COVER, NEST = "K120", "K121"
MOST_SHOWN = 4096
"""The largest alternative that a message suggests."""


def check_coverage(subject: Subject) -> Iterator[Diagnostic]:
    """K120. For each dim d: the map (parts of all steps) -> iteration is a bijection onto 0..extent(d)-1.

    Remainder guards hold by construction, so only `@cyclic(n)` with n not dividing its tile can break it.
    """
    for d, dim in enumerate(subject.stage.dims):
        chain = chain_of(subject.plan, d)
        miss = miscovered(chain) if ends_in_ones(chain) else None
        if miss is not None:
            yield _miscovered(subject, d, dim.name, chain, miss)


def ends_in_ones(chain: Chain) -> bool:
    return not chain or chain[-1].tile == 1


def _miscovered(subject: Subject, d: int, name: str, chain: Chain, miss: Miss) -> Diagnostic:
    s = next((i for i, c in enumerate(chain) if c.cyclic and c.tile % c.cyclic), 0)
    cut = chain[s]
    what = "belongs to no part" if not miss.parts else "belongs to two parts"
    headline = (
        f"iteration {name} = {miss.element} {what}: @cyclic({cut.cyclic}) does not divide tile {cut.tile}"
    )
    divisors = [str(n) for n in range(1, min(cut.tile, MOST_SHOWN)) if cut.tile % n == 0]
    return Diagnostic(
        COVER,
        headline,
        subject.at_core(s, d, f"tile {cut.tile}"),
        help=f"cyclic(n) with n one of {', '.join(divisors)}",
        witness=(("dim", name), ("iteration", miss.element), ("parts", miss.parts)),
    )


def check_cyclic_nesting(subject: Subject) -> Iterator[Diagnostic]:
    """K121. Below `@cyclic(n)`, every tile of the dimension divides n or is a multiple of it.

    Otherwise a deeper part begins inside one block and ends in another, and its index is not a sum of digits.
    """
    for d, dim in enumerate(subject.stage.dims):
        chain = chain_of(subject.plan, d)
        found = unnested(chain)
        if found is None or (ends_in_ones(chain) and miscovered(chain) is not None):
            # K120 reports the mistake
            continue
        outer, inner = found
        n, tile = chain[outer].cyclic, chain[inner].tile
        headline = f"tile {tile} of `{dim.name}` does not nest with the @cyclic({n}) outside of it"
        labels = subject.at_tile(inner, d, f"crosses blocks of {n}") + subject.at_core(
            outer, d, f"blocks of {n}"
        )
        legal = [t for t in range(1, min(chain[inner].parent, MOST_SHOWN) + 1) if n % t == 0 or t % n == 0]
        said = f"tiles that nest: {', '.join(map(str, legal[:12]))}"
        yield Diagnostic(
            NEST, headline, labels, help=said, witness=(("dim", dim.name), ("cyclic", n), ("tile", tile))
        )
