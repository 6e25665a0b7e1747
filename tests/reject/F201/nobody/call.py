from mdh.tuner.cluster.refusals import unreached

raise unreached("tcp://10.0.0.1:8786", TimeoutError())
