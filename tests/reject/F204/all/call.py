from mdh.tuner.cluster.refusals import emptied

raise emptied("tcp://10.0.0.1:8786")
