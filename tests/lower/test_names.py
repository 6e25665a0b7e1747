"""Names that mdh makes up stay clear of the C function's, whatever those are, and of one another."""

import re
from collections.abc import Iterator, Mapping

import pytest

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.ir.kernel import Alloc, Atomic, For, Let, Module
from mdh.ir.plan import Plan
from mdh.ir.walk import statements
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.support.pairs import arguments, execute

FORMS = {
    "map": "void f(float s, const float X[70], float Y[70])"
    " { for (int i = 0; i < 70; i++) Y[i] = s * X[i]; }",
    "transpose": "void f(float s, const float X[40][64], float Y[64][40])"
    " { for (int i = 0; i < 64; i++) for (int j = 0; j < 40; j++) Y[i][j] = s * X[j][i]; }",
    "product": "void f(float s, const float X[66][66], float Y[66][66]) { for (int i = 0; i < 66; i++)"
    " for (int j = 0; j < 66; j++) { Y[i][j] = 0; for (int k = 0; k < 66; k++) Y[i][j] += X[i][k] * X[k][j];"
    " Y[i][j] = s * Y[i][j]; } }",
    "dot": "void f(float s, const float X[5000], float Y[1]) { Y[0] = 0;"
    " for (int i = 0; i < 5000; i++) Y[0] += X[i]; Y[0] = s * Y[0]; }",
    "argmax": "void f(int s, const float X[9][300], int Y[9]) { for (int i = 0; i < 9; i++) {"
    " float best = -100; Y[i] = s; for (int j = 0; j < 300; j++)"
    " if (X[i][j] > best) { best = X[i][j]; Y[i] = j; } } }",
    "scan": "void f(float s, const float X[5000], float Y[5000]) { Y[0] = s * X[0];"
    " for (int i = 1; i < 5000; i++) Y[i] = Y[i - 1] + s * X[i]; }",
    "histogram": "void f(int s, const int X[5000], int Y[19]) {"
    " for (int b = 0; b < 19; b++) Y[b] = s; for (int i = 0; i < 5000; i++) Y[X[i]] += 1; }",
}  # fmt: skip
HILBERT = """1: (de-)comp( 16,16 ) ( ^ ; ^ ) ( BLK.y, BLK.x ) @order(hilbert) @persistent
2: (de-)comp( 1,4 ) ( X:SM[1,2] ; Y:SM[1,2] ) ( THR.y, THR.x )
"""
TICKET = """1: (de-)comp( 1000 ) ( ^ ; ^@combine(ticket) ) ( BLK.x )
2: (de-)comp( 20 ) ( ^ ; Y:SM[1] ) ( THR.x )
3: (de-)comp( 2 ) ( X:RM[1] ; ^ ) ( FOR.1 )
"""
STAGED = """1: (de-)comp( 64,64,^ ) ( ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(2))
2: (de-)comp( ^,^,8 ) ( X:SM[1,2]@copy(async) ; ^ ) ( ^,^,FOR.1 ) @stages(3)
3: (de-)comp( 4,4,^ ) ( ^ ; ^ ) ( THR.y@cyclic(2), THR.x, ^ )
4: (de-)comp( ^,^,1 ) ( X:RM[1,2] ; ^ ) ( ^,^,FOR.1 )
"""
CLUSTER = """1: (de-)comp( 2500 ) ( ^ ; ^ ) ( CLU.x )
2: (de-)comp( 1250 ) ( ^ ; ^@combine(cluster) ) ( BLK.x )
3: (de-)comp( 10 ) ( ^ ; ^ ) ( THR.x )
"""
CASES = [
    *((form, machine, target, "") for form in FORMS
      for machine, target in (("h200", "cuda"), ("oclgrind", "opencl"), ("generic-cpu", "opencl"))),
    ("transpose", "h200", "cuda", HILBERT),
    ("dot", "h200", "cuda", TICKET),
    ("product", "h200", "cuda", STAGED),
    ("dot", "h200", "cuda", CLUSTER),
]  # fmt: skip


def planned(text: str, machine: str, target: str, schedule: str = "") -> Plan:
    program = read_program(Source("f.c", text))
    model = load_machine(machine)
    default = default_schedule(program, model, target)
    given = parse_schedule(Source("f.mdh", schedule)) if schedule else default
    return check(program, given, model, target, default=default)


def made_up(module: Module) -> Iterator[str]:
    """Every name of the module that the C text does not have."""
    for w in module.workspaces:
        yield w.buf.name
    for kernel in module.kernels:
        yield kernel.name
        for s in statements(kernel.body):
            match s:
                case Alloc(buf, _):
                    yield buf.name
                case Let(name, _, _):
                    yield name
                case For():
                    yield s.var
                case Atomic() if s.result:
                    yield s.result


@pytest.mark.parametrize(("form", "machine", "target", "schedule"), CASES)
def test_parameters_called_as_mdh_calls_things(form: str, machine: str, target: str, schedule: str) -> None:
    plan = planned(FORMS[form], machine, target, schedule)
    names = sorted(set(made_up(lower(plan))) - {"best"})
    assert names
    kind = "int" if "(int s," in FORMS[form] else "float"
    text = FORMS[form].replace(f"{kind} s,", "".join(f"{kind} {name}, " for name in names))
    again = planned(renamed(text, {"s": f"({' + '.join(names)})"}), machine, target, schedule)
    module = lower(again)  # verified: no name hides another
    assert set(names) <= {name for k in module.kernels for name, _ in k.scalars}
    assert set(names).isdisjoint(set(made_up(module)) - {k.name for k in module.kernels})


def renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), text)


@pytest.mark.parametrize("names", [("i_1", "tid", "part"), ("acc0", "b0", "Y_RM"), ("unit", "held", "thr_i")])
@pytest.mark.parametrize("form", list(FORMS))
def test_values_are_those_of_the_c_names(form: str, names: tuple[str, str, str]) -> None:
    text = renamed(FORMS[form], dict(zip(("s", "X", "Y"), names, strict=True)))
    plan = planned(text, "generic-cpu", "opencl")
    given = arguments(plan.program, {names[1]: 19} if form == "histogram" else {}, 2)
    assert execute(plan, open_device("opencl:0"), given, {names[0]: 3}).kind == "equal"
