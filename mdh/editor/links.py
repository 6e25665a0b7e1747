"""From a word to where it is said: stages and arrays in the C, sections of schedules, files of machines. And
all places of a word, for references and for renaming holes."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from mdh.diagnostics import Failed, fail
from mdh.editor.analysis import Analysis
from mdh.editor.facts import section_of, stage_of
from mdh.editor.hover import header_name, step_at, word_at
from mdh.editor.outline import OutlineEntry, function_place, outline
from mdh.editor.programs import ProgramView
from mdh.editor.texts import Texts
from mdh.editor.walk import Kind, Place, place_at
from mdh.ir.program import Program, Stage
from mdh.machine import machine_file, machine_names
from mdh.schedule.tokens import Token, known_tokens
from mdh.source import Source, Span

_NAME = re.compile(r"\??([A-Za-z_]\w*)\Z", re.ASCII)


def definition(analysis: Analysis, offset: int) -> tuple[Span, ...]:
    """Where the word at an offset of a schedule comes from."""
    source, program = analysis.source, analysis.program
    place = place_at(source, offset, typing=False)
    word = place.word.text
    if place.token == "hole":
        return references(source, offset)[:1]
    if place.kind is Kind.MACHINE:
        name = header_name(source.text, offset)
        if name in machine_names():
            return (Span(Source(str(machine_file(name)), ""), 0, 0),)
        return ()
    if place.kind is Kind.READER_STEP:
        return tuple(_step(source, place))
    if program is None or program.source is None:
        return ()
    if place.kind in (Kind.STAGE, Kind.READER):
        return tuple(_stage_place(s) for s in program.stages if s.name == word and s.span is not None)
    if place.kind in (Kind.PROGRAM, Kind.SIZE):
        scalar = program.scalar_of.get(word)
        if scalar is not None and scalar.span is not None:
            return (scalar.span,)
        return (_first(program.source, word) or function_place(program.source, program.name),)
    if word in program.buffer_of and place.kind in (Kind.INPUT, Kind.OUTPUT):
        span = program.buffer_of[word].span
        return () if span is None else (span,)
    return tuple(_dimension(analysis, place, offset))


def _stage_place(stage: Stage) -> Span:
    """The pragma that names a stage, else its statement."""
    assert stage.span is not None
    source = stage.span.source
    pragma = re.search(rf"#\s*pragma\s+mdh\s+stage\s*\(\s*({re.escape(stage.name)})\s*\)", source.text)
    return stage.span if pragma is None else Span(source, *pragma.span(1))


def _first(source: Source, word: str) -> Span | None:
    found = re.search(rf"\b{re.escape(word)}\b", source.text) if word else None
    return None if found is None else Span(source, *found.span())


def _step(source: Source, place: Place) -> Iterator[Span]:
    """The step of the reader that `in READER:n` means."""
    tokens = [t for t in known_tokens(source) if t.end <= place.word.start]
    reader = tokens[-2].text if len(tokens) > 1 else ""
    for entry in outline(source):
        if entry.stage == reader:
            for n, step in enumerate(entry.inside):
                if place.word.text in (str(step.label), str(n + 1) if step.label is None else ""):
                    yield step.name


def _dimension(analysis: Analysis, place: Place, offset: int) -> Iterator[Span]:
    """The loop in the C of a tile or core entry, and of a name behind `fuse`."""
    program, schedule = analysis.program, analysis.schedule
    if program is None or schedule is None:
        return
    if place.kind is Kind.DIMENSION:
        dims = [d for s in program.stages if place.stage in (None, s.name) for d in s.dims]
        yield from (d.span for d in dims if d.name == place.word.text and d.span is not None)
        return
    step = step_at(schedule, offset)
    section = None if step is None else section_of(schedule, step)
    stage = None if section is None else stage_of(program, section)
    if stage is None or place.kind not in (Kind.TILE, Kind.CORE, Kind.AXIS):
        return
    if place.entry < len(stage.dims) and (span := stage.dims[place.entry].span) is not None:
        yield span


def definition_in_program(view: ProgramView, offset: int, texts: Texts) -> tuple[Span, ...]:
    """The sections and entries of schedules that belong to the stage or array at an offset of a program."""
    word = word_at(view, offset)
    if word is None:
        return ()
    found: list[Span] = []
    for path in view.schedules:
        with suppress(Failed):
            source = texts.read(path)
            for program in view.programs:
                found += _about(program, word.text, source)
    return tuple(found)


def _about(program: Program, word: str, source: Source) -> Iterator[Span]:
    """Where a schedule is about a stage, or about an array: the section of the stage that writes it, else the
    entries that name it."""
    stages = [s.name for s in program.stages if word == s.name or word in s.written]
    sections = [e for e in _sections(outline(source)) if e.stage in stages]
    if sections:
        yield from (e.name for e in sections)
    elif word in program.buffer_of:
        tokens = known_tokens(source)
        yield from (_at(source, a) for a, b in pairwise(tokens) if _entry(a, b, word))


def _entry(a: Token, b: Token, word: str) -> bool:
    return a.kind == "name" and a.text == word and b.text == ":"


def _sections(entries: tuple[OutlineEntry, ...]) -> Iterator[OutlineEntry]:
    for entry in entries:
        if entry.kind == "section":
            yield entry
            yield from _sections(entry.inside)


def references(source: Source, offset: int) -> tuple[Span, ...]:
    """All places of the hole, stage or array at an offset, in the order of the text; none of other words."""
    place = place_at(source, offset, typing=False)
    word, tokens = place.word.text, known_tokens(source)
    if place.token == "hole":
        named = len(word) > 1
        return tuple(_at(source, t) for t in tokens if t.kind == "hole" and t.text == word and named)
    if place.token != "name":
        return ()
    pairs = list(zip([None, *tokens], tokens, [*tokens[1:], None], strict=False))
    if place.kind in (Kind.STAGE, Kind.READER):
        mine = [b for a, b, _ in pairs if b.text == word and a is not None and a.text in ("stage", "in")]
    elif place.kind in (Kind.INPUT, Kind.OUTPUT):
        mine = [b for _, b, c in pairs if c is not None and _entry(b, c, word)]
        mine = [t for t in mine if place_at(source, t.start, typing=False).kind in (Kind.INPUT, Kind.OUTPUT)]
    else:
        mine = []
    return tuple(_at(source, t) for t in mine)


def _at(source: Source, token: Token) -> Span:
    return Span(source, token.start, token.end)


def renamable(source: Source, offset: int) -> Span | None:
    """The name of the hole at an offset, without its `?`; None for other words."""
    place = place_at(source, offset, typing=False)
    if place.token != "hole" or len(place.word.text) < 2:
        return None
    return Span(source, place.word.start + 1, place.word.end)


def renamed(source: Source, offset: int, name: str) -> tuple[tuple[Span, str], ...]:
    """The changes that call the hole at an offset `name`. Raises Failed without a code for what is no name,
    for another hole's name, and where no named hole is."""
    if renamable(source, offset) is None:
        raise fail("", "only named holes (`?bm`) can be renamed here")
    found = _NAME.match(name)
    if found is None:
        raise fail("", f"`{name}` is no name: letters, digits and `_`, not a digit first")
    new, places = f"?{found[1]}", references(source, offset)
    if (
        places
        and places[0].text != new
        and any(t.text == new for t in known_tokens(source) if t.kind == "hole")
    ):
        raise fail("", f"`{new}` is another hole of this schedule; both would have one value")
    return tuple((span, new) for span in places)
