"""The two published programs: what they parse to, and that they stand as printed."""

from mdh.hardware import Layer
from mdh.schedule.model import BufferPlace, Caret, ForEntry, Mem, Schedule, TileEntry, Unit
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

CARET = Caret()


def _read(name: str) -> Schedule:
    path = ROOT / "schedules" / "published" / f"{name}.mdh"
    return parse_schedule(Source(path.name, path.read_text(encoding="utf-8")))


def _tiles(*values: object) -> tuple[TileEntry, ...]:
    return tuple(TileEntry(v) for v in values)  # type: ignore[arg-type]


def _at(region: str, *buffers: str) -> tuple[Mem, ...]:
    return tuple(Mem(BufferPlace(b, region, (1, 2))) for b in buffers)


def test_hipar22_listing_1() -> None:
    (section,) = _read("hipar22_listing1").sections
    initial, blocks, memory, threads = section.steps
    assert [s.label for s in section.steps] == [0, 1, 2, 3]
    assert not any(s.slash for s in section.steps)
    assert initial.tiles == _tiles(1, 1000, 2048)
    assert initial.inputs + initial.outputs == _at("DM", "A", "B", "C")
    assert [c.value for c in initial.cores] == [Unit(Layer.DEV, axis) for axis in "xyz"]
    assert blocks.tiles == _tiles(CARET, 20, CARET)
    assert [c.value for c in blocks.cores] == [Unit(Layer.BLK, "y"), Unit(Layer.BLK, "x"), CARET]
    assert memory.tiles == _tiles(CARET, CARET, 512)
    assert memory.inputs + memory.outputs == (*_at("SM", "A", "B"), *_at("RM", "C"))
    assert threads.tiles == _tiles(CARET, 1, 4)
    assert [c.value for c in threads.cores] == [Unit(Layer.THR, "y"), Unit(Layer.THR, "x"), CARET]
    assert blocks.comments == ("parallelization over CUDA Blocks",)


def test_cc23_listing_5() -> None:
    (section,) = _read("cc23_listing5").sections
    assert [s.label for s in section.steps] == [0, 1, 6, 2, 3, 4, 5]
    assert all(s.slash for s in section.steps)
    assert [s.tiles for s in section.steps] == [
        _tiles(16, 1000, 2048),
        _tiles(8, 20, CARET),
        _tiles(4, CARET, CARET),
        _tiles(1, 1, CARET),
        _tiles(CARET, CARET, 256),
        _tiles(CARET, CARET, 2),
        _tiles(CARET, CARET, 1),
    ]
    assert section.steps[3].outputs == _at("RM", "C")
    assert section.steps[4].inputs == _at("SM", "A", "B")
    assert [c.value for c in section.steps[2].cores] == [ForEntry(1), ForEntry(2), ForEntry(3)]
    assert [c.value for c in section.steps[4].cores] == [ForEntry(2), ForEntry(3), ForEntry(1)]
    assert [c.value for c in section.steps[3].cores] == [Unit(Layer.THR, a) for a in "yxz"]


def test_aliases_are_other_papers_words() -> None:
    text = "(de-)comp( 4,4 ) ( A:LM[1], B:L1[1], D:GM[1] ; C:PM[1] ) ( COR.y, SIMD.x )"
    (step,) = parse_schedule(Source("<test>", text)).sections[0].steps
    assert [m.value.region for m in (*step.inputs, *step.outputs)] == ["SM", "SM", "DM", "RM"]  # type: ignore[union-attr]
    assert [c.value for c in step.cores] == [Unit(Layer.BLK, "y"), Unit(Layer.VEC, "x")]
