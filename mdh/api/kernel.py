"""A C function as a callable. Each call specialises it for its sizes, checks arguments and launches it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from mdh.api.arguments import Binder, arity, scalar_of
from mdh.device.faults import faults_of
from mdh.device.protocols import Device, Executable
from mdh.diagnostics import Diagnostic, Failed, render_text
from mdh.frontend.c.parameters import Heading
from mdh.ir.dtype import I64
from mdh.ir.plan import Plan
from mdh.ir.program import Program, Scalar
from mdh.pipeline import Hook, Pipeline
from mdh.printable import fitting, printable
from mdh.schedule.model import Schedule
from mdh.source import Source


@contextmanager
def explained() -> Iterator[None]:
    """A Failed that is raised inside carries its whole message, places included, into the traceback."""
    try:
        yield
    except Failed as failed:
        failed.add_note("\n".join(render_text(d) for d in failed.diagnostics))
        raise


@dataclass(frozen=True, slots=True)
class CompileOrder:
    """The request of `mdh.compile`, read and parsed."""

    source: Source
    schedule: Schedule | None
    defines: Mapping[str, str | int]
    function: str | None
    strict_fp: bool
    deterministic: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """The function at bound sizes, ready to run. schedule: the text that was used; source: what was built."""

    program: Program
    plan: Plan
    built: Executable
    binder: Binder

    @property
    def schedule(self) -> str:
        return self.plan.text

    @property
    def source(self) -> str:
        return self.built.text.source


class Kernel:
    """`kernel(*args)` takes the C function's parameters in order, writes outputs in place and returns them.

    name: the C function's name. parameters: their names. sizes: those that each call binds, in order.
    variants: what was built, by tuple of sizes. On a GPU, a call on arrays in device memory runs on their
    stream and may return before the work is done, like calls of their libraries. Every other call returns
    when the work is done. Threads may share a kernel. A forked process cannot use it: it raises Failed D107.
    """

    def __init__(
        self, order: CompileOrder, device: Device, heading: Heading, sizes: Sequence[str], hook: Hook
    ) -> None:
        self.device = device
        self.name, self.parameters, self.sizes = heading.name, heading.parameters, tuple(sizes)
        self.variants: dict[tuple[int, ...], Variant] = {}
        self._order, self._pipeline, self._lock = order, Pipeline(hook), Lock()

    def __repr__(self) -> str:
        """`<mdh.Kernel scale(n, s, A, B) on opencl:0, built for n=8, n=5>`"""
        built = [
            " ".join(f"{k}={v}" for k, v in zip(self.sizes, sizes, strict=True)) for sizes in self.variants
        ]
        ready = f", built for {', '.join(built)}" if self.sizes and built else ""
        return f"<mdh.Kernel {self.name}({', '.join(self.parameters)}) on {self.device.spec}{ready}>"

    def __call__(self, *args: Any) -> Any:
        """Runs the function. Returns the output array as given, or a tuple of several in the order of the
        parameters. Raises Failed: A1xx before anything runs, D107 in a forked process, and any error of
        building a new variant."""
        with explained():
            self.device.ready()
            if len(args) != len(self.parameters):
                raise arity(self.parameters, self.name, args)
            given = dict(zip(self.parameters, args, strict=True))
            variant = self._variant(_sizes_of({name: given[name] for name in self.sizes}))
            bound = variant.binder.bind(args)
            for text in bound.notes:
                sys.stderr.write(fitting(printable(f"mdh: {text}\n"), sys.stderr))
            call = variant.built.call(bound.arrays, bound.scalars)
            on_stream = getattr(call, "launch_on", None)
            if on_stream is not None and bound.streams:
                on_stream(sorted(bound.streams))
            else:
                call.launch()
        written = variant.binder.written
        outputs = tuple(a for name, a in zip(self.parameters, args, strict=True) if name in written)
        return outputs[0] if len(outputs) == 1 else outputs

    def specialise(self, **sizes: int) -> Variant:
        """Builds the function for these values of the open sizes; later calls with them reuse it."""
        with explained():
            if set(sizes) != set(self.sizes):
                names = ", ".join(self.sizes) or "none"
                headline = f"the open sizes of `{self.name}` are {names}; given: {', '.join(sizes) or 'none'}"
                raise Failed(Diagnostic("A101", headline, help="give each of them once"))
            self.device.ready()
            return self._variant(_sizes_of({name: sizes[name] for name in self.sizes}))

    def _variant(self, sizes: tuple[int, ...]) -> Variant:
        with self._lock:
            if sizes not in self.variants:
                bound = dict(zip(self.sizes, sizes, strict=True))
                self.variants[sizes] = self._build(
                    replace(self._order, defines={**self._order.defines, **bound})
                )
            return self.variants[sizes]

    def _build(self, order: CompileOrder) -> Variant:
        run, device = self._pipeline, self.device
        program = run.read(
            order.source, defines=order.defines, function=order.function, strict_fp=order.strict_fp
        )
        checked = run.check(
            program, order.schedule, device.machine, device.target, deterministic=order.deterministic
        )
        text = run.emit(run.lower(checked.plan), program, faults_of(device))
        return Variant(program, checked.plan, run.build(device, text), Binder(program, device))


def _sizes_of(given: Mapping[str, Any]) -> tuple[int, ...]:
    """The values as whole numbers. Raises Failed A102, A109 with every wrong one."""
    found: list[Diagnostic] = []
    out: list[int] = []
    for name, one in given.items():
        value = scalar_of(Scalar(name, I64), one)
        if isinstance(value, Diagnostic):
            found.append(value)
        else:
            out.append(int(value))
    if found:
        raise Failed(*found)
    return tuple(out)
