"""What a schedule is refused for."""

from dataclasses import dataclass

from mdh.ir.program import Program


@dataclass(frozen=True)
class Case:
    """found: the codes and places of the messages."""

    program: Program
    text: str
    found: list[str]
    machine: str = "a100"
    target: str = "cuda"
    deterministic: bool = False
