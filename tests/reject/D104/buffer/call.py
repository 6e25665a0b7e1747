from mdh.device.opencl_errors import no_memory

raise no_memory("a GPU of 8 GiB", "`A`", 1 << 36, RuntimeError("MEM_OBJECT_ALLOCATION_FAILURE"))
