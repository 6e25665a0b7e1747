import mdh

mdh.check("input.c", machine="a100", defines={"n": True})
