from mdh.operators.operator import Operator

Operator("input.c", mutates=("x",))
