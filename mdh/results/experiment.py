"""Experiments of papers as mdh runs them again: what is computed, and what the paper measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mdh.results.comparison import Peer

Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """name: short, as people call it. source: authors, title, place and year."""

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class PaperMachine:
    """A machine of a paper. name: short, for columns. kind: `gpu` or `cpu`."""

    name: str
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class Figure:
    """What a paper measured of one case. against: what its compiler is compared with. ratio: the time of that
    over the time of the paper's compiler, so above 1 the compiler is faster. peer, own: seconds of the two;
    None where the paper prints the ratio alone."""

    machine: PaperMachine
    against: str
    ratio: float
    peer: float | None = None
    own: float | None = None

    @classmethod
    def of_times(cls, machine: PaperMachine, against: str, peer: float, own: float) -> "Figure":
        """The figure of two printed times, in seconds."""
        return cls(machine, against, peer / own, peer, own)


@dataclass(frozen=True, slots=True)
class Total:
    """What a paper says of many cases together. what: `at least as fast`, `least ratio`, `highest ratio`.
    value: as the paper has it. peer: the name of the peer here that it is to be seen beside."""

    machine: PaperMachine
    what: str
    value: str
    peer: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A random array that a program has as a constant. share: of its elements that are not zero."""

    name: str
    shape: tuple[int, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Case:
    """A program at sizes. program: its name as `mdh examples` has it. schedules: by the kind of device; the
    one that mdh derives always takes part. written: schedules of the paper itself, which are peers. peers:
    the libraries beside it."""

    name: str
    program: str
    sizes: Sizes
    peers: tuple[Peer, ...]
    schedules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    constants: tuple[Constant, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table, figure or listing of a paper.

    name: as commands take it. place: in the paper. about: what is computed, and what mdh claims. notes:
    sentences on how this differs from the paper. kinds: of devices that the paper measured. minutes: about
    how long it takes. share: of the minutes, for tuning the holes of schedules. seconds: of timing each
    entry.
    """

    name: str
    paper: Paper
    place: str
    about: str
    cases: tuple[Case, ...]
    kinds: tuple[str, ...]
    minutes: float
    totals: tuple[Total, ...] = ()
    notes: tuple[str, ...] = ()
    share: float = 0.0
    seconds: float = 3.0

    @property
    def machines(self) -> tuple[PaperMachine, ...]:
        """Of the paper, in the order of their first figures."""
        found = [f.machine for c in self.cases for f in c.figures] + [t.machine for t in self.totals]
        return tuple(dict.fromkeys(found))

    @property
    def libraries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.library for c in self.cases for p in c.peers))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table or figure that mdh does not run, and the reason."""

    name: str
    paper: Paper
    place: str
    why: str
