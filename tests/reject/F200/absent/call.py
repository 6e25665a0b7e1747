from mdh.tune.cluster.refusals import absent

raise absent(ModuleNotFoundError("No module named 'distributed'"))
