"""Random schedule values for hypothesis: whatever the parser can produce."""

from dataclasses import replace

from hypothesis import strategies as st

from mdh.hardware import Layer, Space
from mdh.ir.open_size import OpenSize
from mdh.schedule.model import (
    LIBRARIES,
    Arg,
    ArgCall,
    Attr,
    Beside,
    BufferPlace,
    Caret,
    Core,
    ForEntry,
    Fuse,
    Hole,
    How,
    Library,
    Mem,
    NameRef,
    Operation,
    Schedule,
    Section,
    SizeCase,
    SizeHeader,
    Step,
    TileEntry,
    Unit,
    Where,
    WhereExpr,
    Within,
)
from mdh.schedule.names import KEYWORDS
from mdh.schedule.printer import STEPS, print_how

_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
_operands = _names.filter(lambda n: n not in {"and", "or", "not"})
_sizes = st.integers(1, 4096)
_regions = st.sampled_from((Space.HM, Space.DM, Space.SM, Space.RM))
_units = st.one_of(
    st.builds(Unit, st.sampled_from(tuple(Layer)[:-1]), st.sampled_from("xyz")),
    st.builds(Unit, st.just(Layer.MMA), st.sampled_from("mnk")),
)
_words = st.sampled_from(("BLK.x", "THR.y", "FOR.1", "FOR.2", "^"))


def _holes(values: st.SearchStrategy[int | str]) -> st.SearchStrategy[Hole]:
    sets = st.lists(values, min_size=1, max_size=3, unique=True).map(tuple)
    return st.builds(Hole, st.none() | _names, st.none() | sets)


def _number_attr(name: str, numbers: st.SearchStrategy[int]) -> st.SearchStrategy[Attr]:
    value = numbers | _holes(numbers)
    return st.builds(lambda v: Attr(name, (Arg(v),)), value)


_engines = st.sampled_from(("plain", "async", "tma"))
_copies = st.builds(
    lambda first, second, width: Attr(
        "copy", (Arg(first, fallback=None if second is None else Arg(second)), Arg(width, "vec"))
    ),
    _engines | _holes(_engines),
    st.none() | _engines,
    st.sampled_from((1, 2, 4)),
)
_orders = st.one_of(
    st.just(Attr("order", (Arg("hilbert"),))),
    st.builds(lambda n: Attr("order", (Arg(ArgCall("grouped", (Arg(n),))),)), st.integers(1, 64)),
    st.builds(lambda n: Attr("order", (Arg(Hole(None, ("rows", f"grouped({n})"))),)), st.integers(1, 64)),
)
_roles = st.just(Attr("roles", (Arg(1, "load"), Arg(2, "math"), Arg("40/232", "regs"), Arg("turns"))))


def _attrs(*kinds: st.SearchStrategy[Attr]) -> st.SearchStrategy[tuple[Attr, ...]]:
    return st.lists(st.one_of(*kinds), max_size=2, unique_by=lambda a: a.name).map(tuple)


_places = st.builds(
    BufferPlace,
    _names,
    _regions | _holes(_regions),
    _holes(_sizes) | st.tuples(_sizes) | st.lists(_sizes | _holes(_sizes), min_size=2, max_size=3).map(tuple),
)
_members = st.sampled_from(("^", "A:SM[2,1]", "B:RM[1]"))
_inputs = st.builds(
    Mem,
    st.just(Caret()) | _holes(_members) | _places,
    _attrs(_number_attr("pad", st.integers(0, 8)), _copies, st.just(Attr("window"))),
)
_outputs = st.builds(
    Mem,
    st.just(Caret()) | _holes(_members) | _places,
    _attrs(st.just(Attr("combine", (Arg("kernel"),)))),
)
_tiles = st.builds(TileEntry, st.just(Caret()) | _sizes | _holes(_sizes | st.just("^")))
_cores = st.builds(
    Core,
    st.just(Caret()) | _units | st.builds(ForEntry, st.integers(1, 9)) | _holes(_words),
    _attrs(_number_attr("cyclic", st.sampled_from((1, 2, 4)))),
)
_step_attrs = _attrs(_number_attr("stages", st.integers(1, 6)), st.just(Attr("unroll")), _orders, _roles)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    n = draw(st.integers(1, 4))
    return Step(
        draw(st.none() | st.integers(0, 20)),
        tuple(draw(_tiles) for _ in range(n)),
        tuple(draw(st.lists(_inputs, max_size=3))),
        tuple(draw(st.lists(_outputs, min_size=1, max_size=2))),
        tuple(draw(_cores) for _ in range(n)),
        draw(_step_attrs),
        draw(st.booleans()),
    )


