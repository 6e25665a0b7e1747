"""The command line: one module a verb. `request` and `job` turn words into requests, `exit_codes` outcomes
into exit codes, and `main` is the only place that catches every exception."""
