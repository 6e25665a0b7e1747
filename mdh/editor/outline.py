"""The outline of a schedule: its headers, sections and steps, also of a text that is half-written. And that
of a program: its function and stages."""

import re
from dataclasses import dataclass

from mdh.editor.walk import SECTIONS, Walker
from mdh.ir.program import Program
from mdh.schedule.tokens import Token, known_tokens
from mdh.source import Source, Span


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """kind: section, step, header, program, stage or dim. span: all of it; name: where it is called so.
    stage: of a section of one. number: of a step in its section, from 0."""

    kind: str
    title: str
    detail: str
    span: Span
    name: Span
    inside: tuple["OutlineEntry", ...] = ()
    stage: str | None = None
    number: int = -1
    label: int | None = None


def outline(source: Source) -> tuple[OutlineEntry, ...]:
    """The items of a schedule, outermost first."""
    walker = Walker(known_tokens(source))
    begun: list[tuple[int, str, int]] = []
    """Of each item its first token, its word, and how many sections are open around it."""
    while walker.tokens[walker.at].kind != "end":
        number, before = walker.at, (walker.word, walker.step, len(walker.tail))
        walker.take(source)
        token = walker.tokens[number]
        labelled = before[0] == "label" and token.kind == "comp"
        fresh = token.kind == "comp" or (
            token.kind == "name" and walker.word == token.text and not walker.tail
        )
        if fresh:
            first = number - 2 if labelled else number
            depth = sum(x in ("section", "case") for x in walker.open)
            begun.append((first, walker.word, depth))
    return _nested(source, walker.tokens, begun, 0, len(begun), 0)


def steps_of(source: Source) -> tuple[OutlineEntry, ...]:
    """All steps of a text."""

    def inner(entries: tuple[OutlineEntry, ...]) -> list[OutlineEntry]:
        return [x for e in entries for x in ([e] if e.kind == "step" else inner(e.inside))]

    return tuple(inner(outline(source)))


def _nested(
    source: Source, tokens: list[Token], begun: list[tuple[int, str, int]], low: int, high: int, depth: int
) -> tuple[OutlineEntry, ...]:
    out: list[OutlineEntry] = []
    n, step = low, 0
    while n < high:
        first, word, here = begun[n]
        behind = n + 1
        if word in SECTIONS:
            while behind < high and begun[behind][2] > here:
                behind += 1
        last = _end(tokens, first, begun[behind][0] if behind < len(begun) else len(tokens) - 1)
        inside = _nested(source, tokens, begun, n + 1, behind, here + 1) if word in SECTIONS else ()
        out.append(_entry(source, tokens, first, last, word, inside, step))
        step += word == "step"
        n = behind
    return tuple(out)


def _end(tokens: list[Token], first: int, last: int) -> int:
    """The number behind the last token of an item, without the `}` of what is around it."""
    depth = 0
    for n in range(first, last):
        depth += {"{": 1, "}": -1}.get(tokens[n].text, 0)
        if depth < 0:
            return n
    return last


def _entry(
    source: Source,
    tokens: list[Token],
    first: int,
    last: int,
    word: str,
    inside: tuple[OutlineEntry, ...],
    step: int,
) -> OutlineEntry:
    """last: the number behind the last token."""
    begin, end = tokens[first], tokens[max(first, last - 1)]
    span = Span(source, begin.start, end.end)
    follows = tokens[first + 1] if first + 1 < len(tokens) else begin
    line = source.text[begin.start : end.end].split("\n", 1)[0].split("//", 1)[0].strip()
    if word == "step":
        label = int(begin.text) if begin.kind == "int" and len(begin.text) < 9 else None
        title = f"step {step + 1 if label is None else label}"
        name = Span(source, begin.start, begin.end)
        return OutlineEntry("step", title, line, span, name, (), None, step, label)
    if word in ("stage", "loop") and follows.kind == "name":
        name = Span(source, follows.start, follows.end)
        stage = follows.text if word == "stage" else None
        return OutlineEntry("section", f"{word} {follows.text}", "", span, name, inside, stage)
    name = Span(source, begin.start, begin.end)
    kind = "section" if word in SECTIONS else "header"
    return OutlineEntry(kind, line.split("{", 1)[0].strip() or word, "", span, name, inside)


def program_outline(program: Program) -> tuple[OutlineEntry, ...]:
    """The function and its stages, as far as their places are known."""
    source = program.source
    if source is None:
        return ()
    stages = tuple(
        OutlineEntry(
            "stage", stage.name, ", ".join(f"{d.name}:{d.extent}" for d in stage.dims), stage.span, stage.span
        )
        for stage in program.stages
        if stage.span is not None and stage.span.source.name == source.name
    )
    whole = Span(source, 0, len(source.text))
    return (OutlineEntry("program", program.name, "", whole, function_place(source, program.name), stages),)


def function_place(source: Source, name: str) -> Span:
    """Where a text names its function first; its beginning if it does not."""
    found = re.search(rf"\b{re.escape(name)}\b(?=\s*\()", source.text)
    return Span(source, 0, 0) if found is None else Span(source, *found.span())
