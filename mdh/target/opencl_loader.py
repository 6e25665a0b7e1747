"""`opencl.h` and `opencl.c`: the few OpenCL 1.2 functions a driver calls, found at run time.

Neither headers nor an import library are needed to build; OPENCL_LIBRARY names the file of a loader, or of a
driver: those export `clIcdGetPlatformIDsKHR` alone, and every platform begins with a table of all functions
(Khronos' extension cl_khr_icd), whose places DISPATCH has.
"""

FUNCTIONS = (
    ("cl_int", "clGetPlatformIDs", "cl_uint, cl_platform_id *, cl_uint *"),
    ("cl_int", "clGetPlatformInfo", "cl_platform_id, cl_uint, size_t, void *, size_t *"),
    ("cl_int", "clGetDeviceIDs", "cl_platform_id, cl_ulong, cl_uint, cl_device_id *, cl_uint *"),
    ("cl_int", "clGetDeviceInfo", "cl_device_id, cl_uint, size_t, void *, size_t *"),
    ("cl_context", "clCreateContext",
     "const intptr_t *, cl_uint, const cl_device_id *, "
     "void (*)(const char *, const void *, size_t, void *), void *, cl_int *"),
    ("cl_command_queue", "clCreateCommandQueue", "cl_context, cl_device_id, cl_ulong, cl_int *"),
    ("cl_int", "clGetCommandQueueInfo", "cl_command_queue, cl_uint, size_t, void *, size_t *"),
    ("cl_mem", "clCreateBuffer", "cl_context, cl_ulong, size_t, void *, cl_int *"),
    ("cl_int", "clEnqueueReadBuffer",
     "cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const void *, void *"),
    ("cl_int", "clEnqueueWriteBuffer",
     "cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const void *, void *"),
    ("cl_int", "clEnqueueFillBuffer",
     "cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const void *, void *"),
    ("cl_program", "clCreateProgramWithSource",
     "cl_context, cl_uint, const char **, const size_t *, cl_int *"),
    ("cl_int", "clBuildProgram",
     "cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *"),
    ("cl_int", "clGetProgramBuildInfo", "cl_program, cl_device_id, cl_uint, size_t, void *, size_t *"),
    ("cl_kernel", "clCreateKernel", "cl_program, const char *, cl_int *"),
    ("cl_int", "clSetKernelArg", "cl_kernel, cl_uint, size_t, const void *"),
    ("cl_int", "clEnqueueNDRangeKernel",
     "cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, "
     "cl_uint, const void *, void *"),
    ("cl_int", "clFinish", "cl_command_queue"),
)  # fmt: skip

DISPATCH = {
    "clGetPlatformIDs": 0, "clGetPlatformInfo": 1, "clGetDeviceIDs": 2, "clGetDeviceInfo": 3,
    "clCreateContext": 4, "clCreateCommandQueue": 9, "clGetCommandQueueInfo": 12, "clCreateBuffer": 14,
    "clCreateProgramWithSource": 26, "clBuildProgram": 30, "clGetProgramBuildInfo": 33, "clCreateKernel": 34,
    "clSetKernelArg": 38, "clFinish": 47, "clEnqueueReadBuffer": 48, "clEnqueueWriteBuffer": 49,
    "clEnqueueNDRangeKernel": 59, "clEnqueueFillBuffer": 102,
}  # fmt: skip

_HEAD = """#ifndef MDH_OPENCL_H
#define MDH_OPENCL_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CL_VERSION_1_0 /* CL/cl.h, where it was included first, says the same */
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
#endif

/* Finds the OpenCL library or driver (OPENCL_LIBRARY, else libOpenCL.so.1); NULL, or what is wrong. */
const char *mdh_opencl_open(void);

"""


def loader_header() -> str:
    externs = [f"extern {kind} (*mdh_{name})({args});" for kind, name, args in FUNCTIONS]
    return _HEAD + "\n".join(externs) + "\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


_OPEN = """\
static const struct {{ const char *name; int place; void **where; }} table[] = {{
{table}
}};

typedef cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *);

/* a driver's functions stand in the table that its platforms begin with */
static const char *open_driver(void *library)
{{
    void *(*address)(const char *) = NULL;
    get_platforms first = NULL;
    cl_platform_id platform;
    *(void **)&first = dlsym(library, "clIcdGetPlatformIDsKHR");
    *(void **)&address = dlsym(library, "clGetExtensionFunctionAddress");
    if (!first && address)
        *(void **)&first = address("clIcdGetPlatformIDsKHR");
    if (!first)
        return "it is neither an OpenCL loader nor a driver";
    if (first(1, &platform, NULL))
        return "the driver has no platform";
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        *table[i].where = (*(void ***)platform)[table[i].place];
    *(void **)&mdh_clGetPlatformIDs = *(void **)&first;
    return NULL;
}}

const char *mdh_opencl_open(void)
{{
    const char *path = getenv("OPENCL_LIBRARY");
    setenv("PYOPENCL_HOME", "", 0); /* the loader of pyopencl reads it, set or not */
    void *library = dlopen(path ? path : "libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return dlerror();
    if (!dlsym(library, "clGetPlatformIDs"))
        return open_driver(library);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        if (!(*table[i].where = dlsym(library, table[i].name)))
            return dlerror();
    return NULL;
}}
"""


def loader_source() -> str:
    variables = [f"{kind} (*mdh_{name})({args});" for kind, name, args in FUNCTIONS]
    table = [f'    {{ "{name}", {DISPATCH[name]}, (void **)&mdh_{name} }},' for _, name, _ in FUNCTIONS]
    head = ["#include <dlfcn.h>", "#include <stdlib.h>", "", '#include "opencl.h"', "", *variables, "", ""]
    return "\n".join(head) + _OPEN.format(table="\n".join(table))
