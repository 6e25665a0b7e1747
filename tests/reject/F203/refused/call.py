from mdh.tuner.cluster.refusals import lost

raise lost("tcp://10.0.0.1:8786", ConnectionRefusedError(111, "Connection refused"))
