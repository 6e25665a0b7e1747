from mdh.operators.operator import RegisteredOperator

RegisteredOperator("input.c").types({"n": 16})
