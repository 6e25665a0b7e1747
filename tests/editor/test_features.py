"""What editors show, feature by feature, without a protocol."""

from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.editor import words
from mdh.editor.headers import headers_of
from mdh.editor.outline import outline
from mdh.editor.owner import owner_of
from mdh.editor.session import Session
from mdh.editor.settings import Settings, settings_of
from mdh.editor.texts import Texts
from mdh.editor.walk import Kind, place_at
from mdh.hardware import Layer, Space
from mdh.schedule.attributes import ATTRIBUTES
from mdh.schedule.names import KEYWORDS
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.source_tree import ROOT

MATMUL = (ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8")
HEAD = "for matmul M=256 N=256 K=64 on a100\ntarget a100\n"
STEPS = """1: (de-)comp( 32, 32, ^ ) ( ^, ^ ; ^ )                         ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 )   ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 4, 4, ^ )   ( ^, ^ ; ^ )                         ( THR.y, THR.x, ^ )
"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "matmul.c").write_text(MATMUL, encoding="utf-8")
    found = Session()
    found.configure(found.settings, (str(tmp_path),))
    return found


def at(session: Session, text: str) -> tuple[str, int]:
    """Opens a text in which `|` stands at the place, and checks it."""
    path = f"{session.roots[0]}/s.mdh"
    session.put(path, text.replace("|", "", 1))
    session.messages(path)
    return path, text.index("|")


def labels(session: Session, text: str) -> list[str]:
    return [x.label for x in session.complete(*at(session, text))]


def test_every_word_has_a_meaning() -> None:
    assert set(words.LAYERS) == set(Layer) and set(words.REGIONS) == set(Space)
    assert set(words.ATTRIBUTE_MEANINGS) == set(ATTRIBUTES) and set(words.KEYWORDS) == set(KEYWORDS)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("|", Kind.ITEM),
        ("target h|", Kind.MACHINE),
        ("for matmul M=1 on a100 h|", Kind.MACHINE),
        ("for matmul |", Kind.SIZE),
        ("stage |", Kind.STAGE),
        ("stage T in |", Kind.READER),
        ("stage T in C:|", Kind.READER_STEP),
        ("stage T i|", Kind.HOW),
        ("stage T ?{inline, |", Kind.HOW),
        ("stage T { |", Kind.ITEM),
        ("stage T { fuse i, |", Kind.DIMENSION),
        ("where ?a * |", Kind.CONDITION),
        ("1: (de-)comp( 8, |", Kind.TILE),
        ("1: (de-)comp( {8,|", Kind.TILE),
        ("1: (de-)comp( 8 ) ( |", Kind.INPUT),
        ("1: (de-)comp( 8 ) ( A:|", Kind.REGION),
        ("1: (de-)comp( 8 ) ( A:SM[2,|", Kind.LAYOUT),
        ("1: (de-)comp( 8 ) ( A:SM[2,1]@|", Kind.ATTRIBUTE),
        ("1: (de-)comp( 8 ) ( A:SM[2,1]@copy(|", Kind.ARGUMENT),
        ("1: (de-)comp( 8 ) ( ^ ; |", Kind.OUTPUT),
        ("1: (de-)comp( 8 ) ( ^ ; ^ ) ( |", Kind.CORE),
        ("1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.|", Kind.AXIS),
        ("1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x ) @|", Kind.ATTRIBUTE),
        ("1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )\n|", Kind.ITEM),
        ("1: (de-)comp( 8 ) ( ^ ; (\n2: (de-)comp( |", Kind.TILE),
        ("loop i( i ) { 1: (de-)comp( 8 ) ( |", Kind.CORE),
        ("over M=1..2 { 1: (de-)comp( 8 ) ( |", Kind.INPUT),
    ],
)
def test_places(text: str, kind: Kind) -> None:
    place = place_at(Source("s.mdh", text.replace("|", "")), text.index("|"), typing=True)
    assert place.kind is kind


def test_headers_are_those_of_the_parser() -> None:
    for path in sorted((ROOT / "schedules").rglob("*.mdh")):
        source = Source(str(path), path.read_text(encoding="utf-8"))
        found, known = headers_of(source), parse_schedule(source)
        assert (found.target, found.program) == (known.target, known.program)
        lines = [(x.word, x.program, x.sizes, x.machines) for x in known.sizes]
        assert [(x.word, x.program, x.sizes, x.machines) for x in found.sizes] == lines


def test_outlines_are_those_of_the_parser() -> None:
    for path in sorted((ROOT / "schedules").rglob("*.mdh")):
        source = Source(str(path), path.read_text(encoding="utf-8"))
        known, entries = parse_schedule(source), outline(source)
        steps = [x for e in entries for x in (e, *e.inside) if x.kind == "step"]
        sections = (*known.sections, *known.loops)
        spans = sorted((s.span.start, s.span.end) for x in sections for s in x.steps if s.span)
        assert [(x.span.start, x.span.end) for x in steps] == spans, path


def test_completion(session: Session) -> None:
    product = HEAD + STEPS
    assert labels(session, product.replace("( BLK.y", "( |BLK.y"))[:2] == ["^", "?"]
    assert "A:SM[1,2]" in labels(session, product.replace("A:SM[1,2]", "|", 1))
    assert "SM" in labels(session, product.replace("A:SM", "A:|", 1))
    assert labels(session, product.replace("A:SM[1,2]", "A:SM[|", 1)) == ["?", "1,2", "2,1"]
    assert {"async", "vec=", "?"} <= set(labels(session, product.replace("A:SM[1,2]", "A:SM[1,2]@copy(|", 1)))
    pad = labels(session, product.replace("A:SM[1,2]", "A:SM[1,2]@|", 1))
    assert "pad" in pad and "stages" not in pad
    more = labels(session, product.replace("A:SM[1,2]", "A:SM[1,2]@pad(4)@|", 1))
    assert "pad" not in more and "swizzle" in more
    step = labels(
        session, f"{HEAD}1: (de-)comp( 8, 8, 8 ) ( A:SM[1,2]@pad(2), ^ ; ^ ) ( ^, ^, ^ ) @stages(2) @|"
    )
    assert "unroll" in step and not {"stages", "pad"} & set(step)
    assert labels(session, "stage C |") == ["kernel", "inline", "in", "beside", "online", "?"]
    assert {"h200", "generic-cpu"} <= set(labels(session, "target |"))
    assert "32" in labels(session, product.replace("3: (de-)comp( 4", "3: (de-)comp( |"))
    assert "64" not in labels(session, product.replace("3: (de-)comp( 4", "3: (de-)comp( |"))
    assert labels(session, product.replace("// ", "") + "// |") == []
    step = session.complete(*at(session, product + "|"))[0]
    assert step.text == "4: (de-)comp( ^, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )"


@pytest.mark.parametrize(
    "step",
    [
        "( |, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( |, ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; | ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( A:|[1,2], ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( A:SM[|], ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( A:SM[1,2]@|, ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( A:SM[1,2]@pad(|), ^ ; ^ ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; C:SM[1,2]@| ) ( BLK.y, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( |, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.|, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( FOR.|, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( THR.x@|, BLK.x, ^ )",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @|",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(|)",
        "( 32, 32, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n|",
    ],
)
def test_what_is_proposed_is_read(session: Session, step: str) -> None:
    """Each proposal is a text that parses where it is proposed. Behind keywords more must follow."""
    text = f"{HEAD}(de-)comp{step}\n"
    found = [x for x in session.complete(*at(session, text)) if x.kind != "keyword"]
    assert found
    for item in found:
        parse_schedule(Source("s.mdh", text.replace("|", item.text)))


def test_actions(session: Session) -> None:
    path, _ = at(session, HEAD + STEPS.replace("THR.x, ^ )", "THR.x, ^") + "|")
    source = session.texts.open[path]
    (close,) = session.actions(path, 0, len(source.text))
    assert close.title == "Close with `)`" and close.edits[0][1] == " )"
    path, _ = at(session, HEAD + STEPS.replace("@", "").replace("FOR.1 )", "FOR.1 ) @stage(2)") + "|")
    assert [x.title for x in session.actions(path, 0, 999)] == ["Write `@stages`"]
    path, _ = at(session, HEAD.replace("target a100", "target a10") + STEPS + "|")
    assert "Write `a100`" in [x.title for x in session.actions(path, 0, 999)]


def test_remedies_of_warnings(session: Session) -> None:
    """A change that a warning advises, and what `mdh check --fix` would make of the text."""
    few = HEAD.replace("M=256 N=256 K=64", "M=512 N=512 K=4096") + STEPS.replace("32, 32", "128, 128")
    path, _ = at(session, few.replace("4, 4", "8, 8") + "|")
    found = session.actions(path, 0, 999)
    assert found and all(x.title.startswith("P") for x in found) and session.fixable(path)
    source, edits = session.fix_all(path)
    text = source.text
    for span, new in reversed(edits):
        text = text[: span.start] + new + text[span.end :]
    assert text != source.text
    session.put(path, text)
    assert not [m for m in session.messages(path) if m.code[:1] not in ("P", "")]


def test_renaming(session: Session) -> None:
    path, offset = at(
        session, HEAD + STEPS.replace("32, 32", "?b, ?|b{16,32}") + "where ?b < 33 and ?c == ?b\n"
    )
    assert len(session.references(path, offset)) == 4
    assert [new for _, new in session.renamed(path, offset, "rows")] == ["?rows"] * 4
    for name in ("c", "8x", "", "a b"):
        with pytest.raises(Failed):
            session.renamed(path, offset, name)


def test_ranges_of_holes(session: Session) -> None:
    text = HEAD + STEPS.replace("32, 32", "?b{16,32,512}, 32").replace("4, 4", "?, 4") + "where ?b < 33\n"
    for word, said in (
        ("?b{", "`16`, `32`"),
        ("?b <", "`16`, `32`"),
        ("?, 4", "`1`, `2`, `4`, `8`, `16`, `32`"),
    ):
        path, offset = at(session, text.replace(word, f"|{word}"))
        found = session.hover(path, offset)
        assert found is not None and found.text.endswith(said), found


def test_owner(tmp_path: Path) -> None:
    def owner(path: str, head: str = "", settings: Settings | None = None) -> str | None:
        source = Source(path, head)
        found = owner_of(
            str(tmp_path / path), headers_of(source), settings or Settings(), Texts(), (str(tmp_path),)
        )
        return None if found is None else str(Path(found.path).relative_to(tmp_path))

    for name in ("inputs/matmul.c", "inputs/other.tc", "x/mine.c", "y/several.c"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("void one(int *a) {}\nvoid two(int *a) {}\n", encoding="utf-8")
    assert owner("s/a.mdh", "for matmul M=1\n") == "inputs/matmul.c"
    assert owner("s/a.mdh", "program other\n") == "inputs/other.tc"
    assert owner("s/matmul/h200/base.mdh") == "inputs/matmul.c"
    assert owner("x/mine.mdh") == "x/mine.c"
    assert owner("y/b.mdh", "for two N=4\n") == "y/several.c"
    assert owner("x/anything.mdh") == "x/mine.c"
    assert owner("elsewhere/anything.mdh") is None
    assert owner("x/mine.mdh", "", Settings(program="inputs/matmul.c")) == "inputs/matmul.c"


def test_settings_of_any_shape() -> None:
    given = {"define": ["M=4", "T=float", 3, "=", "X"], "set": {"bm": 64}, "allow": "tf32", "machine": 4}
    found = settings_of(given)
    assert found.defines == (("M", 4), ("T", "float"), ("X", 1))
    assert found.sets == (("bm", 64),) and found.allow == () and found.machine is None
    assert settings_of(None) == settings_of([]) == Settings()


def test_settings_are_obeyed(session: Session) -> None:
    path, _ = at(session, HEAD + STEPS.replace("32, 32", "?b, ?b") + "|")
    assert [m.code for m in session.messages(path)] == ["S154"]
    given = {"set": ["b=32", "unheard=1"], "define": ["UNHEARD=3"], "machine": "h200"}
    session.configure(settings_of(given), session.roots)
    assert session.messages(path) == ()
    assert session.analysis(path).machine.name == "h200"  # type: ignore[union-attr]


def test_c_that_is_none_of_mdh(tmp_path: Path) -> None:
    session = Session()
    session.configure(Settings(), (str(tmp_path),))
    path = str(tmp_path / "main.c")
    session.put(path, "int main(void) { return malloc(3) != 0; }\n")
    assert session.messages(path) == ()
    session.put(path, "#pragma mdh stage(x)\nint main(void) { return 0; }\n")
    assert session.messages(path) != ()
