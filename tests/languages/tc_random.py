"""Random programs in Tensor Comprehensions, with inputs, and what they compute."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from tests.languages.kinds import NAMES, Array, DoubtfulError, RefusedError, draw, is_float
from tests.languages.pools import INDICES, KINDS, SCALARS, SIZES, TENSORS
from tests.languages.tc_kinds import Kinds
from tests.languages.tc_random_values import Scene, literal, whole
from tests.languages.tc_ranges import Plan, fixed_names, indices_of, infer, plan_of
from tests.languages.tc_run import results_of
from tests.languages.tc_syntax import (
    Apply,
    At,
    Binary,
    Call,
    Choose,
    Define,
    Expr,
    Extent,
    Func,
    Name,
    Param,
    Unary,
    accesses,
    names,
)

_MOST_POINTS = 6000


@dataclass
class Maker:
    """A function in the making. values: of sizes and integer scalars; gathers: arrays of integers, with
    what they point into; kept: results, since they begin with what they hold."""

    rng: Random
    name: str = "f"
    params: list[Param] = field(default_factory=list)
    body: list[Define | Call] = field(default_factory=list)
    helpers: dict[str, Func] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)
    gathers: dict[str, dict[str, int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)

    def fresh(self, pool: Sequence[str], *, beside: set[str] | None = None) -> str:
        taken = self.used if beside is None else beside
        free = [n for n in pool if n not in taken]
        name = self.rng.choice(free)
        taken.add(name)
        return name

    def function(self, results: tuple[str, ...] = ()) -> Func:
        computed = [*self.kept, *self.targets()[-1:]]
        return Func(
            self.name, tuple(self.params), results or tuple(dict.fromkeys(computed)), tuple(self.body)
        )

    def targets(self) -> list[str]:
        """The tensors that are computed, in order."""
        found = [t for s in self.body for t in (s.targets if isinstance(s, Call) else (s.target,))]
        return list(dict.fromkeys(found))

    def plan(self) -> Plan:
        shapes = {n: a.shape for n, a in self.inputs.items()}
        return plan_of(self.function(), self.helpers, self.values, shapes)

    def header(self) -> None:
        """Sizes, inputs and scalars."""
        rng, sizes = self.rng, set[str]()
        extents: dict[str, int] = {}
        for _ in range(rng.randrange(1, 5)):
            extents[self.fresh(SIZES, beside=sizes)] = rng.choice((1, 2, 3, 4, 4, 5, 6))
        self.values |= extents
        for _ in range(rng.randrange(0, 3)):
            kind = rng.choice(("float", "float", "int", "int", "double", "half", "int64", "uint32", "byte"))
            name = self.fresh(SCALARS, beside=sizes)
            self.params.append(Param(kind, (), name))
            if is_float(NAMES[kind]):
                self.scalars[name] = rng.choice((0.5, 2.0, -1.0, 3.0))
            else:
                self.values[name] = rng.choice((1, 2, 3))
            self.used.add(name)
        for _ in range(rng.randrange(1, 5)):
            shape = list[str | int]()
            for _ in range(rng.choice((1, 1, 2, 2, 3))):
                shape.append(rng.randrange(1, 5) if rng.random() < 0.05 else rng.choice(list(extents)))
            self.params.append(Param(rng.choice(KINDS), tuple(shape), self.fresh(TENSORS)))
        written = {n for p in self.params for n in p.extents} | {p.name for p in self.params if not p.extents}
        self.values = {n: v for n, v in self.values.items() if n in written}
        rng.shuffle(self.params)
        self.draw_inputs()

    def draw_inputs(self) -> None:
        """Numbers for the inputs; some arrays of integers get others to point into."""
        rng = np.random.default_rng(self.rng.randrange(2**32))
        arrays = [p for p in self.params if p.extents]
        for p in arrays:
            shape = tuple(n if isinstance(n, int) else self.values[n] for n in p.extents)
            self.inputs[p.name] = draw(rng, NAMES[p.kind], shape)
        for p in arrays:
            if not is_float(NAMES[p.kind]) and self.rng.random() < 0.5:
                others = [x for x in arrays if x.name != p.name]
                into = {x.name: self.rng.randrange(len(x.extents)) for x in others}
                limit = min((self.inputs[n].shape[k] for n, k in into.items()), default=0)
                if limit:
                    shape = self.inputs[p.name].shape
                    self.inputs[p.name] = rng.integers(0, limit, shape).astype(NAMES[p.kind])
                    self.gathers[p.name] = into

    def scene(self, indices: list[str], ranks: dict[str, int]) -> Scene:
        kinds = Kinds(self.function(("?",)), self.helpers)
        sizes = [n for n in self.values if self.rng.random() < 0.5]
        scalars = [p.name for p in self.params if not p.extents]
        return Scene(self.rng, kinds, ranks, indices, scalars, sizes, self.gathers, self.rng.random() < 0.4)

    def ranks(self) -> dict[str, int]:
        return {n: len(s) for n, s in (self.plan().shapes if self.body else self.shapes()).items()}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {n: a.shape for n, a in self.inputs.items()}

    def tried(self, *statements: Define | Call, at: int | None = None, kept: tuple[str, ...] = ()) -> bool:
        """Appends statements, the first of them at a place, if the function stays small and right. kept: new
        results."""
        before, results = list(self.body), list(self.kept)
        self.body += statements
        if at is not None:
            self.body = [*before[:at], statements[0], *before[at:], *statements[1:]]
        self.kept += kept
        try:
            plan = self.plan()
            for ranges in plan.ranges.values():
                if np.prod([len(r) for r in ranges.values()]) > _MOST_POINTS:
                    raise DoubtfulError
            results_of(self.function(), self.helpers, self.values, self.scalars, self.inputs, 0)
        except (RefusedError, DoubtfulError):
            self.body, self.kept = before, results
            return False
        return True

    def add(self) -> None:
        """One more statement, or a few."""
        way = self.rng.choices(("new", "more", "place", "init", "call"), (50, 18, 8, 16, 8))[0]
        for _ in range(12):
            done = {"new": self.new, "more": self.more, "place": self.in_place, "init": self.initial,
                    "call": self.call}[way]()  # fmt: skip
            if done:
                return
            if not self.targets():
                way = "new"

    def definition(self, target: str, rank: int, *, op: str, fresh: bool) -> Define:
        """A definition with ranges where none can be inferred."""
        if not rank and not op:
            # without indices, nothing can be read at one
            return Define(target, (), "", fresh, literal(self.rng.choice(("0", "0.5", "3"))))
        rng, taken = self.rng, self.reserved() | ({target} if not rank else set())
        indices = [self.fresh(INDICES, beside=taken) for _ in range(rank)]
        reduced = [
            self.fresh(INDICES, beside=taken)
            for _ in range(rng.choice((0, 1, 1, 2) if rank else (1, 2)) if op else 0)
        ]
        every = [*indices, *reduced]
        rng.shuffle(every)
        ranks = {n: r for n, r in self.ranks().items() if n != target}
        scene = self.scene(every, ranks)
        value = scene.value(rng.choice((0, 1, 2, 2, 3)))
        if reduced and rng.random() < 0.3:
            value = self.window(scene, indices, reduced)
        value = self.covering(scene, value, reduced or every)
        if rng.random() < 0.1:
            value = self.guarded(scene, value, every)
        return self.ranged(Define(target, tuple(indices), op, fresh, value))

    def reserved(self) -> set[str]:
        """Names that are no indices."""
        single = {n for n, rank in self.ranks().items() if not rank}
        kinds = {n for n in NAMES if n in ("int", "half", "double")}
        return set(fixed_names(self.function(("?",)))) | kinds | single

    def covering(self, scene: Scene, value: Expr, wanted: list[str]) -> Expr:
        """The value with accesses by all of these indices."""
        for i in wanted:
            if not any(i in names(a) for a in accesses(value)) and self.rng.random() < 0.9:
                able = [n for n, count in scene.tensors.items() if count]
                name = self.rng.choice(able)
                access = scene.element(name)
                if not any(i in names(x) for x in access.subscripts):
                    place = self.rng.randrange(len(access.subscripts))
                    subscripts = list(access.subscripts)
                    subscripts[place] = Name(i)
                    access = At(name, tuple(subscripts))
                value = Binary(self.rng.choice("**+"), value, access)
        return value

    def window(self, scene: Scene, indices: list[str], reduced: list[str]) -> Expr:
        """`X(2 * i + k) * Y(k)`, with other indices at other positions."""
        rng = self.rng
        i, k = rng.choice(indices or reduced), rng.choice(reduced)
        step = (
            Name(i)
            if rng.random() < 0.5
            else Binary("*", rng.choice([whole(2), *map(Name, scene.sizes)]), Name(i))
        )
        moved = Binary("+", *rng.sample([step, Name(k)], 2))
        sides = list[Expr]()
        for inner in (moved, Name(k)):
            name = rng.choice([n for n, count in scene.tensors.items() if count])
            places = [Name(rng.choice([*indices, *reduced])) for _ in range(scene.tensors[name])]
            at = rng.randrange(len(places))
            sides.append(At(name, (*places[:at], inner, *places[at + 1 :])))
        return Binary("*", sides[0], sides[1])

    def guarded(self, scene: Scene, value: Expr, indices: list[str]) -> Expr:
        """The value where an index is not 0, else a number."""
        i = self.rng.choice(indices)
        name = self.rng.choice(list(scene.tensors))
        one = scene.tensors[name] == 1
        before = Binary("-", Name(i), whole(1))
        inner: Expr = At(name, (before,)) if one else value
        return Choose(Binary(">", Name(i), whole(0)), inner, literal("0"))

    def ranged(self, d: Define) -> Define:
        """The definition with a `where` for indices that need one, and for some others."""
        rng = self.rng
        fixed = fixed_names(self.function(("?",)))
        trial = Plan(self.values, self.plan().shapes if self.body else self.shapes())
        try:
            from_accesses = {n: len(r) for n, r in infer(d, fixed, trial).items()}
        except RefusedError:
            from_accesses = {}
        where: list[tuple[str, Expr, Expr]] = []
        target = trial.shapes.get(d.target, ())
        for i in indices_of(d, fixed):
            known = from_accesses.get(i, 0)
            limit = target[d.indices.index(i)] if i in d.indices and target else 0
            if known and (not limit or known == limit) and rng.random() < 0.93:
                continue
            if (
                limit
                and not known
                and not any(i in names(a) for a in accesses(d.value))
                and rng.random() < 0.5
            ):
                continue
            end = min(x for x in (known or 9, limit or 9, rng.randrange(1, 5)) if x)
            first = rng.randrange(end) if rng.random() < 0.3 and (limit or i not in d.indices) else 0
            where.append((i, whole(first), self.end(end)))
        return replace(d, where=tuple(where))

    def end(self, n: int) -> Expr:
        """An expression of this value."""
        same = [Name(s) for s, v in self.values.items() if v == n]
        longer = [Binary("-", Name(s), whole(v - n)) for s, v in self.values.items() if v > n]
        halves = [Binary("/", Name(s), whole(2)) for s, v in self.values.items() if v // 2 == n]
        rests = [Binary("%", Name(s), whole(4)) for s, v in self.values.items() if v % 4 == n]
        extents = [
            Extent(t, k) for t, a in self.inputs.items() for k, extent in enumerate(a.shape) if extent == n
        ]
        return self.rng.choice([whole(n), *same, *longer, *halves[:1], *rests[:1], *extents])

    def new(self) -> bool:
        """Writes a statement that computes a tensor which no statement before computes."""
        rng = self.rng
        op = rng.choice(("", "", "+", "+", "*", "min", "max"))
        rank = rng.choice((0, 1, 1, 1, 2, 2, 2, 3) if op else (1, 1, 2, 2, 3))
        fresh, name = rng.random() < 0.85 or self.name != "f", self.name_of_tensor()
        kept = () if fresh or not op else (name,)
        return self.tried(self.definition(name, rank, op=op, fresh=fresh), kept=kept)

    def name_of_tensor(self) -> str:
        taken = {*self.used, *self.targets()}
        return self.fresh(TENSORS, beside=taken)

    def more(self) -> bool:
        """More for a tensor that is computed before."""
        if not self.targets():
            return False
        target = self.rng.choice(self.targets())
        rank = len(self.plan().shapes[target])
        op = self.rng.choice(("", "+", "+", "*", "min", "max"))
        return self.tried(self.definition(target, rank, op=op, fresh=self.rng.random() < 0.15))

    def in_place(self) -> bool:
        """A function of each element of a tensor."""
        if not self.targets():
            return False
        target = self.rng.choice(self.targets())
        rank, taken = len(self.plan().shapes[target]), self.reserved()
        indices = tuple(self.fresh(INDICES, beside=taken) for _ in range(rank))
        own = At(target, tuple(Name(i) for i in indices))
        forms: list[Expr] = [
            Apply("fmaxf", (own, literal("0"))), Apply("max", (own, literal("0"))), Binary("*", own, own),
            Binary("+", own, whole(1)), Choose(Binary("<", own, whole(0)), Unary("-", own), own),
        ]  # fmt: skip
        op = self.rng.choice(("", "", "+"))
        return self.tried(Define(target, indices, op, False, self.rng.choice(forms)))

    def initial(self) -> bool:
        """`C(i) = 0`, then perhaps another tensor, then a reduction into C."""
        rng, at, target = self.rng, len(self.body), self.name_of_tensor()
        self.used.add(target)
        rank, taken = rng.choice((1, 2)), self.reserved()
        indices = tuple(self.fresh(INDICES, beside=taken) for _ in range(rank))
        if rng.random() < 0.5:
            self.new()
        last = self.definition(target, rank, op=rng.choice(("+", "+", "*", "max")), fresh=False)
        own = At(target, tuple(Name(i) for i in indices))
        starts: list[Expr] = [literal("0"), literal("0.5"), literal("2"), Binary("*", whole(2), own)]
        start = rng.choice(starts)
        first = Define(target, indices, "", False, start)
        return self.tried(first, last, at=at, kept=(target,) if start == starts[-1] else ())

    def call(self) -> bool:
        """A call of a function that is made for it."""
        if self.name != "f":
            return False
        shapes = self.plan().shapes if self.body else self.shapes()
        kinds = Kinds(self.function(("?",)), self.helpers)
        able = [n for n, shape in shapes.items() if shape]
        arguments = [self.rng.choice(able) for _ in range(self.rng.randrange(1, 3))]
        made = Maker(self.rng, f"{self.rng.choice('gh2')}_{len(self.helpers)}")
        taken, sizes = set[str](), dict[int, str]()
        for a in arguments:
            own = tuple(sizes.setdefault(n, self.fresh(SIZES, beside=taken)) for n in shapes[a])
            kind = next(n for n, t in NAMES.items() if t == kinds.tensor(a))
            made.params.append(Param(kind, own, made.fresh(TENSORS)))
            made.inputs[made.params[-1].name] = np.zeros(shapes[a], NAMES[kind])
        made.values = {name: n for n, name in sizes.items()}
        made.draw_inputs()
        for _ in range(self.rng.randrange(1, 4)):
            made.new()
        results = tuple(made.targets()[-self.rng.randrange(1, 3) :])
        if not results or any(s.op and not s.fresh for s in made.body if isinstance(s, Define)):
            return False
        self.helpers[made.name] = made.function(results)
        names_ = list[str]()
        for _ in results:
            names_.append(self.fresh(TENSORS, beside={*self.used, *self.targets(), *names_}))
        done = self.tried(Call(tuple(names_), made.name, tuple(arguments)))
        if not done:
            del self.helpers[made.name]
        return done
