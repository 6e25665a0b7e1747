"""A C function as a callable. Each call specialises it for its sizes, checks arguments and launches it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from mdh.api.arguments import scalar_of
from mdh.api.explained import add_notes, explained
from mdh.api.passing import in_order
from mdh.api.texts import GivenTexts
from mdh.api.variant import Variant
from mdh.device.faults import faults_of
from mdh.device.protocols import Device
from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.c.read import Heading
from mdh.ir.dtype import I64
from mdh.ir.program import Scalar
from mdh.pipeline import Hook, Pipeline

Tuned = Callable[[GivenTexts], GivenTexts]
_INT = frozenset((int,))


class Kernel:
    """`kernel(*args)` takes the C function's parameters in order or by their names, writes outputs in place
    and returns them. Sizes that the call binds may be left out: they are the extents of its arrays.

    name: the C function's name. parameters: their names. sizes: those that each call binds, in order.
    variants: what was built, by tuple of sizes. On a GPU, a call on arrays in device memory runs on their
    stream and may return before the work is done, like calls of their libraries. Every other call returns
    when the work is done. Threads may share a kernel. A forked process cannot use it: it raises Failed D107.
    """

    def __init__(
        self,
        given: GivenTexts,
        device: Device,
        heading: Heading,
        sizes: Sequence[str],
        hook: Hook,
        tuned: Tuned | None = None,
    ) -> None:
        """tuned: replaces the schedule before anything is built; None: it stays."""
        self.device = device
        self.name, self.parameters, self.sizes = heading.name, heading.parameters, tuple(sizes)
        self.variants: dict[tuple[int, ...], Variant] = {}
        self._heading = heading
        self._places = tuple(self.parameters.index(name) for name in self.sizes)
        self._given, self._tuned = given, tuned
        self._pipeline, self._lock = Pipeline(hook), Lock()

    def __repr__(self) -> str:
        """`<mdh.Kernel scale(n, s, A, B) on opencl:0, built for n=8, n=5>`"""
        built = [
            " ".join(f"{k}={v}" for k, v in zip(self.sizes, sizes, strict=True)) for sizes in self.variants
        ]
        ready = f", built for {', '.join(built)}" if self.sizes and built else ""
        return f"<mdh.Kernel {self.name}({', '.join(self.parameters)}) on {self.device.spec}{ready}>"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Runs the function. Returns the output array as given, or a tuple of several in the order of the
        parameters. Raises Failed: A1xx before anything runs, D107 in a forked process, and any error of
        building a new variant."""
        try:
            if named or len(args) != len(self.parameters):
                args = in_order(self._heading, self.sizes, args, named)
            variant = self._variant_of(args)
            variant.run(args)
        except Failed as failed:
            add_notes(failed)
            raise
        return variant.outputs_of(args)

    def bind(self, /, *args: Any, **named: Any) -> Callable[[], Any]:
        """`run = kernel.bind(A, B, C)`: the call with its arguments checked once. `run()` computes it again
        with what the arrays then hold and returns the outputs; their memory must stay where it is, which
        numpy's `resize` and torch's `resize_` and `set_` change. Arguments that every call copies or reads
        first (arrays with gaps, host arrays for a GPU, arrays of subscripts) are looked at in each run.
        Raises Failed as the call does."""
        with explained():
            placed = in_order(self._heading, self.sizes, args, named)
            return self._variant_of(placed).bound(placed)

    def specialise(self, /, **sizes: int) -> Variant:
        """Builds the function for these values of the open sizes; later calls with them reuse it."""
        with explained():
            if set(sizes) != set(self.sizes):
                names = ", ".join(self.sizes) or "none"
                headline = f"the open sizes of `{self.name}` are {names}; given: {', '.join(sizes) or 'none'}"
                raise Failed(Diagnostic("A101", headline, help="give each of them once"))
            return self._variant(_sizes_of({name: sizes[name] for name in self.sizes}))

    def _variant_of(self, args: Sequence[Any]) -> Variant:
        given = tuple([args[i] for i in self._places]) if self._places else ()
        # 8 and 8.0 are equal, and only one of them is a size
        known = self.variants.get(given) if not given or set(map(type, given)) == _INT else None
        return known or self._variant(_sizes_of(dict(zip(self.sizes, given, strict=True))))

    def _variant(self, sizes: tuple[int, ...]) -> Variant:
        # before the lock, which a fork may have copied while another thread held it
        self.device.ready()
        with self._lock:
            if sizes not in self.variants:
                bound = dict(zip(self.sizes, sizes, strict=True))
                self.variants[sizes] = self._build(
                    replace(self._given, defines={**self._given.defines, **bound})
                )
            return self.variants[sizes]

    def _build(self, given: GivenTexts) -> Variant:
        run, device = self._pipeline, self.device
        if self._tuned is not None:
            given = self._tuned(given)
        program, plan = given.checked(run, device.machine, device.target)
        text = run.emit(run.lower(plan), program, faults_of(device))
        return Variant(program, plan, run.build(device, text), device)


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
