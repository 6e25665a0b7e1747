"""The backward program of a Program: a C function of the gradients, with names by a fixed rule.

For the result `C` the function takes `C_grad`, the gradient of some number by C's elements, and for the input
`A` it writes `A_grad`, the gradient of that number by A's elements. It takes those inputs, results and
numbers of the forward function, by their names, that it needs. What else it needs it computes again.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mdh.frontend.typing_rules import binary, convert, select
from mdh.gradient.adjoint import GradientTerm, NoRuleError, reproducible, terms_of
from mdh.gradient.assignments import GradientArray, GradientAssignment, arrays_read, refused, straight
from mdh.gradient.c_expression import c_type, is_spelled
from mdh.gradient.nests import GradientNest, gathered, together
from mdh.gradient.statements import added, box, computed, constant, declaration, elements, loops, store
from mdh.ir import syntax as c
from mdh.ir.dtype import F32, I32, NARROW, DType, accumulator
from mdh.ir.expr import Const, Expr, Load, Var, without_casts
from mdh.ir.names import fresh
from mdh.ir.program import Condition, Dim, Program
from mdh.ir.syntax_text import function_text
from mdh.source import Source

ENDING = "_grad"
"""The end of the name of a gradient."""


@dataclass(frozen=True)
class Backward:
    """A backward program. sizes, scalars: parameters of the forward program that it takes. given: its arrays
    that it takes. incoming: results of the forward program by the names of their gradients. results: inputs
    by the names of theirs. Its parameters are all of these in this order."""

    function: c.Function
    sizes: tuple[str, ...]
    scalars: tuple[str, ...]
    given: tuple[str, ...]
    incoming: Mapping[str, str]
    results: Mapping[str, str]

    @property
    def text(self) -> str:
        """In C."""
        return function_text(self.function, frozenset(self.results))

    @property
    def source(self) -> Source:
        return Source(f"{self.function.name}.c", self.text)


def differentiable(program: Program) -> tuple[str, ...]:
    """The inputs that can have gradients: arrays of floats that the function only reads."""
    written = {n for s in program.stages for n in s.written}
    arrays = (program.buffer_of[n] for n in program.params if n in program.buffer_of)
    return tuple(b.name for b in arrays if b.dtype.is_float and b.name not in written)


def backward(program: Program, wanted: Collection[str] | None = None) -> Backward:
    """The backward program for the gradients of the inputs `wanted`; None: of all inputs that can have some.
    Raises Failed A120 where there is no rule, with what stands in its way."""
    names = differentiable(program) if wanted is None else tuple(wanted)
    other = next((n for n in names if n not in differentiable(program)), None)
    if other is not None:
        raise refused(f"`{other}` is no array of floats that `{program.name}` only reads")
    narrow = next((b for b in program.buffers if not is_spelled(b.dtype)), None)
    if narrow is not None:
        raise refused(f"`{narrow.name}` holds {narrow.dtype}, which has no gradients", narrow.span)
    if not names:
        raise refused(f"`{program.name}` reads no array of floats that it does not write")
    return _Derivation(program, frozenset(names)).run()


@dataclass
class _Gradient:
    """What is known of the gradient of an array. nests: sums that are added to it. passed: gradients of later
    versions that it begins with, and the assignment whose elements are left out, if any. incoming: the
    parameter that it is, or begins with."""

    nests: list[GradientNest] = field(default_factory=list)
    passed: list[tuple[str, GradientAssignment]] = field(default_factory=list)
    incoming: str = ""

    @property
    def flows(self) -> bool:
        return bool(self.nests or self.passed or self.incoming)


class _Derivation:
    def __init__(self, program: Program, wanted: frozenset[str]) -> None:
        self.program, self.wanted = program, wanted
        found = straight(program)
        self.assignments, self.arrays, self.last = found.assignments, dict(found.arrays), found.last
        self.taken = set(found.taken)
        self.stem = _stem(self.taken)
        self.gradients = {n: _Gradient() for n in self.arrays}
        self.names: dict[str, GradientArray] = {}
        """The arrays that hold gradients, by the array whose gradient it is."""
        self.statements: list[c.Statement] = []
        self.temps: list[GradientArray] = []
        self.incoming: dict[str, str] = {}
        self.results: dict[str, str] = {}
        self.reads: set[str] = set()
        self.flowing = self._flowing()
        self._maps = {a.target.buffer: a for a in self.assignments if not a.op and not self._given(a)}
        """Maps that are computed again, by kernels that may be several."""

    def run(self) -> Backward:
        for n in self.last.values():
            made = self.arrays[n]
            if made.final and made.dtype.is_float and any(x.target.buffer == n for x in self.assignments):
                self.gradients[n].incoming = fresh(f"{n}{ENDING}", self.taken)
        # names of results first, so that they are what the rule says
        for n in sorted(self.wanted):
            self.results[fresh(f"{n}{ENDING}", self.taken)] = n
        for a in reversed(self.assignments):
            self._reversed(a)
        results = {n: g for g, n in self.results.items()}
        for n in self._in_order(self.wanted):
            self._gradient(n, results[n])
        forward = self._recomputed()
        return self._function([*forward, *self.statements], results)

    def _given(self, a: GradientAssignment) -> bool:
        """Whether the backward program takes the array that an assignment writes."""
        return self.arrays[a.target.buffer].final

    def _flowing(self) -> frozenset[str]:
        """The arrays whose values depend on a wanted input."""
        found = set(self.wanted)
        for a in self.assignments:
            read = {n for e in _expressions(a) for n in arrays_read(e)}
            if self.arrays[a.target.buffer].dtype.is_float and (read & found or a.before in found):
                found.add(a.target.buffer)
        return frozenset(found)

    def _reversed(self, a: GradientAssignment) -> None:
        """The terms of an assignment, whose result has its whole gradient by now."""
        target = a.target.buffer
        if target not in self.flowing or not self.gradients[target].flows:
            return
        own = self._gradient(target, "")
        # the gradient of an element in the type in which the assignment computes
        seed = convert(_wide(Load(own.name, a.target.index, own.dtype)), accumulator(a.type))
        try:
            if a.op in ("max", "min"):
                self._extremum(a, seed)
            else:
                self._terms(terms_of(a.value, seed), (*a.kept, *a.reduced))
                if a.start is not None:
                    self._terms(terms_of(a.start, seed), a.kept)
        except NoRuleError as error:
            raise refused(str(error), a.span) from None
        if a.before is not None and a.before in self.flowing:
            self.gradients[a.before].passed.append((own.name, a))

    def _terms(self, terms: Sequence[GradientTerm], dims: Sequence[Dim]) -> None:
        for term in terms:
            name = term.load.buffer
            if name in self.flowing:
                nests = gathered(term, dims, self.arrays[name], frozenset(self.taken))
                self.gradients[name].nests += nests
                for nest in nests:
                    for e in (*nest.index, nest.value, *(cond for cond, _ in nest.conds)):
                        self.reads |= set(arrays_read(e))

    def _extremum(self, a: GradientAssignment, seed: Expr) -> None:
        """Several values may equal the maximum. They share its gradient equally, so the backward program
        first counts them, by a sum in a separate stage."""
        value = without_casts(a.value)
        if not isinstance(value, Load) or not reproducible(value, self._maps):
            what = "it takes the maximum or minimum of values that another kernel may round otherwise"
            raise NoRuleError(f"{what}: make these values a result")
        found = _wide(Load(a.target.buffer, a.target.index, a.target.dtype))
        count = self._count(a, found)
        share = binary("/", seed, convert(count, seed.dtype))
        for e, dims in ((a.value, (*a.kept, *a.reduced)), (a.start, a.kept)):
            if e is not None and not isinstance(e, Const):
                best: Condition = (binary("==", _wide(e), found), True)
                self._terms(terms_of(e, share, (best,)), dims)

    def _count(self, a: GradientAssignment, found: Expr) -> Load:
        """How many values are the maximum, as an array over the results."""
        kept = box(a.kept)
        one, none = Const(1.0, F32), Const(0.0, F32)
        name = fresh("count", self.taken)
        opened = tuple(r.open for r in kept)
        array = GradientArray(
            name, F32, tuple(r.extent for r in kept) or (1,), opened if any(opened) else (), None
        )
        target = Load(name, tuple(Var(r.name) for r in kept) or (Const(0, I32),), F32)
        start: Expr = none
        if a.start is not None and not isinstance(a.start, Const):
            start = select(binary("==", _wide(a.start), found), one, none)
        hit = select(binary("==", _wide(a.value), found), one, none)
        counting = GradientAssignment(a.kept, a.reduced, "+", hit, start, target, F32)
        self.temps.append(array)
        self.arrays[name] = array
        self.statements += computed(counting, array, "")
        self.reads |= {n for e in (a.value, found, start) for n in arrays_read(e)}
        return target

    def _gradient(self, name: str, result: str) -> GradientArray:
        """The array that holds the gradient of `name`, whose terms are all known. It is written by statements
        that this adds. result: the parameter that it is; empty for an array of the function's own."""
        g, of = self.gradients[name], self.arrays[name]
        if g.incoming:
            self.incoming[g.incoming] = name
        if g.incoming and not g.nests and not g.passed and not result:
            return GradientArray(g.incoming, of.dtype, of.shape, of.open, None)
        g.nests = together(g.nests)
        own = GradientArray(result or fresh(f"{name}{ENDING}", self.taken), of.dtype, of.shape, of.open, None)
        single = len(g.nests) == 1 and g.nests[0].whole and not g.passed and not g.incoming
        if own.dtype in NARROW and not single:
            # terms are added in f32, and rounded once
            wide = GradientArray(
                fresh(f"{own.name}_sum", self.taken), accumulator(own.dtype), own.shape, own.open, None
            )
            self.temps.append(wide)
            self._write(wide, g)
            self._copy(own, wide.name, wide.dtype)
        else:
            self._write(own, g)
        if not result:
            self.temps.append(own)
        return own

    def _write(self, own: GradientArray, g: _Gradient) -> None:
        first = True
        for later, a in g.passed:
            self._pass_on(own, later, a, first=first)
            first = False
        if g.incoming:
            assert first, "what has a later version is no result"
            self._copy(own, g.incoming, self._incoming_type(own, g))
            first = False
        # the first one gives each element a value, if there is one that can
        nests = sorted(g.nests, key=lambda n: not n.whole) if first else g.nests
        for nest in nests:
            if first and not nest.whole:
                self._fill(own, Const(0.0, own.dtype))
                first = False
            local = fresh("s", self.taken)
            self.statements.append(added(own.name, own.dtype, nest, begins=first, local=local))
            first = False
        if first:
            self._fill(own, Const(0.0, own.dtype))

    def _incoming_type(self, own: GradientArray, g: _Gradient) -> DType:
        return self.arrays[self.incoming[g.incoming]].dtype

    def _pass_on(self, own: GradientArray, later: str, a: GradientAssignment, *, first: bool) -> None:
        """The gradient of a later version, but for the elements that this one overwrites."""
        if not first:
            raise refused("two nests overwrite parts of one array", a.span)
        self._copy(own, later, self.arrays[a.target.buffer].dtype)
        if not a.scattered:
            zero = store(Load(own.name, a.target.index, own.dtype), Const(0.0, own.dtype))
            self.statements.append(loops(box(a.kept), [zero]))

    def _copy(self, own: GradientArray, name: str, dtype: DType) -> None:
        self._fill(own, _wide(Load(name, elements(own, self.stem)[1], dtype)))

    def _fill(self, own: GradientArray, value: Expr) -> None:
        ranges, index = elements(own, self.stem)
        self.statements.append(loops(ranges, [store(Load(own.name, index, own.dtype), value)]))

    def _recomputed(self) -> list[c.Statement]:
        """The assignments of the forward program whose values are needed, in order."""
        needed, out = set(self.reads), list[list[c.Statement]]()
        given = {n for n, a in self.arrays.items() if a.final}
        for a in reversed(self.assignments):
            name = a.target.buffer
            if name not in needed or name in given:
                continue
            array = self.arrays[name]
            body: list[c.Statement] = []
            if a.before is not None:
                needed.add(a.before)
                ranges, index = elements(array, self.stem)
                begun = Load(a.before, index, array.dtype)
                body.append(loops(ranges, [store(Load(name, index, array.dtype), begun)]))
            out.append([*body, *computed(a, array, fresh("s", self.taken))])
            self.temps.append(array)
            needed |= {n for e in _expressions(a) for n in arrays_read(e)}
        self.reads = needed
        return [s for statements in reversed(out) for s in statements]

    def _function(self, body: Sequence[c.Statement], results: Mapping[str, str]) -> Backward:
        program = self.program
        constants = [constant(b) for b in program.buffers if b.values is not None and b.name in self.reads]
        given = tuple(n for n in program.params if n in self.reads and n in self.arrays)
        incoming = {g: n for g, n in self.incoming.items() if _names_array(body, g)}
        named = _scalars(body)
        opens = tuple(s.name for s in program.opens)
        scalars = tuple(s.name for s in program.scalars if s.name in named and s.size is None)
        numbers = [c.Declaration(n, c.CType(("int",))) for n in opens]
        numbers += [c.Declaration(n, c_type(program.scalar_of[n].dtype)) for n in scalars]
        arrays = [declaration(self.arrays[n]) for n in given]
        for g, n in incoming.items():
            a = self.arrays[n]
            arrays.append(declaration(GradientArray(g, a.dtype, a.shape, a.open, None)))
        outputs = {results[n]: n for n in self._in_order(self.wanted)}
        for g, n in outputs.items():
            a = self.arrays[n]
            arrays.append(declaration(GradientArray(g, a.dtype, a.shape, a.open, None)))
        temps = [declaration(a) for a in self.temps]
        name = fresh(f"{program.name}_backward", self.taken)
        function = c.Function(name, (*numbers, *arrays), tuple(constants), c.Block((*temps, *body)))
        return Backward(function, opens, scalars, given, incoming, outputs)

    def _in_order(self, names: Collection[str]) -> list[str]:
        return [n for n in self.program.params if n in names]


