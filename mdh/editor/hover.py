"""What an editor shows of the word under the pointer, in Markdown."""

from dataclasses import dataclass

from mdh.editor import words
from mdh.editor.analysis import Analysis
from mdh.editor.facts import SplitRow, StepFacts, TileRow, facts_of, section_of, sizes_text, stage_of
from mdh.editor.programs import ProgramView
from mdh.editor.spaces import SHOWN, HoleRange, range_at
from mdh.editor.walk import Kind, Place, place_at
from mdh.hardware import Space
from mdh.ir.program import Program
from mdh.machine import Machine, load_machine, machine_names
from mdh.printable import printable
from mdh.report.entries import entries_of
from mdh.report.text import bytes_text
from mdh.schedule.model import Schedule, Step
from mdh.source import Span
from mdh.wording import counted, plural


@dataclass(frozen=True, slots=True)
class Hover:
    text: str
    span: Span


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """At an offset of a schedule."""
    place = place_at(analysis.source, offset, typing=False)
    text = _word(analysis, place, offset)
    if text is not None:
        return Hover(text, place.word)
    step = None if analysis.schedule is None else step_at(analysis.schedule, offset)
    facts = None if step is None else facts_of(analysis, step)
    if step is None or facts is None or step.span is None:
        return None
    word = place.word if place.word.start < place.word.end else Span(analysis.source, offset, offset)
    return Hover(_step_text(analysis, step, facts), word)


def step_at(schedule: Schedule, offset: int) -> Step | None:
    """The step whose text holds an offset."""
    sections = (*schedule.sections, *(s for case in schedule.cases for s in case.sections), *schedule.loops)
    steps = (step for s in sections for step in s.steps if step.span is not None)
    return next((x for x in steps if x.span and x.span.start <= offset <= x.span.end), None)


def _word(analysis: Analysis, place: Place, offset: int) -> str | None:
    """What the word itself means; None if it belongs to its step."""
    word, source = place.word.text, analysis.source
    hole = place.token == "hole" or place.in_set
    if hole and (found := range_at(analysis, offset, word)) is not None:
        return _hole_text(found)
    match place.kind:
        case Kind.ATTRIBUTE:
            return words.attribute_text(word)
        case Kind.ARGUMENT:
            return words.attribute_text(place.attribute)
        case Kind.CORE | Kind.AXIS if place.token == "name":
            layer = place.layer if place.kind is Kind.AXIS else word
            return _with(words.layer_text(layer), _layer_facts(analysis, place, offset))
        case Kind.REGION if place.token == "name":
            return _with(words.region_text(word), _region_facts(analysis, place, offset))
        case Kind.INPUT | Kind.OUTPUT if place.token == "name":
            return _buffer_text(analysis, word, offset)
        case Kind.MACHINE:
            name = header_name(source.text, offset)
            return machine_text(name) if name in machine_names() else None
        case Kind.STAGE | Kind.READER if analysis.program is not None:
            return stage_text(analysis.program, word)
        case Kind.HOW if word in words.HOW:
            return f"**{word}**\n\n{words.HOW[word]}"
        case Kind.ITEM if word in words.KEYWORDS:
            return f"**{word}**\n\n{words.KEYWORDS[word]}"
        case Kind.PROGRAM | Kind.SIZE if analysis.program is not None:
            return _program_text(analysis)
        case _:
            return None


def header_name(text: str, offset: int) -> str:
    """The name at an offset, with the dots and dashes that names of machines may have."""
    start = end = offset
    while start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_.-"):
        end += 1
    return text[start:end]


def _with(text: str | None, more: str) -> str | None:
    return None if text is None else f"{text}\n\n{more}".strip()


def _facts_at(analysis: Analysis, offset: int) -> StepFacts | None:
    step = None if analysis.schedule is None else step_at(analysis.schedule, offset)
    return None if step is None else facts_of(analysis, step)


