"""What real systems add to the command line: `real`, `logs` and `promise`."""

import argparse
import json
from typing import Any

from protocol_lab.checker.request import NATIVE
from protocol_lab.cli import EXIT_CODES, settings_of, write_file
from protocol_lab.errors import LabError


def add_commands(commands: Any) -> None:
    """Add them to the subparsers of the kit's command line."""
    real = commands.add_parser(
        "real",
        help="act a lesson's story out on real brokers or bookies",
        description="Act a lesson's story out on real brokers or bookies, as local processes."
        " Without a name the stories are listed. Exit codes: 0 as known (or listed), 1 another"
        " outcome than the known one, 2 the story did not come about, 3 bad input.",
    )
    real.add_argument("story", nargs="?", help="a story that `real` lists, or the file of your own")
    real.add_argument("--release", help="of the system; default: the last of the story's cases")
    real.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    real.add_argument(
        "--recorded", action="store_true", help="show the run that travels with the kit"
    )
    real.add_argument(
        "--all",
        action="store_true",
        help="the table of all recorded runs: what came of each story, by release",
    )
    real.add_argument("--keep", metavar="FOLDER", help="keep all that the processes write there")
    real.add_argument("--json", action="store_true")
    real.set_defaults(command=_real)

    logs = commands.add_parser(
        "logs",
        help="what the logs of your own cluster say happened",
        description="Read the logs that a real cluster has written, and what its tools print of"
        " them: what each partition was like, moment by moment, what a lesson would say of it, and"
        " whether the metadata log is a run of the controller's rules. Exit codes: 0 nothing"
        " found, and what was read was enough to tell, 1 found, 2 can't tell, 3 bad input.",
    )
    logs.add_argument("folder", nargs="+", help="where the logs are; files may be compressed")
    logs.add_argument("--topic", help="only this one")
    logs.add_argument("--partition", type=int, metavar="N", help="only this one of the topic")
    logs.add_argument("--from", dest="begin", metavar="TIME", help="such as 02:19 (UTC)")
    logs.add_argument("--to", dest="end", metavar="TIME")
    logs.add_argument(
        "--check",
        action="store_true",
        help="list also the run of the controller's rules that explains the metadata log, record by"
        " record; checks any number of partitions",
    )
    logs.add_argument(
        "--rules",
        metavar="elr=on|off",
        help="check the metadata log as if it had, or had not, eligible leader replicas",
    )
    logs.add_argument(
        "--engine", default=NATIVE, help="native, or spark for gigabytes, with the same answers"
    )
    logs.add_argument("--page", metavar="OUT.html", help="write it with pictures into this file")
    logs.add_argument("--json", action="store_true")
    logs.set_defaults(command=_logs)

    promise = commands.add_parser(
        "promise",
        help="what your settings of Kafka or BookKeeper promise, and what they can lose",
        description="Search all states of one partition, or ledger, with your settings, within"
        " several sets of faults: which of them lose what was acknowledged, and which stop writes."
        " Exit codes: 0 all kept, 1 something can be lost, 2 undecided, 3 bad input.",
    )
    promise.add_argument("system", nargs="?", choices=("kafka", "bookkeeper"), default="kafka")
    promise.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of BookKeeper: write_quorum, ack_quorum, journal (synced, not synced, bypassed),"
        " integrity, release",
    )
    promise.add_argument("--release", help="of Kafka, such as 3.9.1")
    promise.add_argument("--replicas", metavar="N")
    promise.add_argument("--min-isr", metavar="N", help="min.insync.replicas")
    promise.add_argument("--acks", help="of the producers: all, 1 or 0")
    promise.add_argument("--unclean", metavar="true|false", help="unclean.leader.election.enable")
    promise.add_argument("--elr", metavar="on|off", help="eligible leader replicas")
    promise.add_argument("--racks", metavar="N", help="power supplies that the brokers share")
    promise.add_argument(
        "--file",
        action="append",
        default=[],
        help="server.properties, a Strimzi resource, or what kafka-configs, kafka-topics or"
        " kafka-features print with --describe; bk_server.conf or Pulsar's broker.conf; may be"
        " given several times",
    )
    promise.add_argument(
        "--faults",
        metavar="NAME=N,...",
        help="these instead of the usual rows, such as kills=1,power_cuts=1",
    )
    promise.add_argument(
        "--logs",
        nargs="+",
        metavar="FOLDER",
        help="what each next fault would cost, by broker, from the state in which these logs end",
    )
    promise.add_argument("--to", dest="end", metavar="TIME", help="with --logs: only up to then")
    promise.add_argument("--json", action="store_true")
    promise.set_defaults(command=_promise)


def _real(options: argparse.Namespace) -> int:
    from real_systems.runner.command import real

    return real(options)


def _logs(options: argparse.Namespace) -> int:
    from real_systems.kafka.logs.report import read

    report = read(
        options.folder,
        options.topic,
        options.partition,
        options.begin,
        options.end,
        options.check,
        options.rules,
        options.engine,
    )
    if options.page:
        write_file(options.page, report.page())
    print(json.dumps(report.as_json()) if options.json else report)
    return EXIT_CODES[report.verdict]


def _promise(options: argparse.Namespace) -> int:
    from real_systems.bookkeeper import ledger_settings
    from real_systems.kafka.cluster_settings import read, row_of, text_of
    from real_systems.kafka.promise_of_logs import outlook
    from real_systems.promise_table import promise

    names = ("release", "replicas", "min_isr", "acks", "unclean", "elr", "racks")
    given = {name: getattr(options, name) for name in names}
    files = [text_of(each) for each in options.file]
    if options.logs and (files or options.faults):
        raise LabError("--logs asks from the state of a cluster: leave --file and --faults out.")
    if options.end and not options.logs:
        raise LabError("--to says up to when logs are read: give --logs, too.")
    if options.system == "bookkeeper":
        if options.logs or options.faults or any(given.values()):
            raise LabError("bookkeeper takes --set NAME=VALUE and --file; its rows are given.")
        report = promise(ledger_settings.read(files, **settings_of(options.set)))
    elif options.set:
        raise LabError("--set is for BookKeeper; Kafka's settings have options of their own.")
    elif options.logs:
        report = outlook(options.logs, options.end, **given)
    else:
        settings = read(files, **given)
        report = promise(settings, (row_of(options.faults),) if options.faults else ())
    print(json.dumps(report.as_json()) if options.json else report)
    return EXIT_CODES[report.verdict]
