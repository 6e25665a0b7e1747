"""The pipeline: the stages from texts to a kernel, in order, and the one hook between them.

read → validate → schedule → bind, default → check → lower → emit → build
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Protocol, TypeVar

from mdh.checker.open_default import default_for
from mdh.checker.open_table import default_table
from mdh.checker.run import check
from mdh.device.protocols import Device, Executable
from mdh.frontend.consent import consented
from mdh.frontend.open_defines import parameters_of, split_defines, with_ranges
from mdh.frontend.read import bound_text, read_bound
from mdh.ir.kernel import Module
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.passes.table import Observer, unobserved
from mdh.lower.run import lower
from mdh.machine import Machine
from mdh.schedule.binding import bind
from mdh.schedule.cases import demand_one
from mdh.schedule.model import Library, Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.faults import CompilerFaults
from mdh.target.text import KernelText
from mdh.verify.translation import validate

Value = Program | Schedule | Plan | Module | KernelText
T = TypeVar("T", bound=Value)


class Hook(Protocol):
    """Called after each stage with its name, its value (None: machine code) and its seconds."""

    def __call__(self, stage: str, value: Value | None, seconds: float, /) -> None: ...


def silent(stage: str, value: Value | None, seconds: float, /) -> None:
    """The hook that does nothing."""


@dataclass(frozen=True)
class Checked:
    """A legal plan. derived: the stages whose schedule mdh made, because the user gave none. stages: how many
    the C has. loops: whether the user gave steps of loops around stages."""

    plan: Plan
    derived: tuple[str, ...]
    stages: int
    loops: bool = False

    @property
    def given(self) -> bool:
        """Whether the user gave a schedule for some stage or loop."""
        return len(self.derived) < self.stages or self.loops


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages. Each returns its value, or raises Failed with what it found; nothing runs after that."""

    hook: Hook = silent
    observe: Observer = unobserved
    """Called with every kernel between the passes of the lowering."""

    def read(
        self,
        source: Source,
        *,
        defines: Mapping[str, str | int | OpenSize] = {},
        function: str | None = None,
        strict_fp: bool = False,
        allow: Iterable[str] = (),
        ranges: Sequence[OpenSize] = (),
    ) -> Program:
        """The program, after comparing it with its text on small sizes. ranges: of a case of a table; their
        sizes are parameters of the program, also those of one value. Raises Failed F119 for words of `allow`
        that mean nothing."""
        bound, opens = split_defines(source, with_ranges(defines, ranges))
        text, allowed = bound_text(source, bound, parameters_of(opens, ranges)), consented(allow)
        program = self._run(
            "program",
            lambda: read_bound(text, function=function, strict_fp=strict_fp, allow=allowed, opens=opens),
        )
        start = perf_counter()
        if program.looks_up:
            # numpy is imported only if there is something to look at
            import_module("mdh.verify.index_data").check_constant_indices(program)
        validate(text, program)
        self.hook("validation", None, perf_counter() - start)
        return program

    def schedule(self, source: Source, values: Mapping[str, int | str] = {}) -> Schedule:
        """The schedule with the named holes bound to `values`."""
        return self._run("schedule", lambda: bind(parse_schedule(source), values))

    def check(
        self,
        program: Program,
        given: Schedule | None,
        machine: Machine,
        target: str,
        *,
        deterministic: bool = False,
    ) -> Checked:
        """The plan of the given schedule. Stages that it leaves out get the default one. Raises Failed S157
        for a table, of which one case is needed."""
        demand_one(given)
        sections = () if given is None else given.sections
        named = {s.name for s in sections}
        left = () if None in named else tuple(s.name for s in program.stages if s.name not in named)
        default, made = None, given is not None and given.derived
        if not made and (left or any(s.derived and not isinstance(s.how, Library) for s in sections)):
            default = default_for(program, machine, target, deterministic=deterministic, given=given)
        chosen = given or default
        assert chosen is not None
        if given is None:
            self.hook("schedule", chosen, 0.0)
        plan = self._run(
            "plan",
            lambda: check(program, chosen, machine, target, deterministic=deterministic, default=default),
        )
        derived = tuple(s.name for s in program.stages) if made else left
        loops = given is not None and bool(given.loops) and not made
        return Checked(plan, derived, len(program.stages), loops)

    def default_of(
        self, program: Program, machine: Machine, target: str, *, deterministic: bool = False
    ) -> Schedule | None:
        """The default schedule of a program with open sizes, if these make it a table, or one that `check`
        does not take without a schedule."""
        if not program.opens:
            return None
        start = perf_counter()
        found = default_table(program, machine, target, deterministic=deterministic)
        if found is not None:
            self.hook("schedule", found, perf_counter() - start)
        return found

    def lower(self, plan: Plan) -> Module:
        return self._run("kernel", lambda: lower(plan, self.observe))

    def emit(self, module: Module, program: Program, faults: CompilerFaults | None = None) -> KernelText:
        """The text of a module. faults: of the device that it is for; None if it may run anywhere."""
        return self._run("text", lambda: emit(module, program, faults))

    def build(self, device: Device, text: KernelText) -> Executable:
        start = perf_counter()
        built = device.build(text)
        self.hook("build", None, perf_counter() - start)
        return built

    def _run(self, stage: str, arrow: Callable[[], T]) -> T:
        start = perf_counter()
        value = arrow()
        self.hook(stage, value, perf_counter() - start)
        return value
