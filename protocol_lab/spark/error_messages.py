"""Turns Spark's failures, pages of stack traces, into one sentence each."""

import re

_FULL = re.compile(
    r"No space left on device|File too large|Disk quota exceeded|\d+ requested and \d+ written",
    re.I,
)

_LOST = re.compile(
    r"ExecutorLostFailure|FetchFailed|indeterminate output|ExecutorDeadException"
    r"|Python worker (exited unexpectedly|failed to connect back)|heartbeat timed out"
)

_KNOWN = (
    (_FULL, "the disk is full: free some space"),
    (
        re.compile(
            r"OutOfMemoryError|Python worker exited unexpectedly.*memory|exit code 137", re.S
        ),
        'Spark ran out of memory: give it more, as in local_session(spark_driver_memory="8g"), or'
        " more partitions",
    ),
    (
        re.compile(
            r"Could not reserve enough space|Cannot allocate memory|Invalid maximum heap", re.I
        ),
        "there is not as much memory as Spark was told to take: close other programs, or give it"
        ' less, as in local_session(spark_driver_memory="1g")',
    ),
    (
        re.compile(r"System memory \d+ must be at least|Executor memory \d+ must be at least"),
        'it needs half a GiB at least: give it more, as in local_session(spark_driver_memory="1g")',
    ),
    (
        re.compile(r"Address already in use|BindException|Service '.*' failed after \d+ retries"),
        "a port that Spark was to use is taken by another program: end that one, or name another"
        " port, as in local_session(ui=True, spark_ui_port=4050)",
    ),
    (
        re.compile(
            r"Py4JNetworkError|Connection refused|Answer from Java side is empty|UNAVAILABLE"
        ),
        "Spark has ended, or can't be reached: start a new session",
    ),
)

_IN_PYTHON = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt)): (.*)")
_IN_JAVA = re.compile(r"(?:[\w$]+\.)*[\w$]*(?:Exception|Error): (?!.*(?:Exception|Error): )(.*)")


def is_a_loss(text: str) -> bool:
    """Was an executor, or a Python worker, lost? Then the job may well succeed if it is run once
    more."""
    return bool(_LOST.search(text)) and not _FULL.search(text)


def cause(text: str) -> str:
    """The sentence for a known failure; for any other the most informative line of its message."""
    for pattern, sentence in _KNOWN:
        if pattern.search(text):
            return sentence
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [match for line in lines if (match := _IN_PYTHON.match(line))]
    if "Traceback (most recent call last)" in text and told:
        kind, said = told[-1].groups()
        found = said if kind == "LabError" else f"{kind}: {said}"
    else:
        java = [match[1] for line in lines if (match := _IN_JAVA.search(line))]
        found = next(iter([*java, *lines]), "no reason was given")
    return found.rstrip(".")
