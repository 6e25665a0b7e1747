from mdh.tuner.cluster.refusals import nobody

raise nobody("tcp://10.0.0.1:8786", {})
