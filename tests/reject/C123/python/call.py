import mdh

mdh.check("input.c", machine="a100", defines={"sizes": 5})
