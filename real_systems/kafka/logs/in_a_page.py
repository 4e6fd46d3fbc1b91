"""Reads dropped logs in a page's worker: the words are those of the command `logs`."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError
from real_systems.kafka.logs.report import Report, read

MOST_MEGABYTES = 500
"""What a page reads, packed and unpacked. Logs of 446 took 96 s of a processor in Chromium 156, and
0.6 GB of memory for what they say: files are read where they are."""


def answer(folder: str, asked: str, tell: Callable[[int, int], Any]) -> str:
    """What the command prints of all that lies in a folder, as JSON: its `text` and `verdict`,
    which is "" where it is a sentence on bad input.

    asked: the command's options `topic`, `partition`, `from` and `to`, as JSON; "" is one that was
    not given. tell(done, all) hears of the files that are read.
    """
    options = {name: text.strip() or None for name, text in json.loads(asked).items()}
    os.chdir(folder)  # files are named as if the command had been started there
    try:
        report = _report(options, tell)
        said = {"text": str(report), "verdict": report.verdict}
    except LabError as error:
        said = {"text": str(error), "verdict": ""}
    except MemoryError:
        text = "This page has not enough memory for that: take fewer files, or the command."
        said = {"text": text, "verdict": ""}
    finally:
        os.chdir("/")
    return json.dumps(said)


def _report(options: dict[str, str | None], tell: Callable[[int, int], Any]) -> Report:
    size = sum(each.stat().st_size for each in Path().rglob("*") if each.is_file())
    most = MOST_MEGABYTES * 1_000_000
    if size > most:
        raise LabError(
            f"These are {size / 1e6:,.0f} MB, and a page reads {MOST_MEGABYTES}: leave some out, or"
            " run `python3 lab.py logs FOLDER`."
        )

    def run(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for done, each in enumerate(items):
            tell(done, len(items))
            yield function(each)

    number = options["partition"]
    if number is not None and not number.isdecimal():
        raise LabError(f"{number} is no number of a partition: write one such as 0.")
    partition = None if number is None else int(number)
    window = options["from"], options["to"]
    names = sorted(os.listdir())
    return read(names, options["topic"], partition, *window, engine=run, most_unpacked=most)
