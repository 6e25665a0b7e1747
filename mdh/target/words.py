"""Words that mean something already: in C, in the device languages, and in the files of a compiled folder."""

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


COMPILER_WORDS = _set("linux unix")
"""Macros of C compilers outside of their strict modes: names that a C program may use for itself."""

MACROS = re.compile(
    r"(M|FP|FLT|DBL|LDBL|HUGE|SEEK|EXIT|CLOCK|CLOCKS|TIME|MATH|MB|HOST|PTHREAD|ADJ|MOD|STA|XATTR|RENAME|CUDA"
    r"|CUDART|CL|CLK|INT|UINT|MDH)_[A-Z0-9_]+[fl]?|M_\w+f(32|64)x?|[A-Z0-9_]+_(MAX|MIN|WIDTH|BIT|ENDIAN)"
    r"|BYTE_ORDER|FD_SETSIZE|TIMER_ABSTIME|math_errhandling|MAXFLOAT|EOF|BUFSIZ|NFDBITS|NZERO|SNAN(F|L)?(32|64)?X?|CUDARTAPI"
    r"|CU_UUID_HAS_BEEN_DEFINED|CUDARTAPI_CDECL|MAX_(CANON|INPUT)|NL_[A-Z]*MAX|PIPE_BUF"
    r"|W(CONTINUED|EXITED|NOHANG|NOWAIT|STOPPED|UNTRACED)|stdin|stdout|stderr|L_(tmpnam|ctermid|cuserid)|P_tmpdir"
)
"""Constants of the C library's and the runtimes' headers: a name in capitals is often one of them."""

MATH = _set("""
abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp2 exp10 expm1
fabs fdim floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llabs log
log10 log1p log2 logb max min modf nan nearbyint nextafter pow pown powr remainder remquo rint rootn round
rsqrt signbit sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc y0 y1 yn j0 j1 jn
""")

CXX_WORDS = _set("""
alignas alignof and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept consteval
constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export
friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid typename
using virtual xor xor_eq
""")

CUDA_WORDS = _set("""
threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 half nv_bfloat16 mul24 umul24 saturate clock clock64
trap brkpt printf malloc free memcpy memset assert abort exit shared warp_size
""")

OPENCL_WORDS = _set("""
kernel global local constant private generic read_only write_only read_write half uchar ushort uint ulong
bool sampler_t event_t queue_t ndrange_t clk_event_t reserve_id_t barrier mem_fence read_mem_fence
write_mem_fence prefetch select bitselect any all clamp degrees mix radians step smoothstep sign cross dot
distance length normalize fast_distance fast_length fast_normalize mad mad24 mad_hi mad_sat mul24 mul_hi
rotate add_sat sub_sat hadd rhadd upsample popcount clz ctz abs_diff fract lgamma_r shuffle shuffle2 printf
complex imaginary pipe quad uniform vec_step maxmag minmag
""")

LIBRARY = _set("""
abort abs access acct adjtime alarm aligned_alloc asctime asprintf assert atexit atof atoi atol atoll
basename bcmp bcopy bind brk bsearch bzero calloc cfree chdir chmod chown chroot clearenv clock clone close
closedir connect crypt ctime daemon dirname div dlclose dlerror dlopen dlsym dprintf drand48 dup dup2
environ erand48 execl execv exit fchdir fchmod fclose fcntl fdopen feof ferror fflush ffs fgetc fgetpos
fgets fileno flock fopen fork fprintf fputc fputs fread free freopen fscanf fseek fsetpos fstat fsync ftell
ftime ftruncate fwrite gamma getc getchar getcwd getenv getgid getline getopt getpid gets getuid gmtime
group index ioctl isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace
isupper isxdigit kill labs lcong48 ldiv lfind link linkat listen lldiv llrint llround localtime lock lockf
longjmp lrand48 lrint lround lsearch lseek lstat madvise mblen memccpy memchr memcmp memcpy memmem memmove
memset mkdir mkfifo mknod mktime mlock mmap mount mprotect mrand48 mremap msync munlock munmap nanosleep
nexttoward nice nrand48 open opendir optarg optind pause perror pipe poll popen pread printf psignal putc
putchar putenv puts pwrite qsort quick_exit raise rand random read readdir readlink readv realloc recv
remove rename rewind rewinddir rindex rmdir sbrk scalb scanf seed48 select send sendfile setbuf setenv
setjmp setlocale setuid setvbuf shutdown sigaction signal significand sleep snprintf socket splice sprintf
srand srandom sscanf stat statfs stime strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup
strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strsep strsignal strspn strstr strtod
strtof strtok strtol strtoll strtoul swab symlink sync syscall sysinfo syslog system tee time times
timespec_get tmpfile tmpnam toascii tolower toupper truncate ttyname tzname tzset umask umount uname ungetc
unlink unsetenv usleep utime vfork vprintf wait waitpid warn warnx err errx write writev
_start _init _fini _end _edata _etext
""")
"""Functions and variables of the C library: a function of such a name would take their place."""

