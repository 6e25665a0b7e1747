"""Arrays that are constants when a program is compiled."""
