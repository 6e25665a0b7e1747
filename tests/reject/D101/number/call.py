from mdh.device.protocols import ListedDevice, absent

raise absent("cuda:7", (ListedDevice("cuda:0", "NVIDIA H200", "gpu", "CUDA"),))
