"""Sums of products, which tensor cores and linear-algebra libraries compute."""

from mdh.ir.dtype import BF16, F16, F32, DType
from mdh.ir.expr import Binary, Cast, Expr, Load, without_casts
from mdh.ir.factor import factored
from mdh.ir.program import DimKind, Operator, Stage


def product_sum(stage: Stage) -> tuple[Load, Load] | None:
    """The two loads whose products the stage sums as its only result, without casts; None for any other
    stage."""
    if len(stage.results) != 1 or stage.lets:
        return None
    result = stage.results[0]
    factors = summed_product(result.op, without_casts(result.values[0]))
    if factors is None:
        return None
    left, right = map(without_casts, factors)
    return (left, right) if isinstance(left, Load) and isinstance(right, Load) else None


def summed_product(op: Operator | None, value: Expr) -> tuple[Expr, Expr] | None:
    """The two factors if `op` is a sum and `value` is a product, else None. Casts of the product to a wider
    float are removed, since they are exact."""
    while isinstance(value, Cast) and _widens(value):
        value = value.arg
    adds = op is not None and op.name == "+"
    return (value.left, value.right) if adds and isinstance(value, Binary) and value.op == "*" else None


def _widens(cast: Cast) -> bool:
    source = cast.arg.dtype
    return cast.dtype.is_float and source.is_float and cast.dtype.bits >= source.bits


def summed_reads(stage: Stage) -> tuple[Load, Load, DType] | str:
    """The two reads whose products the stage sums, and the type of the sum; or what else it computes. What
    all terms share as a factor is left out: it multiplies the sum."""
    if len(stage.results) != 1 or stage.lets or stage.scattered:
        return "it is not one sum of products of two reads"
    result = stage.results[0]
    if any(d.kind is DimKind.PS for d in stage.dims) or result.op is None or result.op.name != "+":
        return "it is not a sum of products of two reads"
    if result.op.rounded is not None:
        return f"its sum is rounded to {result.op.rounded} after each addition"
    acc, term = result.types[0], factored(stage, result).rest
    if isinstance(term, Cast) and isinstance(term.arg, Binary) and term.arg.op == "*":
        return f"its products are rounded to {term.arg.dtype} before they are added in {acc}"
    if not isinstance(term, Binary) or term.op != "*" or term.dtype != acc:
        return "it is not a sum of products of two reads"
    left, right = _read(term.left), _read(term.right)
    if left is None or right is None:
        return "it is not a sum of products of two reads"
    return left, right, acc


def _read(e: Expr) -> Load | None:
    """The read behind conversions that change no value."""
    while isinstance(e, Cast):
        old, new = e.arg.dtype, e.dtype
        if new.is_float != old.is_float or new.bits <= old.bits or (new.kind, old.kind) == ("uint", "int"):
            return None
        e = e.arg
    return e if isinstance(e, Load) else None


def truncating(stage: Stage) -> bool:
    """Whether tensor cores may compute the stage's sums, and round them toward zero: f16 and bf16 added in
    f32. What they add of integers and of f64 is added as everywhere."""
    reads = summed_reads(stage)
    op = stage.results[0].op if stage.results else None
    if isinstance(reads, str) or op is None or op.ordered:
        return False
    left, right, acc = reads
    return acc == F32 and left.dtype == right.dtype and left.dtype in (F16, BF16)
