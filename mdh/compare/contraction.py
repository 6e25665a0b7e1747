"""Programs that are a sum of products of two arrays, in a form for libraries.

Each factor and the result is a strided view with an axis for each loop, so that windows of a convolution are
views too.
"""

from dataclasses import dataclass
from math import prod

from mdh.decompose.accesses import affine_index
from mdh.ir.expr import Const, Expr, Load, Var, without_casts
from mdh.ir.product_sum import product_sum
from mdh.ir.program import Buffer, DimKind, Program, Stage, component


@dataclass(frozen=True, slots=True)
class OperandView:
    """An array's elements by loops. strides: elements a step of each loop; offset: of the first one."""

    buffer: str
    loops: tuple[str, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


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
    """A sum of products. left and right are ordered so that the result's last loop is one of the columns.
    updated: the sum is added to what the result holds. double: the arrays are f64, else f32. sizes: loop ->
    extent."""

    left: OperandView
    right: OperandView
    out: OperandView
    groups: Groups
    sizes: tuple[tuple[str, int], ...]
    updated: bool
    double: bool

    def shape(self, *names: str) -> tuple[int, ...]:
        """The extents of the groups of these names (`batch`, `rows`, …): each is the product of its loops."""
        size = dict(self.sizes)
        return tuple(prod(size[loop] for loop in getattr(self.groups, name)) for name in names)

    def order(self, view: OperandView, *names: str) -> tuple[int, ...]:
        """The axes of the view in the order of the groups of these names."""
        loops = [loop for name in names for loop in getattr(self.groups, name)]
        return tuple(view.loops.index(loop) for loop in loops)


def contraction_of(program: Program) -> MatrixProduct | str:
    """The program as a contraction, or in words why it is none."""
    if len(program.stages) != 1:
        return f"it has {len(program.stages)} stages"
    stage = program.stages[0]
    found = _product(program, stage)
    if isinstance(found, str):
        return found
    factors, updated = found
    sizes = {d.name: d.extent for d in stage.dims}
    output = stage.results[0].outputs[0]
    out = _view(program, stage, output.buffer, output.index)
    views = [_view(program, stage, load.buffer, load.index) for load in factors]
    if out is None or None in views:
        return "its subscripts are no sums of loops"
    left, right = (v for v in views if v is not None)
    if out.loops and out.loops[-1] in left.loops and out.loops[-1] not in right.loops:
        left, right = right, left
    groups = _groups(left, right, out)
    if isinstance(groups, str):
        return groups
    double = program.buffer_of[out.buffer].dtype.bits == 64
    return MatrixProduct(left, right, out, groups, tuple(sizes.items()), updated, double)


def _product(program: Program, stage: Stage) -> tuple[tuple[Load, Load], bool] | str:
    """The two factors, and whether their sum is added to the old value; or in words why it is no product."""
    if stage.lets or len(stage.results) != 1 or len(stage.results[0].outputs) != 1 or stage.scattered:
        return "it is more than one sum"
    result = stage.results[0]
    if result.op is None or result.op.name != "+" or any(d.kind is DimKind.PS for d in stage.dims):
        return "it is no sum"
    output, start, loads = result.outputs[0], result.starts[0], product_sum(stage)
    if loads is None:
        return "it is no sum of products of two arrays"
    if without_casts(output.value) != Var(component(0), result.types[0]):
        return "its sums are not stored as they are"
    if program.strict_fp:
        return "--strict-fp fixes the order of its sums"
    buffers = [program.buffer_of[name] for name in (loads[0].buffer, loads[1].buffer, output.buffer)]
    if {b.dtype for b in buffers} not in ({_float(buffers[0], 32)}, {_float(buffers[0], 64)}):
        return "its arrays are not all float, or all double"
    updated = isinstance(start, Load) and (start.buffer, start.index) == (output.buffer, output.index)
    if start is not None and not updated and not (isinstance(start, Const) and not start.value):
        return "its sums start from a value of their own"
    return loads, updated


def _float(buffer: Buffer, bits: int) -> object:
    """The buffer's type if it is a float of that many bits, else None."""
    return buffer.dtype if buffer.dtype.is_float and buffer.dtype.bits == bits else None


def _view(program: Program, stage: Stage, name: str, index: tuple[Expr, ...]) -> OperandView | None:
    """The view of an access; None if a subscript is not an affine function of the loops."""
    shape = program.buffer_of[name].shape
    sizes = {d.name: d.extent for d in stage.dims}
    strides: dict[str, int] = {}
    offset = 0
    functions = affine_index(program, stage, index)
    if functions is None:
        return None
    for axis, f in enumerate(functions):
        step = prod(shape[axis + 1 :])
        offset += f.const * step
        for position, factor in f.terms:
            loop = stage.dims[int(position)].name
            strides[loop] = strides.get(loop, 0) + factor * step
    # in memory order, so that neighbours stay neighbours
    loops = tuple(sorted(strides, key=lambda n: -abs(strides[n])))
    return OperandView(name, loops, tuple(sizes[n] for n in loops), tuple(strides[n] for n in loops), offset)


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
