"""What the code of one kernel declares while it is written: its names, and its buffers in shared memory.

This is the part of a kernel's lowering that changes. Everything else is a frozen value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from mdh.hardware import Space
from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import U32, U64
from mdh.ir.kernel import Buf
from mdh.ir.names import fresh
from mdh.lower.names import Names


@dataclass(frozen=True, slots=True)
class TokenRing:
    """The tokens of a step's slots, and the register that counts the turns of all its loops.

    filled: a phase ends when a slot has been filled; free: when all who read it have. None: barriers say
    that. readers: how many threads arrive at a token of `free`. each: turns in a tile of the grid. first: the
    variable with the turn that a tile begins with, where threads take tiles by turns.
    """

    filled: Buf
    free: Buf | None
    turn: Buf
    readers: int
    each: int = 1
    first: str = ""

    @property
    def slots(self) -> int:
        return self.filled.shape[0]


@dataclass(frozen=True, slots=True)
class TeamTurns:
    """Where teams of threads take tiles by turns. token: by team, a phase ends when it is its turn. tile: the
    register that numbers the tiles of the block. team: the variable with the number of the thread's team."""

    token: Buf
    tile: Buf
    team: str


@dataclass(slots=True)
class Declarations:
    """names: in use in the kernel, or not to be hidden by it. shared: SM buffers by name, in their order.

    synchronised: SM buffers whose barriers stand in the code already. slack: elements behind the last one of
    an SM buffer that may be read, too.
    """

    module: Names
    names: set[str]
    shared: dict[str, Buf] = field(default_factory=dict)
    synchronised: set[str] = field(default_factory=set)
    slack: dict[str, int] = field(default_factory=dict)
    rings: dict[int, TokenRing] = field(default_factory=dict)
    """Of the steps whose parts the copy engine brings, by number."""
    maps: dict[TensorMap, TensorMap] = field(default_factory=dict)
    """By what they say, with no name yet."""
    fragments: dict[str, Buf] = field(default_factory=dict)
    """Registers of factors that atoms still read in the next turn of a loop, by the array."""
    _turns: TeamTurns | None = None
    _asked: dict[Buf, Buf] = field(default_factory=dict)
    """The declared buffer of each one that was asked for."""

    def fresh(self, stem: str) -> str:
        return fresh(stem, self.names)

    def workspace(self, stem: str) -> str:
        """A name for device memory of this kernel and those that follow it."""
        name = self.module.workspace(stem, self.names)
        self.names.add(name)
        return name

    def declare(self, buf: Buf) -> Buf:
        """An SM buffer: one declaration serves every version of the code that uses it."""
        if buf not in self._asked:
            new = replace(buf, name=self.fresh(buf.name))
            self._asked[buf] = self.shared[new.name] = new
        return self._asked[buf]

    def with_slots(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> Buf | None:
        """The buffer that was declared as `name` with slots of this shape."""
        found = (new for asked, new in self._asked.items() if asked.name == name)
        return next((b for b in found if (b.shape[1:], b.strides[1:]) == (shape, strides)), None)

    def synchronise(self, bufs: Iterable[Buf]) -> None:
        self.synchronised.update(b.name for b in bufs)

    def turns(self, teams: int) -> TeamTurns:
        """What the kernel's teams, of which there are so many, take turns by."""
        if self._turns is None:
            token = self.declare(Buf("turn_of", Space.SM, U64, (teams,), (1,), align=8))
            self.synchronise([token])
            tile = Buf(self.fresh("tile_number"), Space.RM, U32, (), ())
            self._turns = TeamTurns(token, tile, self.fresh("team"))
        return self._turns

    def map_of(self, said: TensorMap) -> TensorMap:
        """The parameter that says this of an array; `said` has no name."""
        if said not in self.maps:
            self.maps[said] = replace(said, name=self.fresh(f"{said.buffer}_map"))
        return self.maps[said]

    def extend(self, slack: Mapping[str, int]) -> None:
        """Give buffers at least so many elements of slack."""
        self.slack = {**self.slack, **{n: max(count, self.slack.get(n, 0)) for n, count in slack.items()}}

    @property
    def with_slack(self) -> dict[str, Buf]:
        """The SM buffers as they are in the end."""
        return {n: replace(b, slack=self.slack.get(n, 0)) for n, b in self.shared.items()}
