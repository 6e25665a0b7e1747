"""A C function as a callable. Each call specialises it for its sizes, checks arguments and launches it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from threading import Lock
from typing import TYPE_CHECKING, Any

from mdh.api.arguments import scalar_of
from mdh.api.explained import add_notes, explained
from mdh.api.notebook import plan_page
from mdh.api.passing import by_place, in_order
from mdh.api.shaped import MOST_SHAPES, Key, Shaped, is_plain, key_of
from mdh.api.texts import GivenTexts, ReadTexts
from mdh.api.variant import Variant
from mdh.device.faults import faults_of
from mdh.device.protocols import Device, Executable
from mdh.diagnostics import Diagnostic, Failed, labels_at
from mdh.frontend.open_program import closed
from mdh.ir.dtype import I64
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program, Scalar
from mdh.pipeline import Hook, Pipeline
from mdh.schedule.model import SizeCase
from mdh.schedule.printer import print_schedule
from mdh.source import Span

if TYPE_CHECKING:
    from mdh.report.measurement import Timing

Tuned = Callable[[GivenTexts], GivenTexts]
_MOST_OPEN_VARIANTS = 256
"""The most values of open sizes whose calls are kept ready."""


class Kernel:
    """`kernel(*args)` takes the function's parameters in order or by their names, writes outputs in place and
    returns them. Sizes may be left out: they are bound, or the extents of the call's arrays. Results of
    languages that name them may be left out, too: they are allocated where the first array of the call lies.

    texts: what the kernel is made of. name: the C function's name. parameters: their names. sizes: those that
    each call binds, in order. variants: the function at sizes, by tuple of sizes; those that differ in open
    sizes alone share what was built. With a table, the first case whose ranges take the sizes of a call
    serves it. On a GPU, a call on arrays in device memory runs on their stream and may return before the work
    is done, like calls of their libraries. Every other call returns
    when the work is done. Threads may share a kernel. A forked process cannot use it: it raises Failed D107.
    """

    def __init__(
        self,
        texts: ReadTexts,
        device: Device,
        hook: Hook,
        tuned: Tuned | None = None,
    ) -> None:
        """tuned: replaces the schedule before anything is built; None: it stays."""
        given, heading, sizes = texts.given, texts.heading, texts.sizes
        self.device, self.texts = device, texts
        self.name, self.parameters = heading.name, heading.parameters
        self._open = frozenset(given.opens)
        self.sizes = tuple(p for p in self.parameters if p in {*sizes, *self._open})
        self._built: dict[tuple[object, ...], _Built] = {}
        self.variants: dict[tuple[int, ...], Variant] = {}
        self._heading = heading
        # calls with so many arguments give all parameters; none do where the text has them in another order
        other = {*heading.order} == {*self.parameters} and heading.order != self.parameters
        self._count = -1 if other else len(self.parameters)
        self._shaped: dict[Key, Shaped] = {}
        # integers of a call may be sizes, which then decide what serves it
        self._numbers = not {*self.sizes}.isdisjoint(heading.order)
        self._places = tuple(self.parameters.index(name) for name in self.sizes)
        self._given, self._tuned = given, tuned
        self._texts: dict[tuple[object, ...], GivenTexts] = {}
        self._pipeline, self._lock = Pipeline(hook), Lock()

    def __repr__(self) -> str:
        """`<mdh.Kernel scale(n, s, A, B) on opencl:0, built for n=8, n=5>`"""
        built = [
            " ".join(f"{k}={v}" for k, v in zip(self.sizes, sizes, strict=True)) for sizes in self.variants
        ]
        ready = f", built for {', '.join(built)}" if self.sizes and built else ""
        if self._open:
            ready = f", open: {', '.join(sorted(self._open))}"
        return f"<mdh.Kernel {self.name}({', '.join(self.parameters)}) on {self.device.spec}{ready}>"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Runs the function. Returns the output array as given, or a tuple of several in the order of the
        parameters. Raises Failed: A1xx before anything runs, D107 in a forked process, and any error of
        building a new variant."""
        try:
            if named or len(args) != self._count:
                shaped = None if named else self.shaped(args)
                if shaped is not None:
                    return shaped(args)
                args = in_order(self._heading, self.sizes, args, named)
                variant = self._variant_of(args)
                args = variant.with_results(args)
            else:
                variant = self._variant_of(args)
            return variant.run(args)
        except Failed as failed:
            add_notes(failed)
            raise

    @property
    def takes_all(self) -> bool:
        """Whether a call may give all parameters by place, in their order."""
        return self._count >= 0

    def bind(self, /, *args: Any, **named: Any) -> Callable[[], Any]:
        """`run = kernel.bind(A, B, C)`: the call with its arguments checked once. `run()` computes it again
        with what the arrays then hold and returns the outputs; their memory must stay where it is, which
        numpy's `resize` and torch's `resize_` and `set_` change. Arguments that every call copies or reads
        first (arrays with gaps, host arrays for a GPU, arrays of subscripts) are looked at in each run.
        Raises Failed as the call does."""
        with explained():
            placed = in_order(self._heading, self.sizes, args, named)
            variant = self._variant_of(placed)
            return variant.bound(variant.with_results(placed))

    def explain(self, /, *args: Any, **named: Any) -> str:
        """What `mdh explain` prints of the call with these arguments, or of these sizes: stages, loops,
        memory, bytes and the schedule. `kernel.explain(A, B)`, `kernel.explain(M=64, K=64, N=64)`; nothing is
        given where all sizes are bound. It builds the kernel if no call has. Raises Failed as the call
        does."""
        with explained():
            if not args and named.keys() == {*self.sizes}:
                plan = self.specialise(**named).plan
            else:
                plan = self._variant_of(in_order(self._heading, self.sizes, args, named)).plan
            # no call needs the report
            text: str = import_module("mdh.report.text").plan_text(plan, self._pipeline.lower(plan))
            return text

    @property
    def source(self) -> str:
        """The text of the kernels that the last new sizes were built as. Raises Failed A101 if there are
        none."""
        return self._latest().source

    @property
    def schedule(self) -> str:
        """The schedule of these kernels."""
        return self._latest().schedule

    def time(self, /, *args: Any, samples: int = 10, **named: Any) -> "Timing":
        """The times of a call with these arguments: one call after another, and such before which the caches
        were evicted. Each computes again, into the same arrays. Raises Failed as the call does."""
        with explained():
            placed = in_order(self._heading, self.sizes, args, named)
            variant = self._variant_of(placed)
            bound = variant.binder.bind(variant.with_results(placed))
            call = variant.built.call(bound.arrays, bound.scalars)

            def sample() -> tuple[float | None, float]:
                one = call.sample()
                return one.device, one.wall

            found: Timing = import_module("mdh.report.measurement").measure(
                sample, self.device.flush, samples
            )
            return found

    def save(self, folder: str | PathLike[str]) -> None:
        """Writes the kernels that the last new sizes were built as into a folder: that of `mdh compile`,
        which needs no mdh, and what `mdh.load(folder)` needs. Raises Failed F111, and A101 if there are
        none."""
        with explained():
            import_module("mdh.api.saving").save(self.texts.given, self.sizes, self._latest(), folder)

    def _repr_html_(self) -> str | None:
        """The picture of these kernels, which notebooks show. None: there are none yet."""
        if not self.variants:
            return None
        variant = self._latest()
        return plan_page(variant.plan, variant.built.text)

    def _latest(self) -> Variant:
        if not self.variants and self.sizes:
            headline = f"`{self.name}` is not built: no call has told {', '.join(self.sizes)}"
            hint = f"kernel.specialise({', '.join(f'{n}=64' for n in self.sizes)})"
            raise Failed(Diagnostic("A101", headline, help=hint))
        return next(reversed(self.variants.values()), None) or self._variant(())

    def shaped(self, args: tuple[Any, ...]) -> Shaped | None:
        """The calls on arrays of these types and shapes, and with these integers where they may be sizes;
        built if they are the first ones. None: a call is to be looked at on its own. Raises Failed as the
        call does."""
        try:
            key = key_of(args, self._numbers)
            known = self._shaped.get(key)
        except Exception:  # the arrays' own methods may raise anything, which the call tells in words
            return None
        if known is not None:
            return known
        given = by_place(self._heading, self.sizes, args) if is_plain(args) else None
        if given is None or not (self._numbers or {*self.sizes}.isdisjoint(given)):
            return None
        placed = in_order(self._heading, self.sizes, args, {})
        found = Shaped(self._variant_of(placed), given, args, placed)
        # before the lock, as in `_variant`
        self.device.ready()
        with self._lock:
            while len(self._shaped) >= MOST_SHAPES:
                del self._shaped[next(iter(self._shaped))]
            self._shaped[key] = found
        return found

    def specialise(self, /, **sizes: int) -> Variant:
        """Builds the function for these values of the open sizes; later calls with them reuse it."""
        with explained():
            if set(sizes) != set(self.sizes):
                names = ", ".join(self.sizes) or "none"
                headline = f"the open sizes of `{self.name}` are {names}; given: {', '.join(sizes) or 'none'}"
                raise Failed(Diagnostic("A101", headline, help="give each of them once"))
            return self._variant(_sizes_of({name: sizes[name] for name in self.sizes}))

    def _variant_of(self, args: Sequence[Any]) -> Variant:
        if not self._places:
            return self.variants.get(()) or self._variant(())
        given = tuple([args[i] for i in self._places])
        for size in given:
            if type(size) is not int:
                # 8 and 8.0 are equal, and only one of them is a size; arrays are no keys
                return self._variant(_sizes_of(dict(zip(self.sizes, given, strict=True))))
        known = self.variants.get(given)
        return known or self._variant(_sizes_of(dict(zip(self.sizes, given, strict=True))))

    def _variant(self, sizes: tuple[int, ...]) -> Variant:
        # before the lock, which a fork may have copied while another thread held it
        self.device.ready()
        with self._lock:
            if sizes not in self.variants:
                bound = dict(zip(self.sizes, sizes, strict=True))
                free = {name: value for name, value in bound.items() if name not in self._open}
                built = self._of(free, bound)
                program = at_sizes(built.program, bound)
                while self._open and len(self.variants) >= _MOST_OPEN_VARIANTS:
                    del self.variants[next(iter(self.variants))]
                self.variants[sizes] = Variant(program, built.plan, built.executable, self.device)
            return self.variants[sizes]

    def build(self) -> None:
        """Builds the function, for all cases of a table. Requires that no size is left out of the defines."""
        with explained():
            if not self.sizes:
                self._variant(())
                return
            self.device.ready()
            with self._lock:
                given = self._texts_of({})
                for case in given.table.cases if given.table else (None,):
                    self._of_case({}, given, case)

    def prepare(self) -> None:
        """Builds the only kernel; a default table is derived, and later calls build its cases. Requires that
        no size is left out of the defines."""
        with explained():
            self.device.ready()
            with self._lock:
                table = self._texts_of({}).table
            if table is None:
                self.build()

    @property
    def table(self) -> str | None:
        """The text of the table whose cases serve the calls; None for other schedules, and where the defines
        leave sizes out."""
        if self._open != {*self.sizes}:
            return None
        self.prepare()
        given = self._texts_of({})
        return None if given.table is None else print_schedule(given.table.schedule)

    def _texts_of(self, free: Mapping[str, int]) -> GivenTexts:
        """The given texts for these values of the sizes that the defines leave out, with the default schedule
        if that is a table."""
        key = tuple(free.values())
        if key not in self._texts:
            given = replace(self._given, defines={**self._given.defines, **free})
            if self._tuned is None:
                given = given.with_default(self._pipeline, self.device.machine, self.device.target)
            self._texts[key] = given
        return self._texts[key]

    def _of(self, free: Mapping[str, int], sizes: Mapping[str, int]) -> "_Built":
        """What is built for these values of the sizes that the defines leave out. sizes: all of the call."""
        given = self._texts_of(free)
        if given.table is None:
            return self._of_case(free, given, None)
        if given.table.schedule.derived:
            _demand_inside(given.ranges, sizes)
        return self._of_case(free, given, given.table.at(sizes))

    def _of_case(self, free: Mapping[str, int], given: GivenTexts, case: SizeCase | None) -> "_Built":
        if given.table is not None and case is not None:
            given = given.of_case(given.table, case)
        key = (*free.values(), given.ranges)
        if key not in self._built:
            self._built[key] = self._build(given)
        return self._built[key]

    def _build(self, given: GivenTexts) -> "_Built":
        run, device = self._pipeline, self.device
        if self._tuned is not None:
            given = self._tuned(given)
        program, plan = given.checked(run, device.machine, device.target)
        text = run.emit(run.lower(plan), program, faults_of(device))
        return _Built(program, plan, run.build(device, text))


@dataclass(frozen=True)
class _Built:
    """A program, its plan and the machine code, all with what sizes stay open."""

    program: Program
    plan: Plan
    executable: Executable


def at_sizes(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with its open sizes bound. Raises Failed A111 for values that are not in their ranges."""
    _demand_inside(program.opens, sizes, {s.name: s.span for s in program.scalars})
    return closed(program, sizes) if program.opens else program


def _demand_inside(
    opens: Sequence[OpenSize], sizes: Mapping[str, int], places: Mapping[str, Span | None] = {}
) -> None:
    """Raises Failed A111 for values that are not in the ranges of their sizes."""
    found = [
        Diagnostic(
            "A111", f"the open size `{size.name}` is given as {sizes[size.name]}",
            labels_at(places.get(size.name)), help=f"its kernel takes {size.legal}",
        )
        for size in opens
        if not size.takes(sizes[size.name])
    ]  # fmt: skip
    if found:
        raise Failed(*found)


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
