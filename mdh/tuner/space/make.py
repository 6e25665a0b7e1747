"""Makes the space of a schedule with holes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mdh.checker.inlining import staged
from mdh.checker.loop_launch import loops_with_launches
from mdh.checker.parallel_loops import shared_loops
from mdh.checker.rules import SHAPE_RULES
from mdh.checker.run import supported
from mdh.checker.subject import Draft
from mdh.checker.wavefronts import skewed_loops
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import Layer
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.results.variable import Metric, Variable
from mdh.schedule.model import BufferPlace, Caret, ForEntry, Hole, Schedule, Section, Unit
from mdh.tuner.space.atoms import divided_tiles
from mdh.tuner.space.chain import Chain, ChainStep, Choice, words_of
from mdh.tuner.space.conditions import Condition, number_chain, on_numbers
from mdh.tuner.space.domains import choices_of, core_choices, free_values, loop_orders
from mdh.tuner.space.empty import explain_empty
from mdh.tuner.space.engines import engine_groups
from mdh.tuner.space.exact import Joint
from mdh.tuner.space.frames import BLOCK, GRID, THREAD, Nesting
from mdh.tuner.space.free import Given, VariableGroup, layout_groups
from mdh.tuner.space.ladder import Ladder, Memory, code_order
from mdh.tuner.space.places import VariablePlace
from mdh.tuner.space.sections import Seen, named_sections, own_sections
from mdh.tuner.space.signature import Bounds
from mdh.tuner.space.space import ExactSpace, Loops
from mdh.tuner.space.tally import TooManyError

SPLITS = (
    (20, (GRID, BLOCK, THREAD)),
    (5, (GRID, BLOCK + THREAD)),
)
"""Bands of layers, the finest first, and the factor by which they multiply the work of counting."""
MOST_WORK = 400_000
"""The most sums of a count; they take about half a second."""


def make_space(
    program: Program,
    schedule: Schedule,
    machine: Machine,
    target: str,
    *,
    deterministic: bool = False,
    default: Schedule | None = None,
) -> ExactSpace:
    """The space of `schedule`. `default` has the sections of stages that it leaves out.

    Raises Failed: K100, F150, S150 to S155, errors in the shape of groups (S…, K101, K102), and S160 and S161
    if no choice of values is structurally legal.
    """
    supported(machine, target)
    turned = tuple(x.section for x in loops_with_launches(program, schedule))
    shared = shared_loops(program, schedule, default, holes=True)
    sections, inline, openings = named_sections(
        program, schedule, machine, default, target, shared, deterministic=deterministic
    )
    _shape(sections, machine, target, deterministic)
    seen = LANGUAGES[target].seen(machine)
    whole = staged(program, schedule, machine, default)
    skewed = tuple(x.section for x in skewed_loops(whole.program, schedule, default, seen))
    build = _SpaceBuilder(program, seen, target, sections, openings, weighs=True)
    try:
        joint = build.joint()
    except TooManyError:
        build = _SpaceBuilder(program, seen, target, sections, openings, weighs=False)
        joint = build.joint()
    if joint.count == 0:
        plain = Joint(joint.chains, joint.groups, None, joint.conditions)
        stages = [stage for _, stage, _ in sections]
        raise Failed(*explain_empty(plain, build.names, openings, stages))
    template = replace(
        schedule,
        sections=(*own_sections(sections, shared), *inline),
        loops=(*turned, *(section for _, _, section in sections if section.counters), *skewed),
    )
    return ExactSpace(
        program, machine, target, deterministic, build.variables(joint), template,
        tuple(build.constants.items()), joint, build.loops,
    )  # fmt: skip


def nested(plain: Joint, orders: Sequence[Sequence[int]]) -> Joint:
    """The joint chains restricted to layers that nest (K106), the more finely the smaller the space is;
    `plain`, without that restriction, if even two bands are too much work. orders: for each stage its steps
    in code order.

    Layers of one band that are out of order in different dimensions are rejected draw by draw.
    """
    if not plain.count:
        return plain
    work = plain.work
    for factor, bands in SPLITS:
        if work * factor <= MOST_WORK:
            stages = dict.fromkeys(c.stage for c in plain.chains)
            members = [[c for c in plain.chains if c.stage == s] for s in stages]
            nestings = tuple(Nesting.of(m, orders[s], bands) for m, s in zip(members, stages, strict=True))
            return Joint(plain.chains, plain.groups, nestings, plain.conditions)
    return plain


def _shape(sections: Sequence[Seen], machine: Machine, target: str, deterministic: bool) -> None:
    """Raises Failed if a step has the wrong number of entries, because nothing can be counted then."""
    found: list[Diagnostic] = []
    seen = LANGUAGES[target].seen(machine)
    for program, stage, section in sections:
        draft = Draft(program, stage, section.steps, seen, target, deterministic, section.span)
        found.extend(d for rule in SHAPE_RULES for d in rule(draft))
    if found:
        raise Failed(*found)


class _SpaceBuilder:
    """Variables by name, and the parts of the space that are made of them."""

    def __init__(
        self, program: Program, machine: Machine, target: str, sections: Sequence[Seen],
        openings: Sequence[VariablePlace], *, weighs: bool,
    ) -> None:  # fmt: skip
        """weighs: whether conditions are counted."""
        self.machine, self.target = machine, target
        self.sections, self.openings = sections, openings
        self.names = list(dict.fromkeys(o.variable for o in openings))
        self.index = {name: i for i, name in enumerate(self.names)}
        self.walked = {self.index[o.variable] for o in openings if o.what in ("tile", "core")}
        self.domains = self._domains()
        self.constants = {**dict(program.constants), **program.sizes}
        self.conditions = self._conditions() if weighs else ()
        self.numbers = {i for c in self.conditions for i in c.names} - self.walked
        self.loops = self._loops()

    def _domains(self) -> dict[int, tuple[Value, ...]]:
        """Variable -> the values that all its places outside of chains accept."""
        out: dict[int, tuple[Value, ...]] = {}
        for o in (o for o in self.openings if o.what not in ("tile", "core")):
            view, _, section = next(seen for seen in self.sections if seen[1].name == o.stage)
            i, values = self.index[o.variable], free_values(o, section, view, self.machine)
            out[i] = values if i not in out else tuple(v for v in out[i] if v in values)
        return out

    def joint(self) -> Joint:
        """The chains and groups of the space. Raises TooManyError if conditions take too long to count."""
        joint = Joint(self.chains(), self.groups(), None, self.conditions)
        if self.openings:  # without holes, the checker says where layers do not nest
            joint = nested(joint, [code_order(section) for _, _, section in self.sections])
        return joint

    def _conditions(self) -> tuple[Condition, ...]:
        """The conditions on tiles, and on arguments that are numbers."""
        numbers = {self.index[o.variable] for o in self.openings if o.what in ("tile", "argument")}
        numbers -= {i for i, values in self.domains.items() if not all(isinstance(v, int) for v in values)}
        numbers -= {self.index[o.variable] for o in self.openings if o.what not in ("tile", "argument")}
        return on_numbers([s for _, _, s in self.sections], self.index, self.constants, numbers)

    def _loops(self) -> tuple[Loops, ...]:
        """The steps whose core holes without a set may be loops, with the positions FOR.n that are free in
        them. Two or more holes have an order to choose."""
        steps: dict[tuple[str, int], list[VariablePlace]] = {}
        for o in self.openings:
            if o.what == "core" and o.values is None and not o.named:
                steps.setdefault((o.stage, o.step), []).append(o)
        out = []
        for (stage, step), places in steps.items():
            order = None
            if len(places) > 1:
                order = len(self.names)
                self.names.append(f"{places[0].variable.partition('.core.')[0]}.loops")
                self.domains[order] = loop_orders(len(places))
            section = next(section for _, other, section in self.sections if other.name == stage)
            written = section.steps[step].cores
            taken = {c.value.number for c in written if isinstance(c.value, ForEntry)}
            free = [n for n in range(1, len(written) + 1) if n not in taken]
            cores = tuple(self.index[o.variable] for o in places)
            out.append(Loops(order, cores, stage, step, tuple(free[: len(cores)])))
        return tuple(out)

    def chains(self) -> tuple[Chain, ...]:
        """One chain for each dimension of each stage. Chains that share variables know of it."""
        uses = Counter(self.index[o.variable] for o in self.openings if o.what in ("tile", "core"))
        several = {i for i, n in uses.items() if n > 1}
        weighed = {i for c in self.conditions for i in c.names}
        numbers = set(self.numbers)
        allowed = {v: frozenset(self.domains[v]) for v in self.walked if v in self.domains}
        out = []
        for s, (_, stage, section) in enumerate(self.sections):
            labels = [step.label for step in section.steps]
            ordered = None in labels or labels == sorted(n for n in labels if n is not None)
            cores = (c.value for step in section.steps for c in step.cores)
            atoms = any(isinstance(unit, Unit) and unit.layer is Layer.MMA for unit in cores)
            bounds = Bounds.of(self.machine, atoms=atoms)
            for d, dim in enumerate(stage.dims):
                entries = tuple(self._entries(stage, section, d, several))
                here = Counter(v for e in entries for v in (e.tile, e.core) if v is not None)
                shared = (several | weighed) & here.keys()
                kept = frozenset(v for v in shared if here[v] < uses[v] or v in weighed)
                out.append(
                    Chain(
                        s, dim.extent, entries, bounds, LANGUAGES[self.target].widths, ordered,
                        frozenset(shared), kept, allowed,
                    )
                )  # fmt: skip
            mine = [i for i in sorted(numbers) if self.names[i] in {o.variable for o in self.openings
                                                                    if o.stage == stage.name}]  # fmt: skip
            numbers.difference_update(mine)
            for i in mine:
                found = [v for v in self.domains[i] if isinstance(v, int)]
                out.append(number_chain(s, i, found, len(section.steps), bounds))
        return tuple(out)

    def _entries(self, stage: Stage, section: Section, d: int, shared: set[int]) -> list[ChainStep]:
        out: list[ChainStep] = []
        steps = section.steps
        divided = divided_tiles(stage, section, self.machine, d)
        for n, step in enumerate(steps):
            tile, core = step.tiles[d].value, step.cores[d].value
            initial = n == 0 and step.label == 0
            here = [o for o in self.openings if (o.stage, o.step, o.dim) == (stage.name, n, d)]
            tiles = next((o.values for o in here if o.what == "tile"), None)
            if initial:
                tiles = (stage.dims[d].extent,)
            out.append(
                ChainStep(
                    self.index[tile.name] if isinstance(tile, Hole) and tile.name else None,
                    tiles,
                    tile if isinstance(tile, int) else None,
                    self.index[core.name] if isinstance(core, Hole) and core.name else None,
                    self._choices(core, here, len(stage.dims), shared),
                    n + 1 == len(steps) or isinstance(steps[n + 1].cores[d].value, Caret),
                    divided=divided[n],
                )
            )
        return out

    def _choices(
        self, core: object, here: Sequence[VariablePlace], dims: int, shared: set[int]
    ) -> tuple[Choice, ...]:
        match core:
            case Hole():
                opening = next(o for o in here if o.what == "core")
                choices = core_choices(opening, self.machine, self.target)
                if opening.named and opening.values is None:
                    # a name may stand in several steps, so its value says where the loop is
                    positions = tuple(Choice(None, 0, f"FOR.{n + 1}") for n in range(dims))
                    choices = (*positions, *choices[1:])
                if self.index[opening.variable] in shared:
                    choices = choices_of(tuple(w for c in choices for w in words_of(c)), apart=True)
                return choices
            case Unit(layer, axis):
                return choices_of((f"{layer}.{axis}",))
            case ForEntry(number):
                return (Choice(None, 0, f"FOR.{number}"),)
            case _:
                return (Choice(None),)

    def groups(self) -> tuple[VariableGroup | Ladder, ...]:
        """Everything outside of chains: open layouts, memory entries by buffer, single holes."""
        layouts = [
            tuple(
                self.index[e.name] if isinstance(e, Hole) and e.name else Given(int(str(e))) for e in entries
            )
            for _, _, section in self.sections
            for entries in _open_layouts(section)
        ]
        joint = layout_groups(layouts, self.domains)
        grouped = {v for g in joint for v in g.variables} | self.walked | self.numbers
        places = Counter(self.index[o.variable] for o in self.openings)
        memory = Memory(self.index, self.domains, lambda v: places[v] == 1 and v not in grouped)
        ladders = tuple(ladder for _, _, section in self.sections for ladder in memory.ladders(section))
        grouped |= {v for ladder in ladders for v in ladder.variables}
        free = {i for i, n in places.items() if n == 1} - grouped
        alone = [o for o in self.openings if self.index[o.variable] in free]
        copies = engine_groups(alone, self.index, self.domains)
        grouped |= {v for group in copies for v in group.variables}
        single = (i for i in self.domains if i not in grouped)
        return (
            *joint,
            *ladders,
            *copies,
            *(VariableGroup((i,), tuple((v,) for v in self.domains[i])) for i in single),
        )

    def variables(self, joint: Joint) -> tuple[Variable, ...]:
        values: dict[int, set[Value]] = {}

        def take(variable: int, here: set[Value]) -> None:
            """Keeps the values that all places of the variable accept."""
            values[variable] = values[variable] & here if variable in values else here

        for chain, said in zip(joint.chains, joint.said, strict=True):
            for entry, (tiles, choices) in zip(chain.entries, said, strict=True):
                if entry.tile is not None:
                    take(entry.tile, set(tiles))
                if entry.core is not None:
                    take(entry.core, {w for c in choices for w in words_of(c)})
        for group in joint.groups:
            for variable, column in zip(group.variables, group.columns, strict=True):
                values[variable] = set(column)
        return tuple(self._variable(i, values[i]) for i in range(len(self.names)))

    def _variable(self, i: int, values: set[Value]) -> Variable:
        loops = next((x for x in self.loops if x.order == i), None)
        if loops is not None:
            return Variable(self.names[i], Metric.WORD, self.domains[i], "", 0, loops.stage, loops.step)
        o = next(o for o in self.openings if o.variable == self.names[i])
        numbers = sorted(v for v in values if isinstance(v, int))
        given = self.domains.get(i) or o.values or ()
        words = [v for v in given if v in values and not isinstance(v, int)]
        words += sorted(str(v) for v in values if not isinstance(v, int) and v not in words)
        kind = Metric.TILE if o.what == "tile" else Metric.WORD if words else Metric.NUMBER
        stage = next(stage for _, stage, _ in self.sections if stage.name == o.stage)
        dim = stage.dims[o.dim] if o.what in ("tile", "core") else None
        return Variable(
            f"?{o.variable}" if o.named else o.variable,
            kind,
            (*numbers, *words),
            dim.name if dim else "",
            dim.extent if dim and o.what == "tile" else 0,
            o.stage,
            o.step,
        )


def _open_layouts(section: Section) -> list[tuple[int | Hole, ...]]:
    places = (m.value for step in section.steps for m in (*step.inputs, *step.outputs))
    layouts = (p.layout for p in places if isinstance(p, BufferPlace) and isinstance(p.layout, tuple))
    return [entries for entries in layouts if any(isinstance(e, Hole) for e in entries)]
