"""Spreads OpenMP's threads over the processors, so that each begins on one of its own.

A thread that slept is often woken on the processor of the one that wakes it, although another is idle. Both
then share it, until the system moves one of them. That takes milliseconds, and kernels take microseconds. So
threads that slept are moved apart before they get work. They are not bound: the system may still move them.
"""

import ctypes
import os
from collections.abc import Callable
from time import perf_counter

SETTLE = """
#ifdef __linux__
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int usleep(unsigned);
int sched_getcpu(void);
int sched_getaffinity(int, unsigned long, unsigned long *);
int sched_setaffinity(int, unsigned long, const unsigned long *);

/* Threads on a processor that has another one of them go to a free one. */
void mdh_settle(void)
{
    enum { CPUS = 1024, BITS = 8 * sizeof(unsigned long), WORDS = CPUS / BITS };
    static int on[CPUS], arrived;
    arrived = 0;
    #pragma omp parallel
    {
        const int me = omp_get_thread_num(), count = omp_get_num_threads();
        if (me < CPUS)
            on[me] = sched_getcpu();
        /* no barrier, where one spins: the others may be waiting for this processor */
        __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
        for (int turn = 0; __atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < count; ++turn)
            if (turn > 2000)
                usleep(1);
        #pragma omp critical
        if (me > 0 && count <= CPUS) {
            unsigned long all[WORDS] = {0}, taken[WORDS] = {0};
            int others = 0, to = -1;
            for (int i = 0; i < count; ++i)
                if (on[i] >= 0 && on[i] < CPUS) {
                    taken[on[i] / BITS] |= 1ul << on[i] % BITS;
                    others += i != me && on[i] == on[me];
                }
            if (others && sched_getaffinity(0, sizeof all, all) >= 0)
                for (int cpu = 0; cpu < CPUS && to < 0; ++cpu)
                    if ((all[cpu / BITS] & ~taken[cpu / BITS]) >> cpu % BITS & 1)
                        to = cpu;
            if (to >= 0) {
                unsigned long one[WORDS] = {0};
                one[to / BITS] = 1ul << to % BITS;
                if (!sched_setaffinity(0, sizeof one, one))
                    on[me] = to;
                sched_setaffinity(0, sizeof all, all);
            }
        }
    }
}
#endif
"""
"""Appended to a text that uses OpenMP; not in what `mdh compile` writes. It declares what it needs itself,
because headers with these names declare others that a program may use."""
_ASLEEP = 1e-3
"""Seconds since the last call after which threads may sleep."""
_BOUND = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
"""Variables by which users place threads themselves."""


class Threads:
    """The threads of one process. `settled` is called before each kernel that has some, `used` after it."""

    def __init__(self) -> None:
        self._last = -_ASLEEP
        self._placed = any(name in os.environ for name in _BOUND)

    def settled(self, settle: Callable[[], None]) -> None:
        """Moves the threads apart if they may have slept. settle: of the kernel's library."""
        if not self._placed and perf_counter() - self._last > _ASLEEP:
            settle()

    def used(self) -> None:
        self._last = perf_counter()


def with_settle(source: str) -> str:
    """The text, with SETTLE if it uses OpenMP."""
    return source + SETTLE if "#pragma omp" in source else source


def settle_of(library: ctypes.CDLL) -> Callable[[], None] | None:
    """The settle function of a library; None if it uses no OpenMP, or the system is not Linux."""
    try:
        function = library["mdh_settle"]
    except AttributeError:
        return None
    function.argtypes, function.restype = (), None
    return function
