"""Rules about the order of scans and sums, and about how partial results meet."""

from mdh.ir.dtype import F16, F32
from tests.check.programs import dot, histogram, matmul, rowsum, scan
from tests.check.rule_cases.case import Case

CASES = (
    Case(
        scan(),
        ("2: (de-)comp( 128 ) ( ^ ; ^ ) ( ^ )\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K130 2:15"],
    ),
    Case(
        scan(),
        ("(de-)comp( 128 ) ( ^ ; ^ ) ( THR.x@cyclic(4) )\n"),
        ["K130 1:30"],
    ),
    Case(
        scan(),
        ("(de-)comp( 64 ) ( ^ ; ^ ) ( WRP.x )\n(de-)comp( 2 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K131 1:29"],
    ),
    Case(
        matmul(strict=True),
        ("(de-)comp( 4,4,16 ) ( ^,^ ; ^ ) ( ^,^,THR.x )\n"),
        ["K132 1:39"],
    ),
    Case(
        rowsum(strict=True),
        ("2: (de-)comp( ^,2,^ ) ( ^ ; ^ ) ( ^,^,^ )\n1: (de-)comp( ^,^,4 ) ( ^ ; ^ ) ( ^,^,^ )\n"),
        ["K132 2:19"],
    ),
    Case(
        histogram(dtype=F32),
        ("(de-)comp( 128 ) ( ^ ; ^ ) ( ^ )\n(de-)comp( 1 ) ( ^ ; h:SM[1] ) ( THR.x )\n"),
        ["K133 2:34"],
        deterministic=True,
    ),
    Case(
        matmul(8, 8, 64),
        ("(de-)comp( ^,^,16 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,BLK.x )\n"),
        ["K140 1:47"],
    ),
    Case(
        matmul(),
        ("(de-)comp( ^,8,^ ) ( ^,^ ; ^@combine(kernel) ) ( ^,BLK.x,^ )\n"),
        ["K141 1:29"],
    ),
    Case(
        scan(),
        ("(de-)comp( 64 ) ( ^ ; ^@combine(atomic) ) ( BLK.x )\n"),
        ["K141 1:24"],
    ),
    Case(
        matmul(dtype=F16),
        ("(de-)comp( ^,8,16 ) ( ^,^ ; ^@combine(atomic) ) ( ^,BLK.x,BLK.y )\n"),
        ["K142 1:30"],
    ),
    Case(
        dot(op="max"),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(atomic) ) ( BLK.y )\n"),
        ["K142 1:26"],
    ),
    Case(
        dot(),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(ticket) ) ( BLK.y )\n"),
        ["K143 1:26"],
        machine="h200",
        target="opencl",
    ),
    Case(
        dot(),
        ("(de-)comp( 16 ) ( ^,^ ; ^@combine(shuffle) ) ( THR.y )\n"),
        ["K144 1:26"],
    ),
    Case(
        dot(),
        (
            "(de-)comp( 16 ) ( ^,^ ; ^@combine(ticket) ) ( BLK.y )\n"
            "(de-)comp( 2 ) ( ^,^ ; ^@combine(kernel) ) ( ^ )\n"
        ),
        ["K145 2:25"],
    ),
    Case(
        histogram(dtype=F16),
        ("(de-)comp( 4 ) ( ^ ; ^ ) ( THR.x )\n"),
        ["K142 1:28"],
    ),
    Case(
        histogram(),
        ("(de-)comp( 4 ) ( ^ ; ^@combine(ticket) ) ( BLK.x )\n"),
        ["K141 1:23"],
    ),
    Case(
        matmul(),
        (
            "(de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ ) @persistent\n"
            "(de-)comp( ^,^,8 ) ( ^,^ ; C:RM[1,2]@combine(stream) ) ( ^,^,FOR.1 )\n"
        ),
        ["K146 2:37"],
    ),
)
