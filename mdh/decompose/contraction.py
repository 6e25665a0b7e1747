"""Stages that are a sum of products of two arrays, in a form for libraries.

Each factor and the result is a strided view with an axis for each loop, so that windows of a convolution are
views too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod

from mdh.decompose.accesses import moving_index
from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Const, Expr, Load, Var, map_children, walk, without_casts
from mdh.ir.factor import factored
from mdh.ir.product_sum import product_sum, summed_reads
from mdh.ir.program import Buffer, DimKind, Output, Program, Result, Stage, component


@dataclass(frozen=True, slots=True)
class OperandView:
    """An array's elements by loops. strides: elements a step of each loop; offset: of the first one, in the
    first turn of loops around the stage. index: the subscripts in the C."""

    buffer: str
    loops: tuple[str, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    index: tuple[Expr, ...]

    def stride(self, loop: str) -> int:
        return dict(zip(self.loops, self.strides, strict=True)).get(loop, 0)


@dataclass(frozen=True, slots=True)
class Groups:
    """The loops of a product of matrices: out[batch, rows, columns] = sum over `summed` of
    left[batch, rows, summed] * right[batch, summed, columns]."""

    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    summed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """out = alpha * sum of products + beta * out. left and right are ordered so that the result's last loop
    is one of the columns. alpha, beta: numbers that are the same for all elements; None: 1, and 0. dtype: of
    the arrays. sizes: loop -> extent. rest: what else the stage writes, as functions of the finished `out`.
    """

    left: OperandView
    right: OperandView
    out: OperandView
    groups: Groups
    sizes: tuple[tuple[str, int], ...]
    dtype: DType
    alpha: Expr | None = None
    beta: Expr | None = None
    rest: tuple[Output, ...] = ()

    @property
    def double(self) -> bool:
        """Whether the arrays are f64, else f32."""
        return self.dtype.bits == 64

    @property
    def updated(self) -> bool:
        """Whether the sum is added to what the result holds, as it is."""
        return isinstance(self.beta, Const) and self.beta.value == 1

    def shape(self, *names: str) -> tuple[int, ...]:
        """The extents of the groups of these names (`batch`, `rows`, …): each is the product of its loops."""
        size = dict(self.sizes)
        return tuple(prod(size[loop] for loop in getattr(self.groups, name)) for name in names)

    def order(self, view: OperandView, *names: str) -> tuple[int, ...]:
        """The axes of the view in the order of the groups of these names."""
        loops = [loop for name in names for loop in getattr(self.groups, name)]
        return tuple(view.loops.index(loop) for loop in loops)


def contraction_of(program: Program) -> MatrixProduct | str:
    """The program as a plain sum of products, or in words why it is none. Types in which sums are held make
    no difference."""
    if len(program.stages) != 1:
        return f"it has {len(program.stages)} stages"
    if program.loops:
        return f"the loop `{program.loops[0].name}` runs around it"
    found = product_of(program, program.stages[0], exact=False)
    if isinstance(found, str):
        return found
    if found.alpha is not None:
        return "its sums are multiplied by a number"
    if found.beta is not None and not found.updated:
        return "its sums start from a value of their own"
    return found


def product_of(program: Program, stage: Stage, *, exact: bool = True) -> MatrixProduct | str:
    """The stage as a product, or in words why it is none. exact: all numbers have the type of the arrays, and
    the stage may write more than the product; else sums may be held in another type."""
    terms = _terms(program, stage, exact=exact)
    if isinstance(terms, str):
        return terms
    left, right, output, alpha, beta = terms
    rest = _rest(stage.results[0], output)
    if rest is None:
        return f"what it writes besides `{output.buffer}` is no function of the new `{output.buffer}`"
    out = _view(program, stage, output.buffer, output.index)
    one, other = (_view(program, stage, load.buffer, load.index) for load in (left, right))
    if out is None or one is None or other is None:
        return "its subscripts are no sums of loops"
    if out.loops and out.loops[-1] in one.loops and out.loops[-1] not in other.loops:
        one, other = other, one
    groups = _groups(one, other, out)
    if isinstance(groups, str):
        return groups
    sizes = tuple((d.name, d.extent) for d in stage.dims)
    dtype = program.buffer_of[out.buffer].dtype
    return MatrixProduct(one, other, out, groups, sizes, dtype, alpha, beta, rest)


_Terms = tuple[Load, Load, Output, Expr | None, Expr | None]


def _terms(program: Program, stage: Stage, *, exact: bool) -> _Terms | str:
    """The two factors, where the result is stored, alpha and beta; or in words why it is no product."""
    if stage.lets or len(stage.results) != 1 or stage.scattered:
        return "it is more than one sum"
    if not exact and len(stage.results[0].outputs) != 1:
        return "it is more than one sum"
    result = stage.results[0]
    if result.op is None or result.op.name != "+" or any(d.kind is DimKind.PS for d in stage.dims):
        return "it is no sum"
    if program.strict_fp:
        return "--strict-fp fixes the order of its sums"
    reads = summed_reads(stage) if exact else None
    loads = reads[:2] if isinstance(reads, tuple) else product_sum(stage)
    if loads is None:
        return "it is no sum of products of two arrays"
    found = ((o, _numbers(stage, result, o, exact=exact)) for o in result.outputs)
    output, numbers = next((pair for pair in found if pair[1] is not None), (result.outputs[0], None))
    buffers = [program.buffer_of[name] for name in (loads[0].buffer, loads[1].buffer, output.buffer)]
    if {b.dtype for b in buffers} not in ({_float(buffers[0], 32)}, {_float(buffers[0], 64)}):
        return "its arrays are not all float, or all double"
    if isinstance(reads, str):
        return reads
    if exact and result.types[0] != buffers[0].dtype:
        return f"its sums are held in {result.types[0]}, its arrays in {buffers[0].dtype}"
    scale = factored(stage, result).factor if exact else None
    if numbers is None:
        return f"`{output.buffer}` is another function of its sum than alpha * sum + beta * {output.buffer}"
    first = _started(stage, result, output)
    if first is None or (first[0] is not None and numbers[1] is not None):
        return "its sums start from a value of their own"
    alpha = _times(scale, numbers[0])
    beta = numbers[1] if first[0] is None else _times(numbers[0], first[0])
    return *loads, output, alpha, beta


def _rest(result: Result, output: Output) -> tuple[Output, ...] | None:
    """The other outputs, with `output` in place of its value; None if one needs something else of the sum, or
    the old value."""
    new = Load(output.buffer, output.index, result.types[0])
    out = []
    for o in result.outputs:
        if o is output:
            continue
        asked = _replaced(o.value, output.value, Const(0.0, new.dtype))
        if any(n == Var(component(0), new.dtype) or _reads(n, output.buffer) for n in walk(asked)):
            return None
        out.append(Output(o.buffer, o.index, _replaced(o.value, output.value, new), o.span))
    return tuple(out)


def _reads(e: Expr, buffer: str) -> bool:
    return isinstance(e, Load) and e.buffer == buffer


def _replaced(e: Expr, old: Expr, new: Expr) -> Expr:
    return new if e == old else map_children(e, lambda c: _replaced(c, old, new))


def _times(a: Expr | None, b: Expr | None) -> Expr | None:
    """The product; None stands for 1."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(b, Const) and b.value == 1:
        return a
    return Binary("*", a, b, a.dtype)


