"""Signed arithmetic on data is done on unsigned numbers, where a language leaves its overflow undefined.

mdh's integers wrap (as with gcc -fwrapv). Sums that are taken in another order than C's may pass what C's own
stay below. Compilers of CUDA and OpenCL assume that no signed operation overflows: they multiply two ints as
64-bit numbers where the product is converted to one, say. Arithmetic that the ranges of loop variables and
of narrow types show to fit stays as it is.
"""

from dataclasses import replace
from math import prod

from mdh.ir.dtype import I32, I64, U32, U64, DType, integer_range
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Unary, map_children
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, For, If, Kernel, Let, Stmt, Store, While
from mdh.ir.ranges import Known, Range, arithmetic, bounds, within
from mdh.ir.walk import map_expressions
from mdh.target.clike import lanes_of
from mdh.target.dialect import PrintScope
from mdh.target.signature import scope_of

UNSIGNED = {I32: U32, I64: U64}


def wrapping(kernel: Kernel) -> Kernel:
    """The same kernel, in which no signed operation of 32 or 64 bits overflows."""
    body = _body(kernel.body, scope_of(kernel, {}))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _body(body: tuple[Stmt, ...], scope: PrintScope) -> tuple[Stmt, ...]:
    out = []
    for s in body:
        if isinstance(s, Alloc):
            scope = scope.with_buffers(s.buf)
        out.append(_statement(s, scope))
        if isinstance(s, Let):
            scope = replace(scope, known=scope.known.after(s))
    return tuple(out)


def _statement(s: Stmt, scope: PrintScope) -> Stmt:
    rest = map_expressions(s, lambda e: _wrapped(e, scope))
    match s, rest:
        case For(), For():
            return replace(rest, body=_body(s.body, replace(scope, known=scope.known.within_loop(s))))
        case If(), If():
            then = _body(s.then, replace(scope, known=scope.known.where(s.cond)))
            return replace(rest, then=then, orelse=_body(s.orelse, scope))
        case While(), While():
            return replace(rest, body=_body(s.body, scope))
        case Let(), Let():
            return replace(rest, value=_assigned(rest.value, s.dtype, scope))
        case Store(), Store():
            return replace(rest, value=_assigned(rest.value, scope.buffers[s.buffer].dtype, scope))
        case _:
            return rest


def _assigned(e: Expr, t: DType, scope: PrintScope) -> Expr:
    """An assignment to a scalar of type t converts by itself."""
    match e:
        case Cast(arg, dtype) if t == dtype and UNSIGNED.get(t) == arg.dtype and lanes_of(arg, scope) == 1:
            return arg
        case _:
            return e


def _wrapped(e: Expr, scope: PrintScope) -> Expr:
    if e.dtype not in UNSIGNED or not _may_overflow(e, scope.known):
        return map_children(e, lambda c: _wrapped(c, scope))
    t = UNSIGNED[e.dtype]
    match e:
        case Binary("+", left, Const(int() as n), _) if n < 0:
            return Cast(Binary("-", _unsigned(left, t, scope), Const(-n, t), t), e.dtype)
        case Binary(op, left, right, _):
            one, other = _unsigned(left, t, scope), _unsigned(right, t, scope)
            match one, other:
                case Cast(arg, _), _ if lanes_of(e, scope) == 1:
                    # C converts one operand to the unsigned type of the other
                    one = arg
                case _, Cast(arg, _) if lanes_of(e, scope) == 1:
                    other = arg
            return Cast(Binary(op, one, other, t), e.dtype)
        case Unary(op, arg, _):
            return Cast(Unary(op, _unsigned(arg, t, scope), t), e.dtype)
        case _:
            raise AssertionError(e)


def _unsigned(e: Expr, t: DType, scope: PrintScope) -> Expr:
    """An operand as type t, which keeps its bits."""
    e = _wrapped(e, scope)
    match e:
        case Const(int() as n, _):
            return Const(n % (1 << t.bits), t)
        case Cast(arg, dtype) if arg.dtype == t and dtype.bits == t.bits:
            return arg
        case _:
            return Cast(e, t)


def _may_overflow(e: Expr, known: Known) -> bool:
    match e:
        case Binary("+" | "-" | "*") | Unary("-"):
            r = _range(e, known)
            return r is None or not within(r, integer_range(e.dtype))
        case _:
            return False


def _range(e: Expr, known: Known) -> Range | None:
    """What an integer expression can be, data of a narrow type included; None: anything."""
    r = bounds(e, known)
    if r is not None:
        return r
    match e:
        case Call(Intrinsic.CLUSTER_RANK, _, _):
            return 0, prod(known.launch.cluster) - 1
        case Load(_, _, dtype) if dtype.bits <= 16 and not dtype.is_float:
            return integer_range(dtype)
        case Cast(arg, dtype) if not dtype.is_float:
            inner = None if arg.dtype.is_float else _range(arg, known)
            limits = integer_range(dtype)
            if inner is not None and within(inner, limits):
                return inner
            return limits if dtype.bits <= 16 else None
        case Unary("-", arg, _):
            return arithmetic("-", (0, 0), _range(arg, known))
        case Binary(op, left, right, dtype) if not dtype.is_float:
            inner = arithmetic(op, _range(left, known), _range(right, known))
            return inner if inner is not None and within(inner, integer_range(dtype)) else None
        case _:
            return None