def _layer_facts(analysis: Analysis, place: Place, offset: int) -> str:
    """How the dimension of a core entry is split there."""
    step = None if analysis.schedule is None else step_at(analysis.schedule, offset)
    if analysis.schedule is None or analysis.program is None or step is None:
        return ""
    section = section_of(analysis.schedule, step)
    stage = None if section is None else stage_of(analysis.program, section)
    facts = facts_of(analysis, step)
    if stage is None or facts is None or place.entry >= len(stage.dims):
        return ""
    row = next((x for x in facts.splits if x.dim == stage.dims[place.entry].name), None)
    return "" if row is None else _split_text(row)


def _region_facts(analysis: Analysis, place: Place, offset: int) -> str:
    facts = _facts_at(analysis, offset)
    rows = [] if facts is None else [x for x in facts.tiles if x.buffer == place.buffer]
    return "\n\n".join([*map(_tile_text, rows), *_room(analysis.machine, facts)])


def _room(machine: Machine | None, facts: StepFacts | None) -> list[str]:
    if machine is None or facts is None or not facts.shared:
        return []
    most = machine.shared_per_block
    return [f"{Space.SM} of the stage: {facts.shared:,} of {most:,} bytes a block"]


def _split_text(row: SplitRow) -> str:
    last = f", the last has {row.last}" if row.last else ""
    parts = counted(row.parts, "part")
    return f"`{row.dim}`: {row.parent:,} = {parts} of {row.tile:,}{last} · {row.who}"


def _tile_text(row: TileRow) -> str:
    slots = f", {plural(row.slots, 'slot')}" if row.slots > 1 else ""
    detail = f", {row.detail}" if row.detail else ""
    shape = sizes_text(row.shape)
    return f"`{row.buffer}:{row.place}` {row.verb}: {shape} elements, {row.bytes:,} bytes{slots}{detail}"


def _step_text(analysis: Analysis, step: Step, facts: StepFacts) -> str:
    name = "step" if step.label is None else f"step {step.label}"
    head = f"**{name}** of stage `{facts.stage}`"
    if analysis.machine is not None:
        head += f" on {analysis.machine.name}"
    lines = [f"- {_split_text(row)}" for row in facts.splits] or ["- splits nothing"]
    lines += [f"- {_tile_text(row)}" for row in facts.tiles]
    out = [head, "\n".join(lines)]
    if facts.units:
        out.append("units of the stage: " + ", ".join(f"{n:,} {layer}" for layer, n in facts.units))
    out += _room(analysis.machine, facts)
    if not facts.whole:
        out.append(
            "The schedule is not legal yet, or has holes: bytes and units are known once it is checked."
        )
    return "\n\n".join(out)


def _hole_text(found: HoleRange) -> str:
    head = f"**{found.name}** · hole for a {found.place}"
    if found.values is None:
        return f"{head}\n\nranges over {found.words}"
    shown = ", ".join(f"`{v}`" for v in found.values[:SHOWN])
    more = f" … `{found.values[-1]}`" if len(found.values) > SHOWN else ""
    return f"{head}\n\n{plural(len(found.values), 'value')}: {shown}{more}"


def _buffer_text(analysis: Analysis, name: str, offset: int) -> str | None:
    program = analysis.program
    if program is None or name not in program.buffer_of:
        return None
    facts = _facts_at(analysis, offset)
    rows = [] if facts is None else [x for x in facts.tiles if x.buffer == name]
    return "\n\n".join([array_text(program, name), *map(_tile_text, rows), *_room(analysis.machine, facts)])


def array_text(program: Program, name: str) -> str:
    """An array of the program: its type, shape, bytes, and who reads and writes it."""
    buffer = program.buffer_of[name]
    size = buffer.dtype.bytes
    for extent in buffer.shape:
        size *= extent
    what = "array of the function itself" if buffer.temp else "constant array" if buffer.values else "array"
    out = [f"**{name}** · {what} {buffer.dtype.name}[{sizes_text(buffer.shape)}], {bytes_text(size)}"]
    writers = [f"`{s.name}`" for s in program.stages if name in s.written]
    readers = [f"`{s.name}`" for s in program.stages if name in s.read]
    out += [f"written by {', '.join(writers)}"] if writers else []
    out += [f"read by {', '.join(readers)}"] if readers else []
    return "\n\n".join(out)


