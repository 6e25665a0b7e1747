"""What a warp does with the copy engine, in the interpreter: tokens, boxes, barriers and registers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mdh.hardware import SyncScope
from mdh.ir.copy_engine import (
    Arrive,
    Await,
    BoxCopy,
    BoxStore,
    CopyEngineStmt,
    Expect,
    InitTokens,
    SetRegisters,
    StoreCommit,
    StoreFence,
    StoreWait,
    TokensReady,
)
from tests.atoms.blocks import Array, Meeting, Pause
from tests.atoms.box_stores import Leaving, Stores
from tests.atoms.lanes import Lanes

GROUP_WARPS = 4


@dataclass
class Boxes(Lanes):
    """registers_held: those of each thread."""

    registers_held: int = 0
    leaving: dict[int, Stores] = field(default_factory=dict)
    """Of its lanes."""

    def engine_word(self, s: CopyEngineStmt, mask: Array) -> Iterator[Pause | None]:
        block = self.block
        yield None
        match s:
            case InitTokens(buffer, arrivals):
                assert mask.sum() == 1, "tokens are initialised by several threads"
                block.init(buffer, arrivals)
            case TokensReady():
                for token in block.tokens.values():
                    token.ready = True
            case Expect(buffer, index, count):
                for at in self.offset(self.bufs[buffer], index)[mask]:
                    token = block.token(buffer, int(at))
                    token.expect(count)
                    token.arrive()
            case Arrive(buffer, index, rank):
                ranks = np.broadcast_to(
                    np.asarray(block.rank if rank is None else self.value(rank)), mask.shape
                )
                for at, there in zip(self.offset(self.bufs[buffer], index)[mask], ranks[mask], strict=True):
                    block.cluster.blocks[there].token(buffer, int(at)).arrive()
            case Await():
                yield from self.wait(s, mask)
            case BoxCopy():
                self.box(s, mask)
            case SetRegisters(count, more):
                assert mask.all(), "registers that only some lanes ask for"
                yield from self.set_registers(count, more=more)

    def meeting(self, scope: SyncScope) -> Meeting:
        if scope is SyncScope.GROUP:
            return self.block.groups[self.number // GROUP_WARPS]
        return self.block.cluster.meeting if scope is SyncScope.CLUSTER else self.block.meeting

    def store_word(self, s: BoxStore | StoreFence | StoreCommit | StoreWait, mask: Array) -> None:
        match s:
            case BoxStore():
                said = next(m for m in self.kernel.maps if m.name == s.map)
                places = self.offset(self.bufs[s.src], s.index)
                starts = [np.broadcast_to(np.asarray(self.value(e)), mask.shape) for e in s.start]
                for lane in np.flatnonzero(mask):
                    place = self.block.shared.address(s.src, int(places[lane]))
                    start = tuple(int(x[lane]) for x in starts)
                    self.stores(lane).add(Leaving(said, start, self.block, s.src, place))
            case StoreFence():
                assert mask.all()
                self.block.shared.fence(self.number)
            case StoreCommit():
                for lane in np.flatnonzero(mask):
                    self.stores(lane).commit()
            case StoreWait(pending, ended):
                for lane in np.flatnonzero(mask):
                    self.stores(lane).wait(pending, self.memory, stored=ended)

    def stores(self, lane: int) -> Stores:
        return self.leaving.setdefault(int(lane), Stores(self.block.cluster.order))

    def wait(self, s: Await, mask: Array) -> Iterator[Pause | None]:
        slots = self.offset(self.bufs[s.buffer], s.index)
        parities = np.broadcast_to(np.asarray(self.value(s.parity)), mask.shape)
        pairs = {(int(a), int(p)) for a, p in zip(slots[mask], parities[mask], strict=True)}
        tokens = [(self.block.token(s.buffer, slot), parity) for slot, parity in pairs]

        def over() -> bool:
            return all(token.ended(parity) for token, parity in tokens)

        said = ", ".join(f"{s.buffer}[{slot}] with parity {parity}" for slot, parity in sorted(pairs))
        while not over():
            yield Pause(over, f"awaits {said}")

    def box(self, s: BoxCopy, mask: Array) -> None:
        places, slots = self.offset(self.bufs[s.dst], s.index), self.offset(self.bufs[s.token], s.slot)
        starts = [np.broadcast_to(np.asarray(self.value(e)), mask.shape) for e in s.start]
        peers = np.broadcast_to(np.asarray(0 if s.peers is None else self.value(s.peers)), mask.shape)
        blocks = self.block.cluster.blocks
        for lane in np.flatnonzero(mask):
            start = tuple(int(x[lane]) for x in starts)
            assert 0 <= peers[lane] < 1 << len(blocks), "a box for a block that the cluster does not have"
            to = [self.block] if s.peers is None else [b for b in blocks if peers[lane] >> b.rank & 1]
            for block in to:
                landing = block.box(s, start, int(places[lane]), int(slots[lane]))
                block.cluster.landings.append(landing)

    def set_registers(self, count: int, *, more: bool) -> Iterator[Pause | None]:
        wanted = (count - self.registers_held) * self.lanes
        assert count % 8 == 0 and 24 <= count < 256, "a number of registers that there is not"
        assert wanted >= 0 if more else wanted <= 0, "registers are given back by asking for more, or so"
        while self.block.registers < wanted:
            yield Pause(lambda: self.block.registers >= wanted, f"asks for {wanted} registers")
        self.block.registers -= wanted
        self.registers_held = count
