from mdh.device.protocols import Listed, absent

raise absent("cuda:7", (Listed("cuda:0", "NVIDIA H200", "gpu", "CUDA"),))