def _numbers(
    stage: Stage, result: Result, output: Output, *, exact: bool
) -> tuple[Expr | None, Expr | None] | None:
    """(alpha, beta) of what is stored: alpha * sum + beta * the old value. alpha None: 1; beta None: 0. None
    for another function of the sum."""
    t, value = result.types[0], output.value
    total = Var(component(0), t)
    if not exact:
        return (None, None) if without_casts(value) == total else None
    alpha: list[Expr | None] = []
    beta: list[Expr | None] = []
    old = Load(output.buffer, output.index, t)
    for term in _operands("+", value, t):
        for which, of in ((alpha, total), (beta, old)):
            factors = list(_operands("*", term, t))
            if factors.count(of) == 1:
                factors.remove(of)
                if not all(_is_number(stage, f) for f in factors):
                    return None
                which.append(_product(factors))
                break
        else:
            return None
    if len(alpha) != 1 or len(beta) > 1:
        return None
    one = Const(1.0, t)
    return alpha[0], (beta[0] or one) if beta else None


def _started(stage: Stage, result: Result, output: Output) -> tuple[Expr | None] | None:
    """(beta,) of the value that the sums start from; beta None: 0. None for a value of another form."""
    start, t = result.starts[0], result.types[0]
    if start is None or (isinstance(start, Const) and not start.value):
        return (None,)
    factors = list(_operands("*", start, start.dtype))
    own = [f for f in factors if isinstance(f, Load) and (f.buffer, f.index) == (output.buffer, output.index)]
    rest = [f for f in factors if f not in own]
    if len(own) != 1 or len(own) + len(rest) != len(factors) or not all(_is_number(stage, f) for f in rest):
        return None
    return (_product(rest) or Const(1.0, t),)


