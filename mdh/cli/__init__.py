"""The command line: one module for each command. `request` and `job` turn words into requests, `exit_codes`
turns outcomes into exit codes, and only `main` catches every exception."""
