"""Prints a `Schedule` as canonical text: `parse(print(s)) == s`. This is what `mdh fmt` writes."""

from typing import assert_never

from mdh.hardware import Space
from mdh.schedule.cases import ranges_text
from mdh.schedule.condition_reader import COMPARISONS, LEVELS
from mdh.schedule.model import (
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
    Online,
    Operation,
    Schedule,
    Section,
    SizeCase,
    SizeHeader,
    Step,
    TileEntry,
    Unit,
    Way,
    WhereExpr,
    Within,
)

Layout = tuple[int | Hole, ...]
_FACTOR = len(LEVELS)
_LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}


def print_condition(condition: WhereExpr) -> str:
    return _print(condition, 0)


def _print(expression: WhereExpr, least: int) -> str:
    """The text, in parentheses if its operator binds weaker than `least`."""
    match expression:
        case int(number):
            return str(number)
        case NameRef(text, hole):
            return f"?{text}" if hole else text
        case Operation(op, (operand,)):
            level = _LEVEL["not"] if op == "not" else _FACTOR
            text = f"not {_print(operand, level)}" if op == "not" else f"-{_print(operand, level)}"
        case Operation(op, (left, right)):
            level = _LEVEL[op]
            # Comparisons do not chain; the other operators associate to the left.
            text = f"{_print(left, level + (op in COMPARISONS))} {op} {_print(right, level + 1)}"
        case Operation(op, operands):
            raise ValueError(f"{op} has {len(operands)} operands")
        case _:
            assert_never(expression)
    return text if level >= least else f"({text})"


INDENT = 4
_CALL = "library("
STEPS = "steps"
"""The word for a stage with a kernel in a choice between that and calls of libraries."""
WIDTH = 120
"""A step of this width stands on one line, its groups in columns. A longer one has the published form."""


def print_schedule(schedule: Schedule) -> str:
    """The whole schedule with its comments. It ends in a newline unless it is empty."""
    head = [_comment(line) for line in schedule.comments]
    head += [_size_header(header) for header in schedule.sizes]
    head += [f"target {schedule.target}"] if schedule.target is not None else []
    head += [f"program {schedule.program}"] if schedule.program is not None else []
    blocks = [head] if head else []
    blocks += map(_section_block, (*schedule.loops, *schedule.sections))
    blocks += map(_case_block, schedule.cases)
    blocks.append([_comment(line) for line in schedule.trailing])
    return "\n\n".join("\n".join(block) for block in blocks if block) + ("\n" if any(blocks) else "")


def _section_block(section: Section, inside: int = 0) -> list[str]:
    """The lines of a section. inside: the columns that it will be indented by."""
    if section.name is None:
        return _section_lines(section, WIDTH - inside)
    comments, opening = list(map(_comment, section.comments)), print_stage(section)
    if section.derived:
        return [*comments, *_remarked([opening], section.remark)]
    return [*comments, f"{opening} {{", *_indented(_section_lines(section, WIDTH - inside - INDENT)), "}"]


def _case_block(case: SizeCase) -> list[str]:
    opening = [*map(_comment, case.comments), f"over {ranges_text(case)} {{"]
    inner: list[str] = []
    for section in case.sections:
        inner += [*([""] if inner else []), *_section_block(section, INDENT)]
    return [*opening, *_indented(inner), "}"]


def _indented(lines: list[str]) -> list[str]:
    return [f"{' ' * INDENT}{line}" if line else "" for line in lines]


def _size_header(header: SizeHeader) -> str:
    words = [header.word, *([header.program] if header.program else [])]
    words += [f"{name}={size}" for name, size in header.sizes]
    return " ".join([*words, *(("on", *header.machines) if header.machines else ())])


def print_stage(section: Section) -> str:
    """`stage T inline @once`, `loop t( i )`: the line of a section, without its steps. Requires a name."""
    if section.counters:
        return f"loop {section.name}( {', '.join(section.counters)} )"
    plain = section.how is How.KERNEL and not section.derived
    chosen = ["="] if may_call(section.how) else []
    how = [] if plain else [*chosen, print_how(section.how)]
    return " ".join(["stage", str(section.name), *how, *map(print_attr, section.attrs)])


def may_call(how: Way) -> bool:
    """Whether a call of a library computes the stage, or may be chosen to."""
    if isinstance(how, Hole):
        return any(str(value).startswith(_CALL) for value in how.values or ())
    return isinstance(how, Library)


def print_how(how: Way) -> str:
    """`inline`, `in C:2`, `online t, u`, `beside P`, `library(openblas)`, `?`."""
    match how:
        case How():
            return str(how)
        case Within(reader, step):
            return f"in {reader}:{step}"
        case Online(names):
            return f"online {', '.join(names)}"
        case Beside(host):
            return f"beside {host}"
        case Library(name):
            return f"{_CALL}{name})"
        case Hole():
            return print_hole(how)
        case _:
            assert_never(how)


def print_fuse(fuse: Fuse) -> str:
    """`fuse n, p, q`."""
    return f"fuse {', '.join(fuse.names)}"


def print_step(step: Step) -> str:
    """One step without its comments, on one line of any length."""
    return " ".join(part for part in _groups(step) if part)


