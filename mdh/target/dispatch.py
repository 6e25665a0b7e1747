"""The folder of a table: a version of the kernels for each case, and a launcher that chooses by the sizes.

The launcher compares the sizes of a call with the ranges of the cases, in their order. It has the prototype
of a launcher for open sizes, so that a caller sees no difference. Each version is what a folder for its case
alone would have, under names of its own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import prod

from mdh.include import HEADER, header_text
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.release import release
from mdh.target.driver_bounds import f32_tolerance
from mdh.target.folder import c_text, includes_header, kernels_json, parameters_json, reference_files
from mdh.target.header import header, prototype
from mdh.target.host import HostNames, host_names
from mdh.target.host_c import c_driver, c_launcher, c_makefile
from mdh.target.host_cuda import cuda_driver, cuda_launcher, cuda_makefile
from mdh.target.host_opencl import opencl_driver, opencl_launcher, opencl_makefile
from mdh.target.opencl_loader import loader_header, loader_source
from mdh.target.text import KernelText

SCHEMA = "mdh.dispatch/1"


@dataclass(frozen=True)
class Version:
    """The kernels of one case. sizes: its ranges. plan, text: of the program under the name of the version,
    which `as_version` gives."""

    sizes: tuple[OpenSize, ...]
    plan: Plan
    text: KernelText

    @property
    def program(self) -> Program:
        return self.plan.program

    @property
    def host(self) -> HostNames:
        return host_names(self.text, self.program)


def as_version(plan: Plan, number: int) -> Plan:
    """The plan under the name of a version, `matmul_1`, after which its kernels and files are called. number:
    from 1 on."""
    name = _version_name(plan.program, number)

    def named(program: Program) -> Program:
        return replace(program, name=name)

    stages = tuple(replace(s, program=named(s.program)) for s in plan.stages)
    return replace(plan, program=named(plan.program), computed=named(plan.computed), stages=stages)


def _version_name(program: Program, number: int) -> str:
    """`matmul_1`, or `matmul_v1` where a name in the C begins so: a parameter would hide the launcher from
    the one that calls it, and the judge's functions are linked with launchers and kernels."""
    known = {*program.params, *re.findall(r"[A-Za-z_]\w*", c_text(program))}
    mark = ""
    # kernels have longer names, `matmul_1_kernel`; `matmul_10` is no such name
    while any(re.match(rf"{program.name}_{mark}{number}(?!\d)", one) for one in known):
        mark += "v"
    return f"{program.name}_{mark}{number}"


def dispatch_folder(
    versions: Sequence[Version],
    whole: Program,
    table: str,
    *,
    defines: Mapping[str, str | int] | None = None,
    arch: str = "native",
) -> dict[str, str]:
    """File names and contents. whole: the program with ranges that hold those of all cases. table: the text
    of the schedules. defines, arch: as of `folder`."""
    language = versions[0].text.language
    # the tolerance of the driver is that of the least exact version
    judged = max((v.text for v in versions), key=lambda text: f32_tolerance(whole, 16, text.numerics))
    text = replace(judged, kernels=(), workspaces=())
    host = host_names(text, whole)
    name, names, at = host.function, [v.host.function for v in versions], _largest(versions)
    files = {f"{name}.h": header(text, whole, host), f"{name}_launch.c": _launcher(versions, whole, host)}
    for version in versions:
        files |= _version_files(version)
    if language == "cuda":
        files["main.c"] = cuda_driver(text, whole, host, at)
        files["Makefile"] = cuda_makefile(text, name, arch, names)
    elif language == "c":
        files["main.c"] = c_driver(text, whole, host, at)
        files["Makefile"] = c_makefile(text, name, names)
    else:
        files["opencl.h"], files["opencl.c"] = loader_header(), loader_source()
        files["main.c"] = opencl_driver(text, whole, host, at)
        files["Makefile"] = opencl_makefile(name, names)
    files[f"{name}.mdh"] = table
    if includes_header(whole):
        files[HEADER] = header_text()
    files.update(reference_files(whole, name, files, defines or {}))
    listed = sorted([*files, "manifest.json"])
    files["manifest.json"] = _manifest(versions, whole, host, listed)
    return dict(sorted(files.items()))


def _largest(versions: Sequence[Version]) -> dict[str, int]:
    """The largest sizes of a version. Together, the largest values of all versions may be in none."""
    largest = max((v.sizes for v in versions), key=lambda sizes: prod(s.most for s in sizes))
    return {s.name: s.most for s in largest}


def _version_files(version: Version) -> dict[str, str]:
    text, program, host = version.text, version.program, version.host
    name = host.function
    files = {f"{name}.h": header(text, program, host)}
    if text.language == "cuda":
        return files | {f"{name}.cu": text.source, f"{name}_launch.cu": cuda_launcher(text, program, host)}
    if text.language == "c":
        launcher = c_launcher(text, program, host)
        return files | {f"{name}_kernels.c": text.source, f"{name}_launch.c": launcher}
    return files | {f"{name}.cl": text.source, f"{name}_launch.c": opencl_launcher(text, program, host)}


def _launcher(versions: Sequence[Version], whole: Program, host: HostNames) -> str:
    """`NAME_launch.c`: calls the first version that takes the sizes."""
    language = versions[0].text.language
    names = (host.function, *(v.host.function for v in versions))
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    choices = "".join(_choice(v, whole, host, language) for v in versions)
    return f"""{includes}
{prototype(versions[0].text, whole, host)}
{{
    /* the first version whose sizes these are */
{choices}    return -1;
}}
"""


def _choice(version: Version, whole: Program, host: HostNames, language: str) -> str:
    given = [host[p] for p in whole.params]
    args = [*given, "stream"] if language == "cuda" else ["queue", *given] if language == "opencl" else given
    condition = " && ".join(_takes(size, host[size.name]) for size in version.sizes)
    return f"    if ({condition})\n        return {version.host.function}({', '.join(args)});\n"


def _takes(size: OpenSize, name: str) -> str:
    """The condition in C that a range takes a value."""
    if size.value is not None:
        return f"{name} == {size.value}"
    multiple = f" && {name} % {size.multiple} == 0" if size.multiple > 1 else ""
    return f"{name} >= {size.least} && {name} <= {size.most}{multiple}"


def _manifest(versions: Sequence[Version], whole: Program, host: HostNames, files: Sequence[str]) -> str:
    """Deterministic JSON. digest: of all versions."""
    first = versions[0].text
    digests = "\n".join(v.text.digest for v in versions)
    data = {
        "schema": SCHEMA,
        "name": whole.name,
        "function": host.function,
        "language": first.language,
        "machine": first.machine,
        "mdh": release(),
        "digest": sha256(digests.encode()).hexdigest(),
        "options": list(first.options),
        "parameters": parameters_json(whole),
        "versions": [
            {
                "sizes": {
                    s.name: {"least": s.least, "most": s.most, "multiple": s.multiple} for s in v.sizes
                },
                "function": v.host.function,
                "digest": v.text.digest,
                **kernels_json(v.text),
            }
            for v in versions
        ],
        "files": list(files),
    }
    return json.dumps(data, indent=2) + "\n"
