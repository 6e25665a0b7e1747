"""Checks the arguments of a call against the C function's parameters, before anything runs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from mdh.api.keys import ALIGNMENT, Keys
from mdh.device.arrays import StridedView, host_array, is_masked, packed, records_gradients, view_of
from mdh.device.protocols import Device
from mdh.diagnostics import Diagnostic, Failed, Label, labels_at
from mdh.ir.program import Buffer, Program, Scalar
from mdh.reference.gathers import first_outside, gathers_of, surely_inside
from mdh.reference.numbers import holds, numpy_dtype, range_text
from mdh.verify.index_data import outside_failure

MOST_DIGITS = 40
"""The most digits of a number in a message."""


@dataclass
class BoundArguments:
    """The arguments of a launch: numpy arrays for host memory, views for a device's. notes: copies."""

    arrays: dict[str, Any] = field(default_factory=dict)
    scalars: dict[str, int | float] = field(default_factory=dict)
    streams: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


class Binder:
    """The parameters of a program on a device, prepared once for all calls. written: the parameters that
    kernels write."""

    def __init__(self, program: Program, device: Device) -> None:
        self.program, self.written = program, frozenset(n for s in program.stages for n in s.written)
        self._buffers = {
            name: program.buffer_of[name] for name in program.params if name in program.buffer_of
        }
        self._scalars = {
            name: program.scalar_of[name] for name in program.params if name in program.scalar_of
        }
        self._dtypes = {name: numpy_dtype(b.dtype) for name, b in self._buffers.items()}
        constants = {b.name for b in program.buffers if b.values is not None}
        # those of constants alone are looked at when the program is read
        self._gathers = tuple(g for g in gathers_of(program) if not g.read <= constants)
        self._spec = device.spec
        self._places = ("host",) if device.memory == "host" else ("host", device.spec)
        self.keys = None if self._gathers else Keys(program, device, self.written)

    def bind(self, args: Sequence[Any]) -> BoundArguments:
        """The arguments of a launch. Raises Failed with every A1xx: kind, type, shape, place, writability,
        gradients, overlap, memory, values."""
        out, found = BoundArguments(), list[Diagnostic]()
        views: dict[str, StridedView] = {}
        for name, given in zip(self.program.params, args, strict=True):
            if name in self._scalars:
                self._add_scalar(name, given, out.scalars, found)
                continue
            view = _view(self._buffers[name], given)
            if isinstance(view, Diagnostic):
                found.append(view)
                continue
            views[name] = view
            found.extend(self._misfits(self._buffers[name], view))
        found.extend(self._overlaps(views))
        if found:
            raise Failed(*found)
        for name, view in views.items():
            out.arrays[name] = _memory(self._buffers[name], view, out)
            if view.stream is not None:
                out.streams.add(view.stream)
        if self._gathers:
            self._check_indices(out)
        return out

    def scalars(self, args: Sequence[Any]) -> dict[str, int | float]:
        """Those of a call whose arrays are right. Raises Failed A102, A109, A110."""
        out, found = dict[str, int | float](), list[Diagnostic]()
        for name, given in zip(self.program.params, args, strict=True):
            if name in self._scalars:
                self._add_scalar(name, given, out, found)
        if found:
            raise Failed(*found)
        return out

    def _add_scalar(
        self, name: str, given: Any, scalars: dict[str, int | float], found: list[Diagnostic]
    ) -> None:
        value = scalar_of(self._scalars[name], given)
        if isinstance(value, Diagnostic):
            found.append(value)
        else:
            scalars[name] = value

    def _misfits(self, b: Buffer, view: StridedView) -> Iterator[Diagnostic]:
        """The diagnostics A103 to A106, A108 and A114 for one array."""
        wanted, spec = self._dtypes[b.name], self._spec
        if records_gradients(view.owner):
            headline = f"`{b.name}` requires gradients, and mdh records none"
            hint = "give tensor.detach(), or call inside of `with torch.no_grad()`"
            yield _at(b, "A114", headline, help=hint)
        if view.dtype != wanted:
            hint = f"convert it: array.astype('{wanted}')"
            yield _at(b, "A103", f"`{b.name}` holds {wanted}, the array {view.dtype}", help=hint)
        if not b.takes(view.shape) and not (b.short(view.shape) and self._may_be_copied(b, view)):
            headline = f"`{b.name}` has shape {_shape(b.shape)}, the array {_shape(view.shape)}"
            hint = "bind other sizes, or give another array"
            if b.short(view.shape):
                hint = "give it the whole of its last row: kernels may touch what the C leaves out"
            yield _at(b, "A104", headline, help=hint)
        if view.place not in self._places:
            hint = f"copy it there first; {spec} takes arrays in {' and '.join(self._places)} memory"
            yield _at(b, "A105", f"`{b.name}` lies on {view.place}, the kernel runs on {spec}", help=hint)
        if b.name not in self.written:
            return
        if view.readonly:
            headline = f"`{self.program.name}` writes `{b.name}`, and the array is read-only"
            yield _at(b, "A106", headline, help="give an array that may be written")
        if not _usable(view):
            hint = "give a contiguous array (row major, no gaps) and copy the result where it belongs"
            yield _at(b, "A108", f"the output `{b.name}` {_fault(view)}", help=hint)

    def _may_be_copied(self, b: Buffer, view: StridedView) -> bool:
        return b.name not in self.written and view.place == "host"

    def _overlaps(self, views: dict[str, StridedView]) -> Iterator[Diagnostic]:
        """A107: an array that the kernel writes shares memory with another argument."""
        spans = [(name, v.place, *v.span) for name, v in views.items()]
        for (a, here, low, high), (b, there, first, last) in combinations(spans, 2):
            shared = here == there and low < last and first < high
            if shared and (a in self.written or b in self.written):
                output = a if a in self.written else b
                headline = f"`{a}` and `{b}` share memory, and `{self.program.name}` writes `{output}`"
                places = (self._buffers[a].span, self._buffers[b].span)
                labels = tuple(Label(span) for span in places if span is not None)
                yield Diagnostic("A107", headline, labels, help="give the output memory of its own")

    def _check_indices(self, bound: BoundArguments) -> None:
        """Raises A130 for wrong index arrays in host memory. Those of a device are not read back for this."""
        host = {n: a for n, a in bound.arrays.items() if isinstance(a, np.ndarray) and n not in self.written}
        integers = frozenset(
            n for g in self._gathers for n in g.arrays & host.keys() if host[n].dtype.kind in "iu"
        )
        ends = {n: (int(host[n].min()), int(host[n].max())) for n in integers if host[n].size}
        left = tuple(g for g in self._gathers if not surely_inside(g, ends))
        found = first_outside(self.program, host, bound.scalars, left) if left else None
        if found is not None:
            raise outside_failure(found, self.program)


