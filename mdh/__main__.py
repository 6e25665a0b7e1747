"""`mdh`, and `python -m mdh`: the signals first, since the command line itself takes a moment to import."""

from importlib import import_module

from mdh.cli.signals import end_quietly


def main() -> None:
    end_quietly()
    import_module("mdh.cli.main").main()


if __name__ == "__main__":
    main()
