"""What a row of the table about reliability is, and what came of it: values, kept as JSON between runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """How rows are run. scale: share of each row's number; out: where their results are kept; jobs:
    processes at once, where a row can use several; gpu: this machine has an NVIDIA GPU to use; minutes: a
    long search ends after so many (None: at its number)."""

    out: Path
    scale: float = 1.0
    seed: int = 0
    device: str = "opencl:0"
    jobs: int = 1
    gpu: bool = False
    minutes: float | None = None

    def number(self, full: int, least: int = 1) -> int:
        """So many of `full` as the scale asks for."""
        return full if self.scale >= 1 else max(least, round(full * self.scale))


@dataclass(frozen=True, slots=True)
class Found:
    """What a run of a row found. figure: the numbers, in words; good: the target is kept; ran, full: how many
    of how many; notes: what a reader must know to judge the figure."""

    figure: str
    good: bool
    ran: int
    full: int
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """`met` only at the full number; a target that is missed is missed at any."""
        if not self.good:
            return "short"
        return "met" if self.ran >= self.full else "in part"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. shown: the command or page that shows it; run: None where another command of
    the project is the test; read: the figures of its page, from the page's text; command: the words that
    write that page at a scale; gpu: it needs one."""

    id: str
    test: str
    target: str
    shown: str
    run: Callable[[Setting], Found] | None = None
    page: str | None = None
    read: Callable[[str], Found] | None = None
    command: Callable[[Setting, Path], list[str]] | None = None
    gpu: bool = False


def keep(setting: Setting, row: str, found: Found) -> None:
    """In `ROW.json`, moved into place in one step."""
    setting.out.mkdir(parents=True, exist_ok=True)
    path = setting.out / f"{row}.json"
    body = {"row": row, **asdict(found), "scale": setting.scale, "seed": setting.seed}
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(path)


def kept(out: Path, row: str) -> Found | None:
    """What an earlier run has kept; None where it kept nothing that can be read."""
    try:
        body = json.loads((out / f"{row}.json").read_text(encoding="utf-8"))
        return Found(body["figure"], body["good"], body["ran"], body["full"], tuple(body["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass
class Parts:
    """The parts of a long row that are done, one JSON line each: a run that was ended goes on after them."""

    path: Path
    done: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(setting: Setting, row: str) -> "Parts":
        path = setting.out / "parts" / f"{row}.jsonl"
        return Parts(path, Parts.read(path))

    @staticmethod
    def read(path: Path) -> dict[str, Any]:
        done: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    key, value = json.loads(line)
                except ValueError:
                    # the last line of a run that was killed
                    continue
                done[key] = value
        return done

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The value of a part, made now where no run has."""
        if key not in self.done:
            self.put(key, make())
        return self.done[key]

    def put(self, key: str, value: Any) -> None:
        self.done[key] = value
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, value]) + "\n")

    def all(self) -> Mapping[str, Any]:
        return self.done