def _operands(op: str, e: Expr, t: DType) -> Iterator[Expr]:
    if isinstance(e, Binary) and e.op == op and e.dtype == t:
        yield from _operands(op, e.left, t)
        yield from _operands(op, e.right, t)
    else:
        yield e


def _product(factors: list[Expr]) -> Expr | None:
    return reduce(lambda a, b: Binary("*", a, b, a.dtype), factors) if factors else None


def _is_number(stage: Stage, e: Expr) -> bool:
    """Whether it is the same number for all elements of the stage."""
    varying = {d.name for d in stage.dims} | {let.name for let in stage.lets} | {component(0)}
    return isinstance(e, Const) or (isinstance(e, Var) and e.name not in varying)


def _float(buffer: Buffer, bits: int) -> object:
    """The buffer's type if it is a float of that many bits, else None."""
    return buffer.dtype if buffer.dtype.is_float and buffer.dtype.bits == bits else None


def _view(program: Program, stage: Stage, name: str, index: tuple[Expr, ...]) -> OperandView | None:
    """The view of an access; None if a subscript is not an affine function of the loops."""
    shape = program.buffer_of[name].shape
    sizes = {d.name: d.extent for d in stage.dims}
    strides: dict[str, int] = {}
    offset = 0
    functions = moving_index(program, stage, index)
    if functions is None:
        return None
    for axis, f in enumerate(functions):
        step = prod(shape[axis + 1 :])
        offset += f.const * step
        for position, factor in f.terms:
            if position.isdecimal():
                loop = stage.dims[int(position)].name
                strides[loop] = strides.get(loop, 0) + factor * step
    # in memory order, so that neighbours stay neighbours
    loops = tuple(sorted(strides, key=lambda n: -abs(strides[n])))
    steps = tuple(strides[n] for n in loops)
    return OperandView(name, loops, tuple(sizes[n] for n in loops), steps, offset, index)


def _groups(left: OperandView, right: OperandView, out: OperandView) -> Groups | str:
    both = set(left.loops) & set(right.loops)
    alone = (set(left.loops) ^ set(right.loops)) - set(out.loops)
    alone |= set(out.loops) - {*left.loops, *right.loops}
    if alone:
        return f"its loop `{min(alone)}` runs over one array alone"
    kept = set(out.loops)
    return Groups(
        batch=tuple(n for n in out.loops if n in both),
        rows=tuple(n for n in left.loops if n in kept - both),
        columns=tuple(n for n in right.loops if n in kept - both),
        summed=tuple(n for n in left.loops if n in both - kept),
    )