def scalar_of(scalar: Scalar, given: Any) -> int | float | Diagnostic:
    """The value in C's type, or a diagnostic: A102 wrong kind of number, A109 out of range, A110 not the
    bound size."""
    masked = is_masked(given)
    value = given.item() if not masked and hasattr(given, "item") and np.ndim(given) == 0 else given
    if not isinstance(value, Real if scalar.dtype.is_float else Integral):
        wanted = "a number" if scalar.dtype.is_float else "a whole number"
        return _at(scalar, "A102", f"`{scalar.name}` takes {wanted}, not {_kind(given)}")
    number = int(value) if isinstance(value, Integral) else _double(value)
    if not holds(scalar.dtype, number) or (number != value and math.isinf(number)):
        hint = f"its type {scalar.dtype} holds {range_text(scalar.dtype)}"
        return _at(scalar, "A109", f"`{scalar.name}` cannot hold {_shown(value)}", help=hint)
    if scalar.dtype.is_float:
        return float(number)
    if scalar.size is not None and number != scalar.size:
        headline = f"`{scalar.name}` is bound to {scalar.size} and given as {number}"
        hint = f"pass {scalar.size}, or leave `{scalar.name}` out of defines: then the call binds it"
        return _at(scalar, "A110", headline, help=hint)
    return number


def _double(value: Real) -> float:
    """The number as a double; an infinity if it exceeds the range of doubles."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _view(buffer: Buffer, given: Any) -> StridedView | Diagnostic:
    try:
        view = view_of(given)
        wrong = "" if view is not None else f"`{buffer.name}` takes an array, not {_kind(given)}"
    except Exception as error:  # the array's own methods may raise anything
        reason = (str(error).splitlines() or ["no reason given"])[0]
        view, wrong = None, f"the memory of `{buffer.name}` cannot be used: {reason}"
    if view is None:
        hint = f"give an array of {numpy_dtype(buffer.dtype)}: numpy, cupy, torch"
        return _at(buffer, "A102", wrong, help=hint)
    return view


def _memory(b: Buffer, view: StridedView, out: BoundArguments) -> Any:
    """The memory that the launch takes. An input that kernels cannot read in place is copied, with a note."""
    if b.short(view.shape):
        out.notes.append(f"`{b.name}` ends within its last row: a copy is used")
        view = _padded(b, view)
    if not _usable(view):
        out.notes.append(f"`{b.name}` {_fault(view)}: a copy is used")
        view = packed(view)
    return host_array(view) if view.place == "host" else view


def _padded(b: Buffer, view: StridedView) -> StridedView:
    """A copy of a host array, with the rest of its last row added."""
    array = np.zeros(math.prod(b.shape), view.dtype)
    array[: view.shape[0]] = host_array(view)
    copied = view_of(array)
    assert copied is not None
    return copied


def _usable(view: StridedView) -> bool:
    align = view.dtype.itemsize if view.place == "host" else ALIGNMENT
    return view.contiguous and view.pointer % max(align, 1) == 0


def _fault(view: StridedView) -> str:
    return "does not start at an aligned address" if view.contiguous else "is not contiguous"


def _at(p: Buffer | Scalar, code: str, headline: str, *, help: str = "") -> Diagnostic:
    labels = labels_at(p.span)
    return Diagnostic(code, headline, labels, help=help)


def _kind(given: Any) -> str:
    return f"`{type(given).__name__}`"


def _shown(value: Any) -> str:
    """A number in words of a message. Python refuses to print very long numbers and quotients of them."""
    large = isinstance(value, Rational) and abs(value) >= 10**MOST_DIGITS
    return "so large a number" if large else str(value)


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "()"