def wrapped_step(step: Step) -> tuple[str, ...]:
    """The lines of a step that does not fit on one line: the published form."""
    return tuple(_wrapped(step, _groups(step)))


def _section_lines(section: Section, width: int) -> list[str]:
    groups = [_groups(step) for step in section.steps]
    fitting = [g for g in groups if len(" ".join(p for p in g if p)) <= width]
    columns = _columns(fitting, width)
    lines: list[str] = []
    for fuse in section.fuses:
        lines.extend(_comment(line) for line in fuse.comments)
        lines.extend(_remarked([print_fuse(fuse)], fuse.remark))
    spaced = any(len(s.comments) > 0 for s in section.steps)
    for step, parts in zip(section.steps, groups, strict=True):
        if spaced and step.comments and lines:
            lines.append("")
        lines.extend(_comment(line) for line in step.comments)
        line = _padded(parts, columns)
        body = [line] if len(line) <= width else _wrapped(step, parts)
        lines.extend(_remarked(body, step.remark))
    for where in section.wheres:
        lines.extend(_comment(line) for line in where.comments)
        lines.extend(_remarked([f"where {print_condition(where.condition)}"], where.remark))
    return lines


def _columns(fitting: list[tuple[str, str, str, str]], width: int) -> tuple[int, int, int]:
    """Widths of the first three groups. They are 0 if one padded step would not fit."""
    first, second, third = (max((len(g[i]) for g in fitting), default=0) for i in range(3))
    widest = max((len(_padded(g, (first, second, third))) for g in fitting), default=0)
    return (first, second, third) if widest <= width else (0, 0, 0)


def _padded(parts: tuple[str, str, str, str], columns: tuple[int, int, int]) -> str:
    each = zip(parts, (*columns, 0), strict=True)
    return " ".join(part.ljust(column) for part, column in each if part or column).rstrip()


def _wrapped(step: Step, parts: tuple[str, str, str, str]) -> list[str]:
    """The published form: the second and third groups on lines of their own."""
    indent = " " * parts[0].index("(", parts[0].index("comp"))
    last = f"{parts[2]} {parts[3]}".rstrip()
    return [parts[0], indent + parts[1], indent + last]


def _remarked(lines: list[str], remark: str) -> list[str]:
    return [*lines[:-1], f"{lines[-1]}  {_comment(remark)}"] if remark else lines


def _comment(line: str) -> str:
    return f"// {line}".rstrip()


def _groups(step: Step) -> tuple[str, str, str, str]:
    """The texts of the word with tiles, of memory, of cores, and of attributes."""
    label = "" if step.label is None else f"{step.label}: "
    word = "(de/re)-comp" if step.slash else "(de-)comp"
    inputs, outputs = (", ".join(map(_entry, mems)) for mems in (step.inputs, step.outputs))
    memory = f"( {inputs} ; {outputs} )" if inputs else f"( ; {outputs} )" if outputs else ""
    return (
        f"{label}{word}( {', '.join(map(_entry, step.tiles))} )",
        memory,
        f"( {', '.join(map(_entry, step.cores))} )",
        " ".join(map(print_attr, step.attrs)),
    )


def _entry(entry: TileEntry | Mem | Core) -> str:
    return print_entry(entry) + "".join(map(print_attr, entry.attrs))


def print_entry(entry: TileEntry | Mem | Core) -> str:
    """One entry of a step's groups without its attributes."""
    return print_value(entry.value)


def print_value(value: int | Space | Caret | Hole | BufferPlace | Unit | ForEntry | Layout) -> str:
    """What stands for a part of an entry: `64`, `SM`, `A:SM[2,1]`, `2,1`, `BLK.x`, `FOR.1`, `^`, `?`."""
    match value:
        case int() | Space():
            return str(value)
        case Caret():
            return "^"
        case Hole():
            return print_hole(value)
        case BufferPlace(buffer, region, layout):
            return f"{buffer}:{print_value(region)}[{print_value(layout)}]"
        case Unit(layer, axis):
            return f"{layer}.{axis}"
        case ForEntry(number):
            return f"FOR.{number}"
        case tuple():
            return ",".join(map(print_value, value))
        case _:
            assert_never(value)


def print_hole(hole: Hole) -> str:
    """`?`, `?name`, `?{…}` or `?name{…}`."""
    values = "" if hole.values is None else "{" + ",".join(str(v) for v in hole.values) + "}"
    return f"?{hole.name or ''}{values}"


def print_attr(attr: Attr) -> str:
    """`@stages(2)`."""
    return f"@{attr.name}" + (f"({_args(attr.args)})" if attr.args else "")


def _args(args: tuple[Arg, ...]) -> str:
    return ", ".join(print_arg(a) for a in args)


def print_arg(arg: Arg) -> str:
    """`4`, `vec=4`, `tma else async`."""
    texts: list[str] = []
    alternative: Arg | None = arg
    while alternative is not None:
        name = "" if alternative.name is None else f"{alternative.name}="
        texts.append(name + _arg_value(alternative.value))
        alternative = alternative.fallback
    return " else ".join(texts)


def _arg_value(value: int | str | Hole | ArgCall) -> str:
    match value:
        case int() | str():
            return str(value)
        case Hole():
            return print_hole(value)
        case ArgCall(name, args):
            return f"{name}({_args(args)})"
        case _:
            assert_never(value)
