from mdh.operators.operator import Operator

Operator("input.c", by="back.c").backward("cpu", {"n": 8}, ["x"])
