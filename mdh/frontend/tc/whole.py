"""First statements that say how large their tensor is, and so compute all of it. What a result held before is
then never read, and calls allocate it."""

from collections.abc import Mapping

from mdh.frontend.tc.ranges import Count, accesses_of, linear, names_in, number
from mdh.frontend.tc.syntax import Definition, TcFunction
from mdh.ir.affine import Affine


def sizing(f: TcFunction, ranks: Mapping[str, int], fixed: frozenset[str]) -> frozenset[str]:
    """The tensors whose first statement says how large they are, whatever the sizes are. Others may have that
    from later statements, since a statement waits until all of its ranges are known (see `resolve`). fixed:
    names that are no indices."""
    known = {p.name.text for p in f.parameters if p.extents}
    seen, out = set[str](), set[str]()
    for s in f.body:
        targets = (s.target.text,) if isinstance(s, Definition) else tuple(t.text for t in s.targets)
        if isinstance(s, Definition):
            ready = _ready(s, known, ranks, fixed)
        else:
            ready = all(a.text in known for a in s.arguments)
        for t in targets if ready else ():
            known.add(t)
            if t not in seen:
                out.add(t)
        seen.update(targets)
    return frozenset(out)


def _ready(d: Definition, known: set[str], ranks: Mapping[str, int], fixed: frozenset[str]) -> bool:
    """Whether the ranges of all indices are found with the extents of the tensors in `known` alone."""
    accesses = accesses_of(d.value, ranks)
    if any(a.name not in known and a.name != d.target.text for a in accesses):
        return False
    names = {w.text for w in d.indices} | {u.name for u in names_in(d.value) if u.name not in fixed}
    left = names - {r.index.text for r in d.ranges}
    # any values do: only the indices of the sums count
    sizes = {n: Count(1, Affine.var(n)) for n in fixed}
    extents = {n: (number(1),) * ranks[n] for n in known}
    sums = [
        found
        for a in accesses
        if a.name in known
        for e in a.arguments
        if (found := linear(e, sizes, extents.get, frozenset(names))) is not None
    ]
    while left:
        one = {n for s in sums if len(n_left := left & set(s.terms)) == 1 for n in n_left}
        if not one:
            return False
        left -= one
    return True
