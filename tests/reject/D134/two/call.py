from mdh.tuner.measure.failures import different

raise different(("cuda:0", "opencl:0"), ["NVIDIA H200", "pthread-AMD EPYC"])
