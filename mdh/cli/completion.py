"""What a shell completes values by: programs, schedules, machines, devices, codes, files of their endings.

Files among the words so far give the names of sizes and functions, of holes with their values, and the sizes
of a table's cases. A file that cannot be read completes nothing.

Each function takes the part of the word that is there, and returns whole words that begin with it. What takes
long to import is imported in it: `mdh --help` imports this module.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from mdh.diagnostics import Failed
from mdh.shipped import example_called, examples, schedules
from mdh.source import Source
from mdh.textfile import PROGRAMS, read_program_text, read_schedule_text

_GPUS = Path("/proc/driver/nvidia/gpus")
"""Has a folder for each NVIDIA GPU. The driver itself takes a second to start."""
_MACRO = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
FORMATS = ("text", "json", "sarif", "github")
TARGETS = ("c", "cuda", "opencl")


def programs(incomplete: str) -> list[str]:
    return [*_files(incomplete, PROGRAMS), *example_names(incomplete)]


def example_names(incomplete: str) -> list[str]:
    return _beginning(incomplete, (e.name for e in examples()))


def subjects(incomplete: str) -> list[str]:
    """Of `mdh explain`: programs, schedules, codes."""
    codes = _beginning(incomplete, import_module("mdh.report.pages").page_codes()) if incomplete else []
    return [*programs(incomplete), *_files(incomplete, (".mdh",)), *codes]


def schedule_names(incomplete: str, args: list[str]) -> list[str]:
    """Files, and what is shipped: for the program among the words so far, or of the name so far."""
    program = next((e for word in args if (e := example_called(word)) is not None), None)
    shipped = program.schedules if program is not None else schedules() if incomplete else ()
    return [*_files(incomplete, (".mdh",)), *_beginning(incomplete, (s.name for s in shipped))]


def compared_names(incomplete: str, args: list[str]) -> list[str]:
    """Of `mdh compare --schedule`."""
    return [*_beginning(incomplete, ("default",)), *schedule_names(incomplete, args)]


def machines(incomplete: str) -> list[str]:
    return [
        *_beginning(incomplete, import_module("mdh.machine").machine_names()),
        *_files(incomplete, (".toml",)),
    ]


def devices(incomplete: str) -> list[str]:
    """Those that may be here, of a machine without a GPU, too: its driver may be elsewhere."""
    count = 0
    with suppress(OSError):
        count = len(os.listdir(_GPUS))
    gpus = [f"cuda:{n}" for n in range(max(1, count))]
    return _beginning(incomplete, ("c", *gpus, "oclgrind", "opencl:0"))


def defines(incomplete: str, args: list[str]) -> list[str]:
    """`M=` for each size and macro of the program among the words, and the sizes of a table's cases."""
    program = _program(args)
    read = import_module("mdh.frontend.read")
    names = () if program is None else read.language(program).size_spans(program)
    macros = () if program is None else _MACRO.findall(program.text)
    named = [f"{name}=" for name in dict.fromkeys((*names, *macros))]
    return _beginning(incomplete, [*named, *_cases(args)])


def sizes(incomplete: str, args: list[str]) -> list[str]:
    """Of `--at`: the largest sizes of each case of the table among the words."""
    return _beginning(incomplete, _cases(args))


def holes(incomplete: str, args: list[str]) -> list[str]:
    """`bm=` for each hole with a name in the schedule among the words, and behind that the values of its
    set."""
    schedule = _schedule(args)
    if schedule is None:
        return []
    every = import_module("mdh.schedule.holes").holes(schedule)
    values = {h.hole.name: h.hole.values or () for h in every if h.hole.name is not None}
    name, equals, _ = incomplete.removeprefix("?").partition("=")
    if equals:
        return _beginning(incomplete.removeprefix("?"), [f"{name}={v}" for v in values.get(name, ())])
    return _beginning(name, [f"{n}=" for n in values])


def functions(incomplete: str, args: list[str]) -> list[str]:
    program = _program(args)
    if program is None:
        return []
    with suppress(Failed):
        return _beginning(incomplete, import_module("mdh.frontend.read").function_names(program))
    return []


def consents(incomplete: str) -> list[str]:
    return _beginning(incomplete, import_module("mdh.ir.program").CONSENTS)


def stages(incomplete: str) -> list[str]:
    """Of `--dump`."""
    trace = import_module("mdh.cli.trace")
    return _beginning(incomplete, (*trace.STAGES, "all", *trace.PASSES))


def samplers(incomplete: str) -> list[str]:
    make = import_module("mdh.tuner.search.make")
    return _beginning(incomplete, (*(s.name for s in make.SAMPLERS), make.AROUND))


def warned(incomplete: str) -> list[str]:
    return _beginning(incomplete, ("error",))


def _program(args: list[str]) -> Source | None:
    """The first word that is a program."""
    for word in args:
        if Path(word).suffix in PROGRAMS or example_called(word) is not None:
            with suppress(Failed):
                return read_program_text(word)
    return None


def _schedule(args: list[str]) -> Any:
    """The schedule of the last `--schedule`."""
    found = [n for n, word in enumerate(args) if word in ("-s", "--schedule") and n + 1 < len(args)]
    names = [args[n + 1] for n in found] + [
        w.partition("=")[2] for w in args if w.startswith("--schedule=")
    ]  # fmt: skip
    for name in reversed(names):
        with suppress(Failed):
            return import_module("mdh.schedule.parser").parse_schedule(read_schedule_text(name))
    return None


def _cases(args: list[str]) -> list[str]:
    """`M=16,N=512` for each case of the table among the words."""
    schedule = _schedule(args)
    cases = () if schedule is None else schedule.cases
    return [",".join(f"{r.name}={r.most}" for r in case.ranges) for case in cases]


def formats(incomplete: str) -> list[str]:
    return _beginning(incomplete, FORMATS)


def targets(incomplete: str) -> list[str]:
    return _beginning(incomplete, TARGETS)


def baselines(incomplete: str) -> list[str]:
    return _beginning(incomplete, import_module("mdh.compare.library").NAMES)


def experiments(incomplete: str) -> list[str]:
    """Of `mdh reproduce`."""
    return _beginning(incomplete, import_module("mdh.reproduce.table").names())


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _files(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Files with one of the endings, and folders, which end in `/`; hidden ones only where a dot is there."""
    folder, _, start = incomplete.rpartition("/")
    above = f"{folder}/" if "/" in incomplete else ""
    try:
        names = sorted(os.listdir(above or "."))
    except OSError:
        return []
    fitting = (n for n in names if n.startswith(start) and (start or not n.startswith(".")))
    out = []
    for name in fitting:
        if os.path.isdir(f"{above}{name}"):
            out.append(f"{above}{name}/")
        elif Path(name).suffix in endings:
            out.append(f"{above}{name}")
    return out
