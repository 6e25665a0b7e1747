import mdh

mdh.check("input.c", machine="a100", defines={"4n": 8})