LAUNCHER_WORDS = _set("stream queue error kernels KERNELS build context dim3 early config encode tensor_map")
"""What the body of a launcher calls things."""

FOLDER_WORDS = _set("""
F8E4M3 F8E5M2
F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 ARRAYS NAME KERNELS type width tolerance array arrays host
expected result bytes allocate drawn fill value wrong now by_value reference device queue context must
open_device upload download finish timed_launch launch source options names kernels build stream error
program text log lacking spread move measure_spread main_of_reference clean opencl manifest Makefile dim3
""")
"""What the driver, the launcher and the Makefile call things, and the stems of their files."""

PATTERNS = {
    "c": re.compile(
        r"__.*|_[A-Z].*|omp_\w+|u?int\w+_t$|(f|i|u)\d+x\d+(_u)?$|(all|pick)_[fiu]\d+x\d+$|\w+_x\d+$"
        r"|stream_(fence|[fiu]\d+x\d+)$|cblas_\w+|Cblas[A-Z]\w*|BLAS_\w+"
        r"|atomic_\w+|swizzle_\w+|(min|max|abs)_[iu]\d+$|(f16|bf16|f8e4m3|f8e5m2)_(to|from|kept)_f32\w*|\w+_group$"
    ),
    "cuda": re.compile(
        r"(u?(char|short|int|long|longlong)|float|double|half|nv_bfloat16|ulonglong)[1234]?$"
        r"|__.*|_[A-Z].*|cuda.*|cu[A-Z].*|atomic[A-Z_]\w*|make_\w+|cp_async\w*|swizzle_\w+|divided_f\d+$|peer_[a-z]+\d+$"
        r"|cluster_(sync|rank)$|(token_(await|arrive|arrive_at)|tokens_ready|init_tokens|expect_bytes)$"
        r"|(f8e4m3|f8e5m2)_(to|from|kept)_f32$|(more|fewer)_registers$|box_copy_\w+|wgmma_\w+|mma_m\d+\w+|ldmatrix_\w+|shared_matrix$|tensor_map$"
    ),
    "opencl": re.compile(
        r"u?(char|short|int|long)(2|3|4|8|16)?$|(float|double|half|bool|quad)(\d+(x\d+)?)?(_u)?$"
        r"|u?(char|short|int|long)\d+_u$"
        r"|__.*|_[A-Z].*|cl_\w+|get_\w+|convert_\w+|as_\w+"
        r"|atom(ic)?_\w+|swizzle_\w+|divided_f\d+$|v(load|store)\w*|(half|native)_\w+|is(equal|not|less|greater|ordered|unordered)\w*"
        r"|async_work_\w+|wait_group_events|image\w+|read_image\w+|write_image\w+|(f16|bf16|f8e4m3|f8e5m2)_(to|from|kept)_f32\w*"
        r"|\w+_f(32|64)x\d+$"
    ),
    "host": re.compile(
        r"__.*|_[A-Z].*|cl_\w+|cl[A-Z]\w*|mdh_\w+|cuda[A-Z]\w*|cu[A-Z]\w*|cuuint(32|64)_t$|CU[a-z_]\w*"
        r"|(grid|block)_\d+$|u?int\w+_t$|cblas_\w+"
    ),
}
"""Families of names that a language keeps to itself."""
