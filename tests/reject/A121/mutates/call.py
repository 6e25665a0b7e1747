from mdh.operators.operator import RegisteredOperator

RegisteredOperator("input.c", mutates=("x",))
