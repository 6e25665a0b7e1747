"""PolyBench's thirty computations on this CPU: mdh beside gcc, without and with directives of OpenMP.

`kernels` reads the C texts and draws data. `worker` is the process that measures one kernel. `contest` starts
it and waits for it. `results` keeps what was measured. `page` writes it down.
"""
