"""Candidates to machine code, in processes beside the one that has the GPU."""

from dataclasses import dataclass

from experiments.fit_default.candidates import schedule_of
from experiments.fit_default.choice import problem
from experiments.fit_default.rows import Sizes, tile_of
from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.model import Schedule
from mdh.target.emit import emit
from mdh.target.nvrtc import compile_cubin
from mdh.target.text import KernelText


@dataclass(frozen=True)
class Code:
    """registers: of a thread, 0 where the compiler did not say; spilled: bytes."""

    text: KernelText
    image: bytes
    registers: int
    spilled: int


def build(machine: str, sizes: Sizes, tile: list[int], parts: int, *, adding: bool = False) -> Code | str:
    """A candidate's code, or why there is none."""
    model = load_machine(machine)
    one = problem(sizes, model)
    plan = one.plan(tile_of(tile), parts, adding=adding)
    if plan is None:
        return "the sum does not go into so many parts"
    return compiled(one.shape.program, schedule_of(one, plan, model), model)


def compiled(program: Program, schedule: Schedule, model: Machine) -> Code | str:
    """A schedule's code, or why it is refused."""
    try:
        legal = check(program, schedule, model, "cuda")
        text = emit(lower(legal), program)
        cubin = compile_cubin(text, model.arch)
    except Failed as failed:
        return f"{failed.diagnostics[0].code} {failed.diagnostics[0].headline}"
    return Code(text, cubin.image, cubin.registers, cubin.spill_bytes)
