"""The command line: ``glassbox train``, ``translate``, ``evaluate``, ``bench``.

Each command is a module of this package with two functions: ``add_arguments(parser)``, and
``run(arguments)``, which returns the exit status. Only the requested one is imported.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import glassbox

#: The commands, and the help text of each in ``glassbox --help``.
COMMANDS = {
    "train": "train a model, or resume a run that was stopped",
    "translate": "translate sentences, given here or on standard input",
    "evaluate": "measure a model on held-out text of a corpus",
    "bench": "measure the speed against PyTorch and transformers",
}
#: Exit statuses by shell convention: usage error, interrupted, broken pipe.
WRONG_USE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
#: What PyTorch says of a tensor that is too large for this computer, or for any.
NO_MEMORY = re.compile("(allocate|enough|out of) memory|(calculation|multiplication) overflow")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    An error that the user can fix is reported in one line on standard error: wrong options, a
    missing or damaged file or library, an unreachable network, too little memory, a diverging
    training.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, without the program's name; those of this process if left out.

    Returns
    -------
    int
        The exit status: 0 if all went well, 1 if another process of a training run failed, 2 for
        an error that the user can fix, 130 after Ctrl-C or if a training run was told to stop, 141
        for a broken pipe; ``bench`` returns the exit status of the benchmarks.

    Raises
    ------
    SystemExit
        From ``argparse``: with 0 after ``--help`` and ``--version``, with 2 if an argument is
        not understood.
    """
    argv = sys.argv[1:] if argv is None else argv
    if sys.stderr is None:  # it was closed: without it, messages would go to standard output
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=stream.errors)  # whatever the locale
    try:
        try:
            arguments, unknown = _parser(argv).parse_known_args(argv)
            if unknown:
                arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
            status: int = arguments.run(arguments)
        finally:
            _flush_output()  # here, where a broken pipe or a full disk is expected
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except (OSError, ValueError, FloatingPointError, ModuleNotFoundError) as error:
        for line in (str(error), *getattr(error, "__notes__", ())):
            print(f"glassbox: {line}", file=sys.stderr)
        if isinstance(error, ModuleNotFoundError) and "pip install" not in str(error):
            print("All that the commands need: pip install 'glassbox[book,train]'", file=sys.stderr)
        return WRONG_USE
    except (MemoryError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        if isinstance(error, MemoryError) or NO_MEMORY.search(reason):
            reason = f"not enough memory{reason and f' ({reason})'}: use a smaller batch, fewer "
            reason += "beams, fewer tokens or a smaller model"
        elif "home directory" in reason:  # what pathlib says of a path that begins with ~
            reason += " Set the variable HOME, or write paths without ~"
        else:
            raise
        print(f"glassbox: {reason}", file=sys.stderr)
        return WRONG_USE


def _flush_output() -> None:
    """Write what is left of standard output, or give it up and raise an error that names it."""
    try:
        if sys.stdout is not None:  # as it is where it was closed
            sys.stdout.flush()
    except OSError as error:
        # The interpreter flushes once more as it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(error.errno, error.strerror, "standard output") from error


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that knows every command by name, and the arguments of the requested one."""
    parser = argparse.ArgumentParser(
        prog="glassbox", description="The Glass-Box Transformer: train it, use it, measure it."
    )
    parser.add_argument("--version", action="version", version=f"glassbox {glassbox.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    asked_for = next((word for word in argv if not word.startswith("-")), None)
    for name, purpose in COMMANDS.items():
        description = f"{purpose[0].upper()}{purpose[1:]}."
        command = commands.add_parser(name, help=purpose, description=description)
        if name == asked_for:
            module = import_module(f"glassbox.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run, parser=command)
    return parser