def _stem(taken: Collection[str]) -> str:
    """A stem whose names with numbers are all unused."""
    stem = "x"
    while any(n.startswith(stem) and n[len(stem) :].isdigit() for n in taken):
        stem += "x"
    return stem


def _wide(e: Expr) -> Expr:
    """A narrow float as f32, as C computes with it."""
    return convert(e, F32) if e.dtype in NARROW else e


def _expressions(a: GradientAssignment) -> tuple[Expr, ...]:
    """What an assignment reads."""
    return (a.value, *(() if a.start is None else (a.start,)), *a.target.index)


def _names_array(body: Sequence[c.Statement], name: str) -> bool:
    return any(isinstance(e, c.Element) and e.array == name for e in _parts(body))


def _scalars(body: Sequence[c.Statement]) -> set[str]:
    return {e.name for e in _parts(body) if isinstance(e, c.Name)}


def _parts(body: Sequence[c.Statement]) -> Iterator[c.Expression]:
    """Every expression of some statements."""
    for s in body:
        for one in c.walked(s):
            left: list[c.Expression] = []
            match one:
                case c.Assignment(target, _, value):
                    left = [target, value]
                case c.IfStatement(cond):
                    left = [cond]
                case c.Declaration(initial=initial):
                    left = [] if initial is None or isinstance(initial, c.Values) else [initial]
                case c.ForStatement(_, cond):
                    left = [] if cond is None else [cond]
                case c.Block():
                    pass
            while left:
                e = left.pop()
                yield e
                left += c.operands(e)
