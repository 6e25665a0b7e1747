from mdh.tuner.cluster.refusals import nobody

workers = {
    "tcp://10.0.0.3:40213": "it has no device",
    "tcp://10.0.0.2:40213": "it has mdh 0.1.0 (1f0ab4c55d01), not 0.1.0 (77c2d8aa9e10)",
}
raise nobody("tcp://10.0.0.1:8786", workers)
