"""Random expressions over all integer types and strict floats, several in one function, for comparing bits.

No operation is without meaning in C, but for integers that leave their type, which wrap (-fwrapv): divisors
are never 0 or -1, shifts stay below the width of int, floats are clamped before they become integers.
"""

from random import Random

from tests.soundness.tree import Expr, For, Line, Op, Param, Tree

INTEGERS = (
    "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "int",
    "unsigned", "long", "short", "unsigned char", "unsigned short", "unsigned long", "signed char",
)  # fmt: skip
FLOATS = ("float", "double")
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
LITERALS = (
    "0", "1", "2", "3u", "7", "-1", "1L", "255", "256u", "0x7fffffff", "0xffffffff", "2147483648", "010",
    "'a'", "-128", "65535", "1UL", "0x80", "-3L", "INT_MAX", "INT_MIN",
)  # fmt: skip
REALS = ("1.0f", "0.5", "-2.5f", "3.0", "1e-3f", "0.1", "16777217.0", "0.1f", "1e10f")
CLAMPED = "({2})({0} > -{1} ? ({0} < {1} ? {0} : {1}) : -{1})"
PER, ELEMENTS = 10, 24


def random_expressions(seed: int) -> Tree:
    """A function of PER statements, each an expression stored in an array of its own."""
    rng = Random(f"expressions {seed}")
    maker = _Maker(rng)
    body = maker.lines()
    counter = rng.choice(("int", "int", "int", "unsigned", "long", "short", "int8_t", "size_t", "uint16_t"))
    loop = For("i", "N", list(body), ctype=counter)
    return Tree(f"e{seed}", {"N": ELEMENTS}, "macro", [], maker.params, {}, [loop], {}, {}, data="edges")


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.params: dict[str, Param] = {}
        self.locals_: dict[str, str] = {}
        self.fused = rng.random() < 0.15
        for k, kind in enumerate(rng.sample(INTEGERS, 7)):
            self.params["abcdegh"[k]] = Param(kind, ("N",), const=True)
        for k, kind in enumerate((*FLOATS, rng.choice(FLOATS))):
            self.params["xyz"[k]] = Param(kind, ("N",), const=True)

    def lines(self) -> list[Line]:
        rng, out = self.rng, []
        for n in range(PER):
            if rng.random() < 0.2:
                kind = rng.choice((*INTEGERS, *FLOATS))
                const = rng.choice(("", "const "))
                out.append(Line(f"{const}{kind} t{n} = {{}};", [self.of(kind, 3)]))
                self.locals_[f"t{n}"] = kind
            kind = rng.choice((*INTEGERS, *FLOATS, *FLOATS, *FLOATS))
            self.params[f"o{n}"] = Param(kind, ("N",))
            out.append(self.store(f"o{n}[i]", kind))
        return out

    def store(self, at: str, kind: str) -> Line:
        rng, depth = self.rng, self.rng.choice((2, 3, 3, 4))
        if rng.random() < 0.8:
            return Line(f"{at} = {{}};", [self.of(kind, depth)])
        if kind in FLOATS:
            return Line(f"{at} {rng.choice('+-*/')}= {{}};", [self.of(kind, 2)])
        match rng.randint(0, 3):
            case 0:
                return Line(f"{at} {rng.choice(('<<', '>>'))}= ({{}} & 15);", [self.integer(1)])
            case 1:
                return Line(f"{at} {rng.choice('/%')}= (({{}} & 31) + 1);", [self.integer(1)])
            case 2:
                return Line(f"{at}{rng.choice(('++', '--'))};")
            case _:
                return Line(f"{at} {rng.choice('+-*&|^')}= {{}};", [self.integer(2)])

    def of(self, kind: str, depth: int) -> Expr:
        return self.real(depth) if kind in FLOATS else self.integer(depth)

    def name(self, floats: bool) -> str:
        found = [f"{n}[i]" for n, p in self.params.items() if p.const and (p.ctype in FLOATS) == floats]
        found += [n for n, t in self.locals_.items() if (t in FLOATS) == floats] * 2
        return self.rng.choice(found)

    def integer(self, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return rng.choice(
                (self.name(False), self.name(False), self.name(False), rng.choice(LITERALS), "i")
            )
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        match rng.randint(0, 19):
            case 0 | 1 | 2:
                return Op(f"({{}} {rng.choice('+-*')} {{}})", [a, b])
            case 3 | 4:
                return Op(f"({{}} {rng.choice('&|^')} {{}})", [a, b])
            case 5:
                return Op(f"({{}} {rng.choice(('<<', '>>'))} ({{}} & {rng.choice((7, 31))}))", [a, b])
            case 6:
                wide = rng.choice(("int64_t", "uint64_t"))
                return Op(f"(({wide}){{}} {rng.choice(('<<', '>>'))} ({{}} & 63))", [a, b])
            case 7:
                return Op(f"({{}} {rng.choice('/%')} (({{}} & 15) + 1))", [a, b])
            case 8:
                return Op(f"({{}} {rng.choice('/%')} {rng.choice((3, 7, -3, -7, '5u', '9L'))})", [a])
            case 9:
                return Op(f"({{}} {rng.choice('/%')} ((uint{rng.choice((32, 64))}_t){{}} | 1))", [a, b])
            case 10 | 11:
                return Op(f"({{}} {rng.choice(COMPARISONS)} {{}})", [a, b])
            case 12 | 13:
                return Op("({} ? {} : {})", [self.truth(depth - 1), a, b])
            case 14 | 15 | 16:
                return Op(f"(({rng.choice(INTEGERS)}){{}})", [a])
            case 17:
                return Op(f"({rng.choice('-~!+')} {{}})", [a])
            case 18:
                return Op(f"({{}} {rng.choice(('&&', '||'))} {{}})", [a, self.truth(depth - 1)])
            case _:
                most, kind = rng.choice(
                    (("100", "int8_t"), ("30000", "int"), ("2e9", "long"), ("2e9f", "int64_t"))
                )
                return Op("(" + CLAMPED.format("{0}", most, kind) + ")", [self.real(depth - 1)], loose=False)

    def truth(self, depth: int) -> Expr:
        if self.rng.random() < 0.3:
            return Op(
                f"({{}} {self.rng.choice(COMPARISONS)} {{}})",
                [self.real(depth), self.real(depth)],
                loose=False,
            )
        return self.integer(depth)

    def real(self, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return rng.choice((self.name(True), self.name(True), self.name(True), rng.choice(REALS)))
        a, b = self.real(depth - 1), self.real(depth - 1)
        match rng.randint(0, 12):
            case 0 | 1 | 2 | 3:
                return Op(f"({{}} {rng.choice('+-*/')} {{}})", [a, b])
            case 4:
                return Op(f"({{}} {rng.choice('+-*')} {{}})", [a, self.integer(depth - 1)])
            case 5 | 6:
                return Op("({} ? {} : {})", [self.truth(depth - 1), a, b])
            case 7:
                return Op(f"(({rng.choice(FLOATS)}){{}})", [a])
            case 8:
                return Op(f"(({rng.choice(FLOATS)}){{}})", [self.integer(depth - 1)], loose=False)
            case 9:
                return Op(f"({rng.choice('-+')} {{}})", [a])
            case 10:
                return Op(
                    f"{rng.choice(('floor', 'ceil', 'trunc', 'fabs', 'fabsf', 'sqrtf', 'sqrt'))}({{}})", [a]
                )
            case 11:
                return Op("({} ? {} : {})", [self.truth(depth - 1), a, self.integer(depth - 1)])
            case _ if self.fused:
                return Op("fma({}, {}, {})", [a, b, self.name(True)])
            case _:
                return Op("({} * {})", [a, b])
