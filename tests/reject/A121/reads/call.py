from mdh.operators.operator import RegisteredOperator

RegisteredOperator("input.c").types({"M": 4, "K": 5, "N": 6})
