import mdh

mdh.load(".")