def stage_text(program: Program, name: str) -> str | None:
    """A stage: its dimensions and arrays, and a step to start from."""
    stage = next((s for s in program.stages if s.name == name), None)
    if stage is None:
        return None
    entries = entries_of(program, stage, only=len(program.stages) == 1)
    dims = ", ".join(f"`{d.name}` {d.extent:,} {d.kind}" for d in entries.dims)
    inputs = ", ".join(f"`{b.name}`" for b in entries.inputs) or "none"
    outputs = ", ".join(f"`{b.name}`" for b in entries.outputs)
    skeleton = "\n".join(f"    {row}" for row in entries.skeleton.splitlines())
    return f"**{name}** · stage\n\ndimensions: {dims}\n\ninputs: {inputs}; outputs: {outputs}\n\n{skeleton}"


def machine_text(name: str) -> str:
    """A machine: its limits that schedules meet most often."""
    m = load_machine(name)
    rows = [
        f"**{name}** · {m.title}",
        f"targets: {', '.join(m.targets)}; {m.units} {'cores' if m.kind == 'cpu' else 'multiprocessors'}",
        f"{Space.SM} of a block: {m.shared_per_block:,} bytes; vectors of {m.vector_bytes} bytes",
    ]
    if m.kind != "cpu":
        rows.append(f"threads of a block: {m.threads_per_block}; copy engines: {', '.join(m.copy_engines)}")
    return "\n\n".join(rows)


def _program_text(analysis: Analysis) -> str | None:
    program, owner = analysis.program, analysis.owner
    if program is None or owner is None:
        return None
    sizes = ", ".join(f"{k}={v}" for k, v in analysis.defines)
    stages = ", ".join(f"`{s.name}`" for s in program.stages)
    at = f", at {sizes}" if sizes else ""
    return f"**{program.name}** · `{printable(owner.path)}`{at}\n\n{owner.why}\n\nstages: {stages}"


def hover_program(view: ProgramView, offset: int) -> Hover | None:
    """At an offset of a program: an array, or a loop that is a dimension of stages."""
    word = word_at(view, offset)
    if word is None:
        return None
    for program in view.programs:
        if word.text in program.buffer_of:
            return Hover(array_text(program, word.text), word)
        text = _loop_text(program, offset, word.text)
        if text is not None:
            return Hover(text, word)
        if word.text == program.name or any(s.name == word.text for s in program.stages):
            names = [word.text] if word.text != program.name else [s.name for s in program.stages]
            texts = [stage_text(program, n) for n in names]
            return Hover("\n\n---\n\n".join(t for t in texts if t), word)
    return None


def word_at(view: ProgramView, offset: int) -> Span | None:
    """The C name at an offset."""
    text = view.source.text
    start = end = min(offset, len(text))
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return Span(view.source, start, end) if start < end else None


def _loop_text(program: Program, offset: int, word: str) -> str | None:
    """The dimension whose loop begins on the line of an offset."""
    rows: list[str] = []
    for stage in program.stages:
        for dim in stage.dims:
            there = dim.span is not None and program.source is not None
            if there and word in (dim.name, "for") and _same_line(program, dim.span, offset):
                what = f"{dim.extent:,} iterations, {_kind(dim.kind)}"
                rows.append(f"`{dim.name}` of stage `{stage.name}`: {what}")
    return "\n\n".join(dict.fromkeys(rows)) or None


def _same_line(program: Program, span: Span | None, offset: int) -> bool:
    if span is None or program.source is None or span.source.name != program.source.name:
        return False
    return span.line == program.source.position(offset)[0]


def _kind(kind: str) -> str:
    said = {"cc": "independent (cc)", "pw": "a reduction (pw)", "ps": "a prefix sum (ps)"}
    return said.get(kind, kind)
