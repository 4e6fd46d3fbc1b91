"""The kit as a process: interrupts, standard streams, exit codes.

An interrupt (Ctrl-C, or SIGTERM, which means the same here) ends the process with the exit code 2
and one word, whenever it comes: before the heavy imports are done at once, later when the search
has said what it knows. This module needs nothing but the standard library, so that it can
be in place before anything else is.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

INTERRUPTED, FAILED = 2, 4
"""Exit codes; those of the verdicts are in `cli`."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_guarded = False
"""Does an interrupt end this process at once?"""


def is_command_line() -> bool:
    """Is this process the kit's command line, and not a notebook or somebody's program?"""
    called = sys.argv[0] if sys.argv else ""
    if called == "-m":  # Python imports the package, and then runs its __main__
        return "protocol_lab" in sys.orig_argv
    return os.path.basename(called).partition(".")[0] == "protocol-lab"


def guard(exit_code: int = INTERRUPTED, answered: bool = False) -> None:
    """Make an interrupt end the process at once, with one word if there is no answer yet.

    A KeyboardInterrupt during the imports would end in a traceback, or be swallowed. A signal that
    the parent process has set to be ignored (as `nohup` does) stays ignored.
    """

    def end(number: int, frame: FrameType | None) -> None:
        with suppress(OSError):  # no print: it may have been interrupted in the middle of one
            if not answered and "--json" in sys.argv:
                os.write(1, b'{"error": "interrupted"}\n')
            if not answered:
                os.write(2, b"interrupted\n")
        os._exit(exit_code)

    global _guarded
    _guarded = True
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    if hasattr(signal, "pthread_sigmask"):  # `lab.py` holds them back until somebody listens
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """A context in which an interrupt raises KeyboardInterrupt, so that a search returns what it
    knows. It begins after the imports and ends before the answer is written. Without `guard`, as in
    a notebook, it changes nothing."""
    if not _guarded:
        yield
        return

    def as_interrupt(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)  # a request, while a search defers interrupts
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    signal.signal(signal.SIGTERM, as_interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        guard()


def begin() -> None:
    """Make the process ready for the imports, which take a while. Does nothing a second time."""
    if _guarded:
        return
    guard()
    os.environ["PYTHONSAFEPATH"] = "1"  # the processes it starts import nothing from their folder
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="backslashreplace")  # whatever the locale can't say
    sys.excepthook = _end_unexpectedly


def run(load: Callable[[], Callable[[], int]]) -> int:
    """Run the command line of this process; returns its exit code.

    load imports the command line, which takes a while, and returns its main function.
    """
    begin()
    try:
        main = load()
    except (Exception, SystemExit) as error:
        return crash(error, sys.argv)
    try:
        code = main()
    except SystemExit as exit:  # argparse, after --help
        code = exit.code if isinstance(exit.code, int) else 0
    except KeyboardInterrupt:
        end_with("interrupted", sys.argv)
        code = INTERRUPTED
    guard(code, answered=True)  # the answer was given; nothing that comes later changes it
    return code if _flush() else FAILED


def end_with(sentence: str, words: list[str]) -> None:
    """Say why there is no answer: on standard error, and as JSON if that was requested.

    A stream that can't be written to is left alone: the exit code still says it.
    """
    if "--json" in words:
        import json

        _write(sys.stdout, json.dumps({"error": sentence}))
    _write(sys.stderr, sentence)


def crash(error: BaseException, words: list[str]) -> int:
    """Say in one sentence that the kit itself failed, and where; returns the exit code."""
    if isinstance(error, MemoryError):
        end_with(
            "The system has no more memory for this process: lower the constants, or raise the"
            " limit.",
            words,
        )
        return FAILED
    if isinstance(error, ModuleNotFoundError):
        end_with(
            f"The environment lacks the module {error.name}: remove the folder .venv, and give the"
            " same command again.",
            words,
        )
        return FAILED
    try:
        from protocol_lab.errors import unexpected

        sentence = unexpected(error)
    except Exception:  # the kit can't be imported at all
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        sentence = f"The kit can't be loaded ({cause}): set it up with `python3 lab.py prepare`."
    end_with(sentence, words)
    return FAILED


def _end_unexpectedly(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What Python calls with an exception that nobody caught, such as one of an import."""
    code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
    if code == INTERRUPTED:
        end_with("interrupted", sys.argv)
    else:
        crash(error, sys.argv)
    os._exit(code)  # else Python's own would be 1, which means "violated"


def _write(stream: object, text: str) -> None:
    if stream is not None:
        with suppress(OSError, ValueError, RuntimeError):  # the last if it is at work just now
            print(text, file=stream, flush=True)


def _flush() -> bool:
    """Write out what is still to be written, so that Python does not fail to do it later."""
    all_well = True
    for number, stream in enumerate((sys.stdout, sys.stderr), 1):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            all_well = number != 1 and all_well
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
    return all_well


# --- Interrupts -----------------------------------------------------------------------------------
#
# Ctrl-C, or a notebook's stop button, as a request that a search answers when ready.


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """A context that gives a function: was an interruption requested since it began?

    So counts are never left half-written, and no library swallows the interruption. If the function
    was not asked after a request, KeyboardInterrupt is raised at the end. A second request
    interrupts at once, as usual. In a thread other than the main one, which Python never
    interrupts, the function always returns False.
    """
    asked, told = [], []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)

    def is_asked() -> bool:
        told.extend(asked)
        return bool(asked)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield is_asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked and not told:
        raise KeyboardInterrupt
