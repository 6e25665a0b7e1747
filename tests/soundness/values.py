"""Random expressions and conditions over the arrays of a pool: in range, and never a division by 0."""

from random import Random

from tests.soundness.pool import FLOATS, INTEGERS, Array, Pool, Vars
from tests.soundness.tree import Expr, Op

COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
CLAMPED = "(int)({0} > -50 ? ({0} < 50 ? {0} : 50) : -50)"
"""A float of any value, NaN included, as an integer that has a value in C."""


class Values:
    """locals_: names of scalars that may be read at this place, with their types. written: arrays that the
    nest writes, and the element, where there is one, that may be read without a dependence between its
    iterations; daring: how often they are read nevertheless."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.rng: Random = pool.rng
        self.locals_: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self.daring = 0.06

    def begin(self) -> None:
        """A new nest."""
        self.locals_, self.written = {}, {}

    def value(self, ctype: str, v: Vars, depth: int = 2, *, near: Array | None = None) -> Expr:
        """Something to store in an element of type `ctype`; near: an array that is likely to be read."""
        return self._float(ctype, v, depth, near) if ctype in FLOATS else self._integer(v, depth, near)

    def read(self, v: Vars, *, floats: bool, near: Array | None = None, const: bool = False) -> str | None:
        """An element of an array (of floats or of integers), None where there is none."""
        rng, pool = self.rng, self.pool
        found = [a for a in pool.data() if a.is_float == floats and (a.const or not const)]
        if rng.random() >= self.daring:
            own = self.written.get(near.name, "") if near is not None and near in found else ""
            if own and rng.random() < 0.4:
                return own
            found = [a for a in found if a.name not in self.written]
        elif near is not None and near in found:
            return pool.element(near, v)
        # arrays whose every dimension is a loop's are what programs read most
        sizes = {r.size for r in v.values()}
        close = [a for a in found if all(d in sizes for d in a.dims)]
        if close and rng.random() < 0.85:
            found = close
        return pool.element(rng.choice(found), v) if found else None

    def _float(self, ctype: str, v: Vars, depth: int, near: Array | None) -> Expr:
        rng = self.rng
        end = "" if ctype == "double" else "f"
        if depth <= 0 or rng.random() < 0.25:
            return self._float_leaf(v, near, end)
        a, b = self._float(ctype, v, depth - 1, near), self._float(ctype, v, depth - 1, None)
        match rng.randint(0, 9):
            case 0 | 1 | 2:
                return Op("({} + {})", [a, b])
            case 3:
                return Op("({} - {})", [a, b])
            case 4 | 5:
                by = self.read(v, floats=True, const=True) or f"2.0{end}"
                return Op("{} * {}", [a, by])
            case 6:
                return Op(f"({{0}} {rng.choice(COMPARISONS)} {{1}} ? {{0}} : {{1}})", [a, b])
            case 7:
                return Op("({} ? {} : {})", [self.condition(v, 1), a, b])
            case 8:
                return Op(f"{rng.choice(('fmax', 'fmin'))}{end}({{}}, {{}})", [a, b])
            case _:
                return Op("(- {})", [a])

    def _float_leaf(self, v: Vars, near: Array | None, end: str) -> Expr:
        rng = self.rng
        names = [n for n, t in self.locals_.items() if t in FLOATS]
        if names and rng.random() < 0.35:
            return rng.choice(names)
        if rng.random() < 0.1:
            return rng.choice((f"1.0{end}", f"2.0{end}", f"0.5{end}", "3", *v, "alpha"))
        if rng.random() < 0.08:
            found = self.read(v, floats=False)
            if found is not None:
                return found
        return self.read(v, floats=True, near=near) or self.read(v, floats=False) or f"1.0{end}"

    def _integer(self, v: Vars, depth: int, near: Array | None) -> Expr:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.25:
            return self._integer_leaf(v, near)
        a, b = self._integer(v, depth - 1, near), self._integer(v, depth - 1, None)
        match rng.randint(0, 15):
            case 0 | 1 | 2 | 3:
                return Op("({} + {})", [a, b])
            case 4:
                return Op("({} - {})", [a, b])
            case 5 | 6:
                return Op("({} * {})", [a, b])
            case 7:
                return Op(f"({{}} {rng.choice('&|^')} {{}})", [a, b])
            case 8:
                return Op(f"({{}} {rng.choice(('<<', '>>'))} {rng.randint(0, 3)})", [a])
            case 9:
                return Op(f"({{}} {rng.choice('/%')} {rng.choice((2, 3, 5, 7))})", [a])
            case 10:
                return Op(f"({{}} {rng.choice('/%')} (({{}} & 7) + 1))", [a, b])
            case 11:
                return Op(f"({{0}} {rng.choice(COMPARISONS)} {{1}} ? {{0}} : {{1}})", [a, b])
            case 12:
                return Op("({} ? {} : {})", [self.condition(v, 1), a, b])
            case 13:
                return Op(f"({rng.choice(INTEGERS)}){{}}", [a])
            case 14:
                return Op(f"({{}} {rng.choice(COMPARISONS)} {{}})", [a, b])
            case _:
                return Op(f"({rng.choice('-~!')} {{}})", [a])

    def _integer_leaf(self, v: Vars, near: Array | None) -> Expr:
        rng = self.rng
        names = [n for n, t in self.locals_.items() if t in INTEGERS]
        if names and rng.random() < 0.35:
            return rng.choice(names)
        if rng.random() < 0.12:
            return rng.choice(("1", "2", "3u", "7", "-1", "1L", *v, "n"))
        found = self.read(v, floats=False, near=near)
        if found is None and rng.random() < 0.7:
            whole = self.read(v, floats=True, near=near)
            return "1" if whole is None else Op(CLAMPED, [whole], loose=False)
        return found or "2"

    def logical(self, op: str, old: str, v: Vars) -> Expr:
        """`old` with one or two numbers of any type joined to it by && or ||."""
        rng = self.rng
        a, b = self._truth(v), self._truth(v)
        if rng.random() < 0.4:
            return Op(f"({old} {op} {{}})", [a])
        form = rng.choice(
            ("{old} {op} {{}} {op} {{}}", "{{}} {op} {old} {op} {{}}", "{old} {op} ({{}} {op} {{}})")
        )
        return Op(f"({form.format(old=old, op=op)})", [a, b])

    def _truth(self, v: Vars) -> Expr:
        if self.rng.random() < 0.5:
            return self.condition(v, 1)
        return self.read(v, floats=self.rng.random() < 0.4) or self.condition(v, 1)

    def condition(self, v: Vars, depth: int = 2) -> Expr:
        """Something that is true or false: of data, of loop variables, or of both."""
        rng = self.rng
        if depth > 1 and rng.random() < 0.15:
            return Op(f"({{}} {rng.choice(('&&', '||'))} {{}})", [self.condition(v, 1), self.condition(v, 1)])
        if v and rng.random() < 0.35:
            return self.affine(v)
        floats = self.pool.main in FLOATS
        found = self.read(v, floats=floats) or self.read(v, floats=not floats) or "1"
        op = rng.choice(COMPARISONS)
        if rng.random() < 0.4:
            other = self.read(v, floats=floats) or "2"
            return Op(f"({{}} {op} {{}})", [found, other])
        if not floats and rng.random() < 0.3:
            return Op(rng.choice(("({} & 1)", "({} % 3 == 1)", "!({})", "({} < 1u)")), [found])
        return Op(f"({{}} {op} {rng.choice((0, 0, 1, -1))})", [found])

    def affine(self, v: Vars) -> Expr:
        """A condition on loop variables alone."""
        rng = self.rng
        names = list(v)
        i = rng.choice(names)
        others = [n for n in names if n != i]
        if others and rng.random() < 0.7:
            j = rng.choice(others)
            return rng.choice((f"{j} <= {i}", f"{j} < {i}", f"{i} != {j}", f"{i} + {j} < N", f"{i} == {j}"))
        size = v[i].size
        return rng.choice(
            (
                f"{i} > 0",
                f"{i} < {size} - 1",
                f"{i} % 2 == 0",
                f"({i} & 1)",
                f"{i} >= {size} / 2",
                f"{i} != 1",
                f"{i} < 2u",
            )
        )