def _operations(inner: st.SearchStrategy[WhereExpr]) -> st.SearchStrategy[WhereExpr]:
    binary = st.sampled_from(["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or"])
    return st.builds(lambda op, a, b: Operation(op, (a, b)), binary, inner, inner) | st.builds(
        lambda op, a: Operation(op, (a,)), st.sampled_from(("-", "not")), inner
    )


conditions = st.recursive(
    st.integers(0, 9999)
    | st.builds(NameRef, _names, st.just(True))
    | st.builds(NameRef, _operands, st.just(False)),
    _operations,
    max_leaves=8,
)
_fuses = st.builds(Fuse, st.lists(_names, min_size=2, max_size=3).map(tuple))
_bodies = st.tuples(
    st.lists(steps(), max_size=3).map(tuple),
    st.lists(st.builds(Where, conditions), max_size=2).map(tuple),
    st.lists(_fuses, max_size=2).map(tuple),
)


_header_names = _names.filter(lambda n: n not in {"on", *KEYWORDS})
_machines = st.from_regex(r"[a-z][a-z0-9.\-]{0,8}", fullmatch=True).filter(lambda n: n not in KEYWORDS)
_size_headers = st.builds(
    SizeHeader,
    st.sampled_from(("for", "small")),
    st.lists(st.tuples(_header_names, _sizes), min_size=1, max_size=4, unique_by=lambda s: s[0]).map(tuple),
    st.none() | _names,
    st.lists(_machines, max_size=3, unique=True).map(tuple),
)


def _section(name: str | None, body: tuple[tuple[Step, ...], tuple[Where, ...], tuple[Fuse, ...]]) -> Section:
    steps, wheres, fuses = body
    return Section(name, steps, wheres, fuses=fuses)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[SizeCase, ...]:
    """Cases of a table, for the same sizes in any order, and no two for the same ranges."""
    names = draw(st.lists(_header_names, min_size=1, max_size=3, unique=True))
    made: dict[frozenset[OpenSize], SizeCase] = {}
    for _ in range(draw(st.integers(1, 3))):
        ranges = tuple(draw(_ranges(name)) for name in draw(st.permutations(names)))
        made.setdefault(frozenset(ranges), SizeCase(ranges, draw(_sections())))
    return tuple(made.values())


def _ranges(name: str) -> st.SearchStrategy[OpenSize]:
    numbers = st.integers(1, 5000)
    several = st.builds(
        lambda a, n, m: OpenSize(name, a * m, (a + n) * m, m),
        st.integers(1, 500),
        st.integers(1, 500),
        st.integers(1, 16),
    )
    return several | st.builds(lambda n: OpenSize(name, n, n), numbers)


@st.composite
def _sections(draw: st.DrawFn) -> tuple[Section, ...]:
    if draw(st.booleans()):
        return (_section(None, draw(_bodies.filter(any))),)
    return tuple(draw(_named(name)) for name in draw(st.lists(_names, max_size=3, unique=True)))


@st.composite
def _named(draw: st.DrawFn, name: str) -> Section:
    """With steps, or with words for the way of the stage, or with both."""
    ways = st.none() | st.permutations([how.value for how in How]).map(tuple)
    inside = st.builds("in {}:{}".format, _names, st.integers(0, 99))
    inside |= st.builds("beside {}".format, _names)
    some = st.lists(st.sampled_from(How).map(str) | inside, min_size=1, max_size=3, unique=True).map(tuple)
    open_ways = st.builds(Hole, st.none() | _names, ways | some)
    calls = st.builds(Library, st.sampled_from(LIBRARIES))
    called = st.lists(calls.map(print_how), min_size=1, max_size=2, unique=True).map(tuple)
    choices = st.builds(lambda n, v: Hole(n, (STEPS, *v)), st.none() | _names, called)
    within, beside = st.builds(Within, _names, st.integers(0, 99)), st.builds(Beside, _names)
    how = draw(st.sampled_from(How) | open_ways | within | beside | calls | choices)
    attrs = draw(st.just(()) | st.just((Attr("once"),)))
    derived = not isinstance(how, Within) and draw(st.booleans())
    body = ((), (), ()) if derived else draw(_bodies)
    return replace(_section(name, body), how=how, attrs=attrs, derived=derived)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    words = st.sampled_from(KEYWORDS)
    headers = st.none() | words | st.from_regex(r"[a-z][a-z0-9\-]{0,8}", fullmatch=True)
    cases = draw(st.just(()) | _cases())
    sections = () if cases else draw(_sections())
    one = st.lists(_size_headers, max_size=3, unique_by=lambda h: (h.word, h.program, frozenset(h.sizes)))
    return Schedule(sections, draw(headers), draw(headers), tuple(draw(one)), cases=cases)
