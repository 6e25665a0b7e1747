"""Checking a schedule text against a program made by hand."""

from mdh.checker.run import check
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine, load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

WORKED = """\
1: (de-)comp( 128,128,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(8)) @occupancy(2)
2: (de-)comp( ^,^,8 ) ( A:SM[2,1]@pad(4), B:SM[1,2]@copy(async,vec=4) ; C:RM[1,2] ) ( ^,^,FOR.1 ) @stages(2)
3: (de-)comp( 64,32,^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 8,8,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(4), THR.x@cyclic(4), ^ )
5: (de-)comp( ^,^,1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^,^,FOR.1 ) @unroll
"""
"""language.md section 11."""

LISTING_1 = """\
// initialization
0: (de-)comp( 1,1000,2048 )
             ( A:DM[1,2] , B:DM[1,2] ; C:DM[1,2] )
             ( GPU.x, GPU.y, GPU.z )
1: (de-)comp(^,20,^) (^,^;^) ( BLK.y,BLK.x, ^ )
2: (de-)comp(^,^,512) (A:SM[1,2], B:SM[1,2]; C:RM[1,2]) ( ^,^,^ )
3: (de-)comp(^,1,4) (^,^;^) ( THR.y, THR.x, ^ )
"""
"""HiPar'22 listing 1, for the matrix product 1 x 1000 x 2048."""

LISTING_5 = """\
0: (de/re)-comp(16,1000,2048) (A:DM[1,2],B:DM[1,2];C:DM[1,2]) (GPU.y,GPU.x,GPU.z)
1: (de/re)-comp(8,20,^) (^,^;^) (BLK.y,BLK.x,BLK.z)
6: (de/re)-comp(4,^,^) (^,^;^) (FOR.1,FOR.2,FOR.3)
2: (de/re)-comp(1,1,^) (^,^;C:RM[1,2]) (THR.y,THR.x,THR.z)
3: (de/re)-comp(^,^,256) (A:SM[1,2],B:SM[1,2];^) (FOR.2,FOR.3,FOR.1)
4: (de/re)-comp(^,^,2) (^,^;^) (^,^,^)
5: (de/re)-comp(^,^,1) (^,^;^) (^,^,^)
"""
"""CC'23 listing 5, for the matrix product 16 x 1000 x 2048."""


def plan_of(
    program: Program,
    text: str,
    machine: str | Machine = "a100",
    target: str = "cuda",
    *,
    deterministic: bool = False,
) -> Plan:
    """The plan; raises Failed."""
    found = load_machine(machine) if isinstance(machine, str) else machine
    schedule = parse_schedule(Source("s.mdh", text))
    return check(program, schedule, found, target, deterministic=deterministic)


def refused(
    program: Program,
    text: str,
    machine: str | Machine = "a100",
    target: str = "cuda",
    *,
    deterministic: bool = False,
) -> tuple[Diagnostic, ...]:
    """What stands against the schedule; empty where it is legal."""
    try:
        plan_of(program, text, machine, target, deterministic=deterministic)
    except Failed as failed:
        return failed.diagnostics
    return ()
