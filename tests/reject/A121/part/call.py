from mdh.operators.operator import Operator

Operator("input.c").types({"n": 16})
