"""An editor shows texts that are half-written. No feature may raise an exception, or take long."""

import random
import time
from collections.abc import Iterator

import pytest

from mdh.editor.outline import outline
from mdh.editor.session import Session
from mdh.editor.walk import place_at
from tests.support.source_tree import ROOT

SHIPPED = sorted((ROOT / "schedules").rglob("*.mdh"))
SIGNS = "()[]{};:,^?@.=*/\\\"'\n\t\0é𝄞 0123456789abcxyzSM"
LAYOUT = """// all that a text may hold
for f N=64 on h200
program f
over M=1..16:2 N=3 {
  stage T ?how{inline, in O:1} @once { fuse i, j
    1: (de-)comp( ?a{8,16}, {4,8} ) ( A:?[?], ? ; C:{SM,RM}[2,1]@pad(?) )
                ( ?{BLK.x,FOR.1,^}, MMA.m@cyclic(2) ) @roles(load=1, regs=40/232)
    where ?a * 2 <= 64 and not N == 3 }
}
loop i( i, j ) { 1: (de-)comp( 16 ) ( BLK.x ) }
"""


def damaged(text: str, rng: random.Random) -> str:
    """A text as it is between two keystrokes, or pasted in the wrong place."""
    a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    match rng.randrange(6):
        case 0:
            return text[:a]
        case 1:
            return text[:a] + text[b:]
        case 2:
            return text[:a] + "".join(rng.choices(SIGNS, k=rng.randrange(1, 4))) + text[a:]
        case 3:
            return text[:b] + text[a:b] + text[b:]
        case 4:
            return text[a:]
        case _:
            return text[:a] + text[a : a + 40].swapcase() + text[a + 40 :]


def texts(rng: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Paths and damaged texts of shipped schedules."""
    for _ in range(count):
        path = rng.choice(SHIPPED)
        text = LAYOUT if rng.random() < 0.1 else path.read_text(encoding="utf-8")
        for _ in range(rng.randrange(1, 3)):
            text = damaged(text, rng)
        yield str(path), text


def ask(session: Session, path: str, offset: int) -> None:
    """Asks for all that an editor asks for at a place."""
    session.complete(path, offset)
    session.hover(path, offset)
    session.definition(path, offset)
    session.references(path, offset)
    session.actions(path, max(0, offset - 5), offset + 5)
    if session.renamable(path, offset) is not None:
        session.renamed(path, offset, "unheard_of")


@pytest.mark.parametrize("seed", range(2))
def test_damaged_schedules(seed: int) -> None:
    rng = random.Random(seed)
    session = Session(roots=(str(ROOT),))
    session.configure(session.settings, (str(ROOT),))
    for path, text in texts(rng, 12):
        session.put(path, text)
        start = time.process_time()
        session.outline(path)
        session.formatted(path)
        found = session.messages(path)
        for _ in range(3):
            ask(session, path, rng.randrange(len(text) + 1))
        assert time.process_time() - start < 5.0, text
        assert not [m for m in found if m.code.startswith("B")], (text, found)


def test_every_prefix() -> None:
    """Of a text with every construct: at its end, completion and outline."""
    session = Session()
    for n in range(len(LAYOUT) + 1):
        source = session.texts.put("/nowhere/f.mdh", LAYOUT[:n])
        place_at(source, n, typing=True)
        place_at(source, n // 2, typing=False)
        outline(source)
        session.complete("/nowhere/f.mdh", n)
        session.formatted("/nowhere/f.mdh")


@pytest.mark.parametrize("name", ["matmul.c", "tmm.tc", "matmul_double.diesel"])
def test_damaged_programs(name: str) -> None:
    rng = random.Random(name)
    path = ROOT / "inputs_c" / name
    text = path.read_text(encoding="utf-8")
    session = Session()
    session.configure(session.settings, (str(ROOT),))
    for _ in range(8):
        broken = damaged(text, rng)
        session.put(str(path), broken)
        found = session.messages(str(path))
        assert not [m for m in found if m.code.startswith("B")], (broken, found)
        offset = rng.randrange(len(broken) + 1)
        session.hover(str(path), offset)
        session.outline(str(path))
        if rng.random() < 0.2:
            session.definition(str(path), offset)
