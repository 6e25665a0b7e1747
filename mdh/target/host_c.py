"""The C launcher, the memory part of its driver, and how they are built."""

from collections.abc import Sequence

from mdh.ir.program import Program
from mdh.target.driver import call_arguments, driver, size_checks
from mdh.target.driver_sizes import Sizes
from mdh.target.header import C_TYPES, prototype, scalar_type
from mdh.target.host import HostNames, in_loops
from mdh.target.text import Arg, BufferArg, KernelText
from mdh.target.turns import declared_as, whole_of

DEVICE = r"""
static void *device[ARRAYS];

static void must(int error)
{
    if (error) {
        fprintf(stderr, "error %d: %s\n", error, error < 0 ? "no kernel is for this size" : "out of memory");
        exit(1);
    }
}

static void open_device(void) {}

static void upload(int a)
{
    device[a] = allocate(bytes(a));
    memcpy(device[a], host[a], bytes(a));
}

static void download(int a)
{
    memcpy(result[a], device[a], bytes(a));
}

static void finish(void) {}
"""

LINKED = {"openblas": "-lopenblas"}
"""How linkers call the libraries that kernels may call."""

TIMED = r"""
static double timed_launch(void)
{
    const double begin = now();
    must(launch());
    return now() - begin;
}
"""


def c_launcher(text: KernelText, program: Program, host: HostNames) -> str:
    """`NAME_launch.c`: checks sizes, keeps workspaces between calls, calls the kernels in order."""
    whole = whole_of(text)
    entries = text.kernels if whole is None else (whole,)
    told = _declared if whole is None else (lambda a: declared_as(a, host[a.name]))
    kernels = "".join(f"void {k.name}({', '.join(map(told, k.args)) or 'void'});\n" for k in entries)
    spaces = "".join(f"static void *{host[w.name]};\n" for w in text.workspaces)
    setup = [line for w in text.workspaces for line in _workspace(host[w.name], w.bytes, zero=w.zero)]
    calls = [[f"    {k.name}({', '.join(host[a.name] for a in k.args)});"] for k in entries]
    clear = [f"    memset({host[w.name]}, 0, {w.bytes});" for w in text.workspaces if w.zero]
    run = calls[0] if whole is not None else in_loops(text, host, calls.__getitem__, clear)
    gap = "\n" if spaces else ""
    body = "".join(line + "\n" for line in (*size_checks(program, host), *setup, *run))
    return f"""#include <stdlib.h>
#include <string.h>

#include "{host.function}.h"

{kernels}{gap}{spaces}
{prototype(text, program, host)}
{{
{body}    return 0;
}}
"""


def _declared(arg: Arg) -> str:
    if isinstance(arg, BufferArg):
        return f"{'const ' if arg.readonly else ''}{C_TYPES[arg.dtype.name]} *"
    return scalar_type(arg.dtype)


def _workspace(name: str, size: int, *, zero: bool) -> list[str]:
    room = -(-size // 64) * 64
    out = [f"    if (!{name} && !({name} = aligned_alloc(64, {room})))", "        return 1;"]
    return [*out, f"    memset({name}, 0, {size});"] if zero else out


def c_driver(text: KernelText, program: Program, host: HostNames, at: Sizes = None) -> str:
    """main.c. at: as of `driver`."""
    args = ", ".join(call_arguments(program, "device"))
    launch = f"\nstatic int launch(void)\n{{\n    return {host.function}({args});\n}}\n"
    return driver(program, host, f'\n#include "{host.function}.h"\n', DEVICE + launch + TIMED, at=at)


def c_makefile(text: KernelText, name: str, versions: Sequence[str] = ()) -> str:
    """versions: the launchers that one called `name` chooses from, which have the kernels."""
    launchers = " ".join(f"{one}_launch.c" for one in (name, *versions))
    kernels = [f"{one}_kernels" for one in versions or (name,)]
    flags = " $(CPPFLAGS)" if text.libraries else ""
    built = "\n".join(f"\t$(CC) $(KERNELS){flags} $(ARCH) -c {one}.c" for one in kernels)
    objects = " ".join(f"{one}.o" for one in kernels)
    named = " ".join(LINKED[name] for name in text.libraries)
    libraries = f"LIBRARIES ?= {named}\n" if named else ""
    link = " $(LIBRARIES)" if named else ""
    headers = " ".join(f"{one}.h" for one in (name, *versions))
    return f"""CC ?= cc
ARCH ?= -march=native
# with -O2 GCC before 11.5, 12.4 and 13.2 gets some sums of the reference wrong
CFLAGS ?= -O1
KERNELS = {" ".join(text.options)}
{libraries}
{name}: main.c reference.c {launchers} {" ".join(f"{one}.c" for one in kernels)} {headers}
{built}
\t$(CC) $(CFLAGS) -fopenmp main.c reference.c {launchers} {objects} -o $@{link} -lm

.PHONY: clean
clean:
\trm -f {name} {objects}
"""
