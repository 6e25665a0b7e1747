"""Decides whether a worker that was killed, or crashed, counts against the candidate that it worked on."""

from collections import Counter, deque
from time import monotonic

_SPELL = 60.0
"""Seconds for which kills of other workers count."""
_ALONE, _AMONG_OTHERS = 3, 6
"""The number of kills that a candidate is blamed for: if it alone is hit, and if other workers are killed
too. A candidate that uses up the machine's memory is killed again and again. Somebody who ends processes hits
any of them."""


class Kills:
    """The kills of one bench. Each trial has its own name, so a repeated candidate starts from zero."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()
        self._crashes: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._recent: deque[tuple[float, str]] = deque(maxlen=32)

    def blame(self, name: str) -> bool:
        """Counts a kill; call it once for each. Returns True if the candidate is at fault."""
        self._recent.append((monotonic(), name))
        self._of[name] += 1
        return self._of[name] >= (_AMONG_OTHERS if self._others(name) else _ALONE)

    def overran(self, name: str, *, outside: bool) -> bool:
        """Counts a passed time limit; call it once for each. Returns True if the candidate is at fault.
        outside: its process was stopped or got no processor time, which tells as little of the candidate as a
        kill among others. While processes are being killed, others are slowed down too, so only the second
        limit counts then."""
        if outside:
            self.blame(name)
            return self._of[name] >= _AMONG_OTHERS
        self._late[name] += 1
        return self._late[name] > 1 or not self._others(name)

    def believe(self, name: str) -> bool:
        """Counts a crash or refusal that may come from a lack of memory or files; call it once for each.
        Returns True if the candidate is at fault, which is the third time: two faults of a machine do happen
        to one candidate."""
        self._crashes[name] += 1
        return self._crashes[name] >= _ALONE

    def elsewhere(self) -> None:
        """Records that a process was killed that worked on no candidate."""
        self._recent.append((monotonic(), ""))

    def forget(self, name: str) -> None:
        """Forgets a trial that has ended."""
        del self._of[name], self._crashes[name], self._late[name]

    def _others(self, name: str) -> bool:
        """Whether other workers were killed a short time ago."""
        now = monotonic()
        return any(other != name and now - at < _SPELL for at, other in self._recent)
