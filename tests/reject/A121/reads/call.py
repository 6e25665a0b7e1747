from mdh.operators.operator import Operator

Operator("input.c").types({"M": 4, "K": 5, "N": 6})
