"""Machine code as a value: instructions with the lines of the kernel text that they come from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Instruction:
    """text: as the disassembler writes it. line: of the kernel text, from 1; None if it is not known.
    target: the place among the listing's instructions that it may jump to."""

    text: str
    line: int | None
    target: int | None = None

    @property
    def name(self) -> str:
        """The mnemonic: without predicates, and on NVIDIA GPUs with all its modifiers."""
        words = [w for w in self.text.split() if not w.startswith("@")]
        return words[0].rstrip(";") if words else ""


@dataclass(frozen=True)
class CodeListing:
    """One function. kind: what the instructions are, and who listed them."""

    function: str
    kind: str
    instructions: tuple[Instruction, ...]
