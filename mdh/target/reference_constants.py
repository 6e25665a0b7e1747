"""The judge in `reference.c` where array parameters of the C are constants.

The driver calls it without them. It calls the C function as it was written, with them.
"""

from collections.abc import Mapping
from dataclasses import replace

from mdh.frontend.constant_arrays import THERE, ConstantArray
from mdh.frontend.read import read_heading
from mdh.ir.program import Program
from mdh.ir.syntax_text import declaration_text
from mdh.target.driver import reference_types


def through_constants(
    judge: str,
    program: Program,
    arrays: Mapping[str, ConstantArray],
    defines: Mapping[str, str | int],
    variables: Mapping[str, str],
) -> list[str]:
    """The lines. arrays: the constants. defines: the others. variables: of macros that stay open, which the
    call gives values to."""
    assert program.source is not None and program.syntax is not None
    heading = read_heading(program.source, defines=defines, function=program.name)
    declared = {d.name: d for d in (*program.syntax.constants, *program.syntax.parameters)}
    types = reference_types(program)
    names = {p: f"given_{i}" for i, p in enumerate(program.params)}
    params = ", ".join(
        f"{t} {names[p]}".replace("* ", "*") for p, t in zip(program.params, types, strict=True)
    )
    before, inside, given = list[str](), list[str](), dict(names)
    inside += [f"    {variables[n]} = {names[n]};" for n in names if n in variables]
    for n, (name, array) in enumerate(arrays.items()):
        held = f"constant_{n}"
        if array.pattern:
            kind = " ".join(declared[name].type.words)
            there = replace(declared[name + THERE], name=f"{held}{THERE}")
            count = len(array.flat)
            before += [f"static const {declaration_text(there)};", f"static {kind} {held}[{count}];"]
            some, packed = f"((const int *){held}{THERE})[at]", f"(({kind} *){names[name]})[of++]"
            inside += [
                f"    for (int at = 0, of = 0; at < {count}; at++)",
                f"        {held}[at] = {some} ? {packed} : 0;",
            ]
        else:
            before.append(f"static const {declaration_text(replace(declared[name], name=held))};")
        given[name] = f"(void *){held}"
    call = ", ".join(given[p] for p in heading.parameters)
    return [*before, f"void {judge}({params})", "{", *inside, f"    {judge}_as_written({call});", "}"]
