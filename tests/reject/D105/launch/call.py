from mdh.device.opencl_errors import launch_failed

raise launch_failed("a GPU", "matmul_kernel", RuntimeError("INVALID_WORK_GROUP_SIZE"))
