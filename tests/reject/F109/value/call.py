import mdh

mdh.check("input.c", "schedule.mdh", "a100", defines={"n": 8}, holes={"t": None})
