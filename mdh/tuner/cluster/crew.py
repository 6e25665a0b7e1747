"""The workers that take part. They are equal in device and versions and do not share devices; some join
during a tuning.

Only times of equal devices are comparable, and a schedule gives the same kernel only with the same mdh and
compilers. So workers that differ are named and left out.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from time import monotonic

from mdh.diagnostics import Failed
from mdh.results.trial import Job
from mdh.schema import convert
from mdh.tuner.cluster.inventory import Inventory, dead, fingerprint, holder, named
from mdh.tuner.cluster.link import Link
from mdh.tuner.cluster.member import Member, key, unlike
from mdh.tuner.cluster.refusals import WorkerLostError, emptied, nobody
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.posts import START
from mdh.tuner.measure.wire import read_failed, read_ground

_JOIN = 20.0
"""Seconds that workers get to open their devices after the first has. Later ones join during the tuning."""
_FIRST = 30.0
"""Seconds that an empty cluster gets for its first worker."""
_RETURN = 60.0
"""Seconds that a cluster without workers gets for a new one, because nannies restart them."""
_LOOK = 2.0
_BEAT = 15.0
_STRIKES = 3
"""Losses after which an address is excluded for good."""


class Crew:
    """session: identifies this tuning to the workers. asked: devices; empty lets the workers choose. say:
    called with remarks for the user."""

    def __init__(
        self, link: Link, session: str, job: Job, asked: tuple[str, ...], jobs: int | None,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.link, self.session, self.say = link, session, say
        self.job, self.asked, self.jobs = job, asked, jobs
        self.members: dict[str, Member] = {}
        self.ground: Ground | None = None
        self.failed: Failed | None = None
        self._mdh = fingerprint()
        self._known: dict[str, Inventory] = {}
        self._begun: set[str] = set()
        self._aside: dict[str, str] = {}
        self._held: dict[str, str] = {}
        self._strikes: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self._empty_since: float | None = None
        self._watch: asyncio.Task[None] | None = None
        self._join: asyncio.Task[None] | None = None

    @property
    def slots(self) -> int:
        return sum(m.slots for m in self.members.values())

    async def gather(self) -> None:
        """Finds the first members: the largest group of equal workers. Raises Failed F202, F203."""
        end = monotonic() + _FIRST
        while not (seen := await self.link.workers()) and monotonic() < end:
            await asyncio.sleep(0.2)
        opened = await self._opened(await self._looked(seen))
        groups = Counter(key(m.ground) for m in opened)
        if not opened:
            raise nobody(self.link.address, {**self._aside, **self._held})
        most = max(groups.values())
        first = next(m for m in opened if groups[key(m.ground)] == most)
        self.ground = first.ground
        for member in opened:
            await self._take(member)
        self._watch = asyncio.create_task(self._keep())

    async def close(self) -> None:
        for task in (self._watch, self._join):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        ends = (self._end(address) for address in self._begun)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*ends), 1.5)

    async def seat(self) -> Member:
        """A member with a free slot, the least busy. Raises Failed F203, F204, or the reason why the last one
        was lost."""
        async with self._changed:
            while True:
                if self.failed is not None:
                    raise self.failed
                free = [m for m in self.members.values() if m.busy < m.slots]
                if free:
                    chosen = min(free, key=lambda m: (m.busy / m.slots, m.address))
                    chosen.busy += 1
                    return chosen
                await self._changed.wait()

    async def leave(self, member: Member) -> None:
        async with self._changed:
            member.busy -= 1
            self._changed.notify_all()

    async def lose(self, member: Member, why: str) -> None:
        """Removes a member that may return, because a nanny restarts its process."""
        if self.members.pop(member.address, None) is member:
            self._begun.discard(member.address)
            self._strike(member.address, member.host, why, silent=True)
            self.say(f"worker {member.address} on {member.host} is lost: {why}; its trials run elsewhere")
            member.gone.set()
            await self._wake()

    async def retire(self, member: Member, failed: Failed) -> None:
        """Removes a member whose machine cannot measure any more."""
        if self.members.pop(member.address, None) is member:
            self._aside[member.address] = str(failed)
            self.say(f"worker {member.address} on {member.host} gives up: {failed}")
            if not self.members:
                self.failed = self.failed or failed
            member.gone.set()
            await self._wake()
            await self._end(member.address)

    async def fail(self, failed: Failed) -> None:
        """Ends everything: nothing can be measured any more."""
        self.failed = self.failed or failed
        for member in self.members.values():
            member.gone.set()
        await self._wake()

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _keep(self) -> None:
        """Removes lost workers, adds new ones, and tells the others that the tuner lives."""
        beaten = monotonic()
        try:
            while True:
                await asyncio.sleep(_LOOK)
                seen = await self.link.workers()
                for member in [m for m in self.members.values() if m.address not in seen]:
                    await self.lose(member, "the scheduler has lost it")
                if self._join is None or self._join.done():
                    self._join = asyncio.create_task(self._joined(seen - self.members.keys()))
                if monotonic() - beaten > _BEAT:
                    beaten = monotonic()
                    await asyncio.gather(*(self._beat(m) for m in list(self.members.values())))
                self._mind_emptiness()
                if self.failed is not None:
                    await self.fail(self.failed)
                    return
        except Failed as failed:
            await self.fail(failed)

    async def _joined(self, seen: frozenset[str]) -> None:
        try:
            for member in await self._opened(await self._looked(seen)):
                await self._take(member)
        except Failed as failed:
            await self.fail(failed)

    def _mind_emptiness(self) -> None:
        if self.members:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = monotonic()
            self.say(f"no worker is left; {_RETURN:.0f} s for one to come")
        elif monotonic() - self._empty_since > _RETURN:
            self.failed = emptied(self.link.address)

    async def _looked(self, seen: frozenset[str]) -> dict[str, Inventory]:
        """The workers that may be opened: of the same mdh, with devices that no other worker has."""
        new = sorted(a for a in seen if a not in self._aside)
        found = await asyncio.gather(*(self._inventory(address) for address in new))
        taken = {p for m in self.members.values() for p in m.places}
        out: dict[str, Inventory] = {}
        for address, inventory in zip(new, found, strict=True):
            if inventory is None:
                continue
            specs = inventory.chosen(self.asked)
            if inventory.mdh != self._mdh:
                self._set_aside(address, inventory.host, f"it has mdh {inventory.mdh}, not {self._mdh}")
            elif not specs:
                self._set_aside(address, inventory.host, "it has no device")
            elif taken & (places := inventory.places(specs)):
                self._hold(address, inventory.host, "another worker has its device; it stands by")
            else:
                taken |= places
                out[address] = inventory
        return out

    async def _inventory(self, address: str) -> Inventory | None:
        if address in self._known:
            return self._known[address]
        try:
            self._known[address] = convert(await self.link.ask(address, {"do": "look"}), Inventory)
            return self._known[address]
        except WorkerLostError as error:
            self._strike(address, address, str(error))
        except (LookupError, TypeError, ValueError):
            self._set_aside(address, address, "it gives no answer that a worker of mdh gives")
        return None

    async def _opened(self, found: dict[str, Inventory]) -> list[Member]:
        """Opens workers in the order of their addresses. Slow ones are tried again at the next look."""
        tasks = [asyncio.create_task(self._begin(a, found[a])) for a in sorted(found)]
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks, timeout=START, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait(tasks, timeout=_JOIN)
            return [m for t in tasks if t.done() and (m := t.result()) is not None]
        finally:
            for task in tasks:
                task.cancel()

    async def _begin(self, address: str, inventory: Inventory, force: str = "") -> Member | None:
        specs = inventory.chosen(self.asked)
        request = {
            "do": "begin", "session": self.session, "holder": holder(),
            "job": asdict(self.job), "devices": list(specs), "jobs": self.jobs, "force": force,
        }  # fmt: skip
        self._begun.add(address)
        try:
            reply = await self.link.ask(address, request)
        except WorkerLostError as error:
            self._strike(address, inventory.host, str(error))
            return None
        if "failed" in reply:
            self._set_aside(address, inventory.host, str(read_failed(reply["failed"])))
            return None
        if "lost" in reply:
            # the worker was told that this tuning is over
            return None
        if "busy" in reply:
            if not force and dead(reply["holder"]):
                return await self._begin(address, inventory, reply["busy"])
            self._hold(address, inventory.host, f"it serves {named(reply['holder'])}")
            return None
        try:
            ground = read_ground(reply)
        except Failed as failed:
            self._set_aside(address, inventory.host, f"its machine is none: {failed}")
            return None
        return Member(address, inventory.host, reply["slots"], ground, inventory.places(specs))

    async def _take(self, member: Member) -> None:
        assert self.ground is not None
        why = unlike(member.ground, self.ground)
        if why:
            self._set_aside(member.address, member.host, why)
            self._begun.discard(member.address)
            await self._end(member.address)
            return
        self._held.pop(member.address, None)
        self.members[member.address] = member
        self.say(f"worker {member.address} on {member.host} takes part: {member.ground.title}")
        await self._wake()

    async def _beat(self, member: Member) -> None:
        try:
            reply = await self.link.ask(member.address, {"do": "beat", "session": self.session})
        except WorkerLostError as error:
            await self.lose(member, str(error))
        else:
            if "lost" in reply:
                await self.lose(member, "its bench was closed")

    async def _end(self, address: str) -> None:
        with suppress(Failed, WorkerLostError):
            await self.link.ask(address, {"do": "end", "session": self.session})

    def _strike(self, address: str, host: str, why: str, *, silent: bool = False) -> None:
        """Counts a loss of a worker. It is excluded after three losses."""
        self._known.pop(address, None)
        self._strikes[address] += 1
        if self._strikes[address] >= _STRIKES:
            self._set_aside(address, host, why)
        elif not silent:
            self._hold(address, host, why)

    def _set_aside(self, address: str, host: str, why: str) -> None:
        """Excludes a worker for good."""
        self._held.pop(address, None)
        self._aside[address] = why
        self.say(f"worker {address} on {host} takes no part: {why}")

    def _hold(self, address: str, host: str, why: str) -> None:
        """Leaves a worker out until its reason changes."""
        if self._held.get(address) != why:
            self._held[address] = why
            self.say(f"worker {address} on {host} takes no part yet: {why}")
