"""What can be written at a place of a schedule. It reads what is known of program and machine, and asks the
checker nothing: an answer takes milliseconds."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, permutations

from mdh.checker.fusing import stage_in
from mdh.editor import words
from mdh.editor.analysis import Analysis
from mdh.editor.hover import header_name
from mdh.editor.outline import steps_of
from mdh.editor.walk import Kind, Place, place_at
from mdh.hardware import Layer, Space
from mdh.ir.program import Program, Stage
from mdh.machine import Machine, load_machine, machine_names
from mdh.report.entries import entries_of
from mdh.schedule.attributes import ATTRIBUTES, Attribute, Parameter
from mdh.schedule.names import axes_of, layer_of
from mdh.schedule.tokens import Token, in_comment, known_tokens
from mdh.source import Source, Span

MOST_TILES = 24
"""Tile sizes that are proposed."""
_TILES = re.compile(r"comp\s*\(([^()]*)\)")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}\Z", re.ASCII)
MOST_LAYOUTS = 24
"""Layouts that are proposed: those of four dimensions."""


@dataclass(frozen=True, slots=True)
class Item:
    """kind: keyword, step, machine, program, size, stage, buffer, region, layer, attribute, value or hole.
    text: what is inserted in place of `span`. order: of the list."""

    label: str
    kind: str
    text: str
    span: Span
    detail: str = ""
    documentation: str = ""
    order: int = 0


def complete(analysis: Analysis, source: Source, offset: int) -> tuple[Item, ...]:
    """What can stand at an offset of `source`, which may be newer than the analysis."""
    if in_comment(source, offset):
        return ()
    place = place_at(source, offset, typing=True)
    found = _Completion(analysis, source, place, offset).items()
    return tuple(replace(item, order=n) for n, item in enumerate(found))


@dataclass(frozen=True)
class _Completion:
    analysis: Analysis
    source: Source
    place: Place
    offset: int

    @property
    def program(self) -> Program | None:
        return self.analysis.program

    @property
    def machine(self) -> Machine | None:
        return self.analysis.machine

    @property
    def stage(self) -> Stage | None:
        """The stage whose section is around the place."""
        program, name = self.program, self.place.stage
        if program is None or self.place.loop is not None:
            return None
        if name is None:
            return program.stages[0] if len(program.stages) == 1 else None
        return stage_in(program, name) if any(s.name == name for s in program.stages) else None

    def item(self, label: str, kind: str, detail: str = "", documentation: str = "", text: str = "") -> Item:
        return Item(label, kind, text or label, self.place.word, detail, documentation)

    def items(self) -> Iterator[Item]:
        if self.place.token == "hole":
            yield from self.holes()
            return
        match self.place.kind:
            case Kind.ITEM:
                yield from self.keywords()
            case Kind.MACHINE:
                yield from self.machines()
            case Kind.PROGRAM:
                yield from self.programs()
                yield from self.sizes()
            case Kind.SIZE:
                yield from self.sizes()
                yield self.item("on", "keyword", "machines follow")
            case Kind.STAGE | Kind.READER:
                yield from self.stages()
            case Kind.READER_STEP:
                yield from self.labels()
            case Kind.HOW:
                yield from self.ways()
            case Kind.LOOP:
                yield from self.loops()
            case Kind.DIMENSION:
                yield from self.dimensions()
            case Kind.CONDITION:
                yield from self.holes()
                yield from self.constants()
            case Kind.TILE:
                yield from self.tiles()
            case Kind.INPUT | Kind.OUTPUT:
                yield from self.memory()
            case Kind.REGION:
                yield from self.regions()
            case Kind.LAYOUT:
                yield from self.layouts()
            case Kind.CORE:
                yield from self.cores()
            case Kind.AXIS:
                yield from self.axes()
            case Kind.ATTRIBUTE:
                yield from self.attributes()
            case Kind.ARGUMENT:
                yield from self.arguments()
            case Kind.NOTHING:
                return

    def keywords(self) -> Iterator[Item]:
        inside = self.place.stage is not None
        yield from self.steps()
        for word, meaning in words.KEYWORDS.items():
            if self.place.loop is None and (not inside or word in ("fuse", "where")):
                yield self.item(word, "keyword", documentation=meaning)

    def steps(self) -> Iterator[Item]:
        """A step that changes nothing yet, with an entry for each dimension and array."""
        stage, program = self.stage, self.program
        label = self._next_label()
        if self.place.loop is not None:
            yield self.item("(de-)comp", "step", "a step of a loop", text=f"{label}(de-)comp( ^ ) ( BLK.x )")
            return
        if stage is None or program is None:
            yield self.item("(de-)comp", "step", "a step", text=f"{label}(de-)comp( ^ ) ( ^ ; ^ ) ( ^ )")
            return
        dims, outs = ", ".join("^" for _ in stage.dims), ", ".join("^" for _ in program.outputs(stage))
        ins = ", ".join("^" for _ in program.inputs(stage))
        names = f"{', '.join(d.name for d in stage.dims)}: {', '.join(program.inputs(stage))}"
        text = f"{label}(de-)comp( {dims} ) ( {ins} ; {outs} ) ( {dims} )".replace("(  ;", "( ;")
        skeleton = entries_of(program, stage, only=len(program.stages) == 1).skeleton
        yield self.item("(de-)comp", "step", f"a step: {names}", f"```\n{skeleton}\n```", text)

    def _next_label(self) -> str:
        """`3: ` if the steps above have labels; empty behind a label, and if they have none."""
        above = [s for s in steps_of(self.source) if s.span.end <= self.place.word.start]
        line = self.source.text.rfind("\n", 0, self.place.word.start) + 1
        if self.source.text[line : self.place.word.start].strip().endswith(":"):
            return ""
        if not above:
            return "1: "
        label = above[-1].label
        return "" if label is None else f"{label + 1}: "

    def machines(self) -> Iterator[Item]:
        name = header_name(self.source.text[: self.offset], self.offset)
        span = Span(self.source, self.offset - len(name), self.offset)
        for known in machine_names():
            yield Item(known, "machine", known, span, load_machine(known).title)

    def programs(self) -> Iterator[Item]:
        names = [self.program.name] if self.program is not None else []
        for name in dict.fromkeys((*names, *self.analysis.headers.programs)):
            yield self.item(name, "program", "the function of this schedule")

    def sizes(self) -> Iterator[Item]:
        if self.program is not None:
            for name, value in {**dict(self.program.constants), **self.program.sizes}.items():
                yield self.item(name, "size", f"{value} now", text=f"{name}=")

    def stages(self) -> Iterator[Item]:
        taken = {x.text for x in self._names_behind("stage")}
        for stage in self.program.stages if self.program is not None else ():
            if self.place.kind is Kind.READER or stage.name not in taken:
                yield self.item(stage.name, "stage", ", ".join(f"{d.name}:{d.extent}" for d in stage.dims))

    def _names_behind(self, keyword: str) -> list[Token]:
        pairs = pairwise(t for t in known_tokens(self.source) if t.end < self.offset)
        return [b for a, b in pairs if a.text == keyword and b.kind == "name"]

    def labels(self) -> Iterator[Item]:
        """Labels of the steps of the reader that is named before the colon."""
        known = [s.label for s in steps_of(self.source)]
        for label in sorted({n for n in known if n}):
            yield self.item(str(label), "value", "a step")

    def ways(self) -> Iterator[Item]:
        for word in words.HOW:
            yield self.item(str(word), "keyword", documentation=words.HOW[word])
        yield self.item("?", "hole", "the search chooses")

    def loops(self) -> Iterator[Item]:
        for name in dict.fromkeys(x.var for x in (self.program.loops if self.program is not None else ())):
            yield self.item(name, "size", "a loop around stages", text=f"{name}( {name} )")

    def dimensions(self) -> Iterator[Item]:
        for dim in self.stage.dims if self.stage is not None else ():
            yield self.item(dim.name, "size", f"{dim.extent:,} iterations")

    def holes(self) -> Iterator[Item]:
        names = (t.text for t in known_tokens(self.source) if t.kind == "hole" and len(t.text) > 1)
        for name in dict.fromkeys(names):
            if name != self.place.word.text:
                yield self.item(name, "hole", "a hole of this schedule")

    def constants(self) -> Iterator[Item]:
        if self.program is not None:
            for name, value in {**dict(self.program.constants), **self.program.sizes}.items():
                yield self.item(name, "size", str(value))

    def open(self) -> Iterator[Item]:
        yield self.item("^", "value", "as in the step before")
        yield self.item("?", "hole", "the search chooses")

    def tiles(self) -> Iterator[Item]:
        yield from self.open()
        stage = self.stage
        if stage is None or self.place.entry >= len(stage.dims):
            return
        dim = stage.dims[self.place.entry]
        above = self._tile_above(dim.extent)
        sizes = {n for n in range(1, min(above, 4096) + 1) if above % n == 0}
        sizes |= {1 << k for k in range(above.bit_length()) if 1 << k <= above}
        for n in sorted(sizes, reverse=True)[-MOST_TILES:]:
            whole = f"{above // n} parts of `{dim.name}`" if above % n == 0 else "leaves a remainder"
            yield self.item(str(n), "value", whole)

    def _tile_above(self, extent: int) -> int:
        """The tile of the dimension in the steps before, in the text, which need not parse."""
        above = [s for s in steps_of(self.source) if s.span.end <= self.place.word.start]
        for step in above[max(0, len(above) - self.place.step) :] if self.place.step > 0 else ():
            group = _TILES.search(step.span.text)
            tiles = [] if group is None else group[1].split(",")
            value = tiles[self.place.entry].strip() if self.place.entry < len(tiles) else ""
            extent = int(value) if _NUMBER.match(value) else extent
        return extent

    def memory(self) -> Iterator[Item]:
        yield from self.open()
        stage, program, entry = self.stage, self.program, self.place.entry
        if stage is None or program is None:
            return
        ins = self.place.kind is Kind.INPUT
        names = program.inputs(stage) if ins else program.outputs(stage)
        if entry >= len(names):
            return
        name = names[entry]
        buffer = program.buffer_of[name]
        layout = ",".join(str(n + 1) for n in range(len(buffer.shape)))
        what = f"{buffer.dtype.name}[{'×'.join(map(str, buffer.shape))}]"
        for region in (Space.SM, Space.RM):
            verb = "copied into" if ins else "held in"
            text = f"{name}:{region}[{layout}]"
            yield self.item(text, "buffer", f"{what}, {verb} {region}", words.REGIONS[region])

    def regions(self) -> Iterator[Item]:
        for region in (Space.SM, Space.RM, Space.DM):
            yield self.item(str(region), "region", documentation=words.REGIONS[region])
        yield self.item("?", "hole", "the search chooses")

    def layouts(self) -> Iterator[Item]:
        yield self.item("?", "hole", "the search chooses")
        program = self.program
        buffer = None if program is None else program.buffer_of.get(self.place.buffer)
        if buffer is None:
            return
        rank = len(buffer.shape)
        if self.place.entry or rank > 4:
            for n in range(rank):
                yield self.item(str(n + 1), "value", f"{buffer.shape[n]:,} elements")
            return
        for order in list(permutations(range(1, rank + 1)))[:MOST_LAYOUTS]:
            text = ",".join(map(str, order))
            how = "as in C" if order == tuple(range(1, rank + 1)) else "the slowest dimension first"
            yield self.item(text, "value", how)

    def cores(self) -> Iterator[Item]:
        yield from self.open()
        for layer in self._layers():
            for axis in axes_of(layer)[: 1 if layer is Layer.VEC else 3]:
                yield self.item(f"{layer}.{axis}", "layer", documentation=words.LAYERS[layer])
        count = len(self.stage.dims) if self.stage is not None else 3
        for n in range(count):
            yield self.item(f"{words.LOOP}.{n + 1}", "layer", "a sequential loop, counted from outside")

    def _layers(self) -> Iterable[Layer]:
        """Those of the machine that are lowered."""
        m = self.machine
        if m is None:
            return (Layer.CLU, Layer.BLK, Layer.WGP, Layer.WRP, Layer.THR, Layer.VEC, Layer.MMA)
        if m.kind == "cpu":
            return (Layer.BLK, Layer.THR, Layer.VEC)
        clusters = (Layer.CLU,) if m.cluster > 1 else ()
        groups = (Layer.WGP,) if m.cluster > 1 else ()
        atoms = (Layer.MMA,) if m.tensor_f16 or m.tensor_f64 else ()
        return (*clusters, Layer.BLK, *groups, Layer.WRP, Layer.THR, Layer.VEC, *atoms)

    def axes(self) -> Iterator[Item]:
        layer = layer_of(self.place.layer)
        if self.place.layer == words.LOOP:
            for n in range(len(self.stage.dims) if self.stage is not None else 3):
                yield self.item(str(n + 1), "value", "counted from outside")
        elif layer is not None:
            for axis in axes_of(layer):
                yield self.item(axis, "value", f"axis of {layer}")

    def attributes(self) -> Iterator[Item]:
        present = self._present()
        for name, known in ATTRIBUTES.items():
            if name not in present and (self.place.site is None or self.place.site in known.sites):
                plain = not known.parameters or not any(p.required for p in known.parameters)
                if not plain and not _first(known):
                    # a counter of the program, which only the writer knows
                    continue
                text = name if plain else f"{name}({_first(known)})"
                yield self.item(name, "attribute", known.form, words.attribute_text(name) or "", text)

    def _present(self) -> set[str]:
        """The attributes in front of the place, of the same entry or step."""
        found, depth = set[str](), 0
        tokens = [t for t in known_tokens(self.source) if t.end <= self.place.word.start]
        for at, name in reversed(list(pairwise(tokens))):
            depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(name.text, 0)
            if depth < 0 or name.kind == "comp" or (depth == 0 and name.text in (",", ";")):
                break
            if depth == 0 and at.text == "@":
                found.add(name.text)
        return found

    def arguments(self) -> Iterator[Item]:
        known = ATTRIBUTES.get(self.place.attribute)
        if known is None:
            return
        if not self.place.named:
            for p in known.parameters:
                if p.name is not None:
                    yield self.item(f"{p.name}=", "value", "a named argument")
        wanted = self.place.named or None
        fitting = [p for p in known.parameters if p.name == wanted]
        if wanted is None:
            fitting = fitting[self.place.argument :][:1] or fitting[:1]
        for p in fitting:
            for value in _values(p):
                yield self.item(value, "value", f"@{known.name}")
            if p.domain and not self.place.in_set:
                yield self.item("?", "hole", f"the search chooses: {', '.join(map(str, p.domain))}")


def _values(p: Parameter) -> tuple[str, ...]:
    """The words, choices and usual numbers of a parameter."""
    calls = (f"{call}(8)" for call in p.calls)
    return tuple(dict.fromkeys(map(str, (*p.words, *p.choices, *p.domain, *calls))))


def _first(known: Attribute) -> str:
    """The argument that is written first: one that has an effect."""
    p = known.parameters[0]
    neutral = {str(v[0]) for v in known.neutral}
    value = next((v for v in _values(p) if v not in neutral), "")
    return f"{p.name}={value}" if p.name else value
