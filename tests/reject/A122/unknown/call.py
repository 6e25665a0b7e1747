from mdh.operators.operator import RegisteredOperator

RegisteredOperator("input.c", by="back.c").backward("cpu", {"n": 8}, ["x"])
