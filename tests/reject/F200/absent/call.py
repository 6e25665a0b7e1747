from mdh.tuner.cluster.refusals import absent

raise absent(ModuleNotFoundError("No module named 'distributed'"))
