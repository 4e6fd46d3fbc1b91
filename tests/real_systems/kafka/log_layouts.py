"""The logs of a recorded cluster, rewritten as other software would have written or kept them.

Each layout is a function: it gets the entries of a file, or of all brokers' files, and returns the
text of one file. What is written is the same.
"""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from real_systems.kafka.logs.report import recorded

_HEAD = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) (.*?)(?: \(([\w.$]+)\))?$", re.S
)


@dataclass(frozen=True)
class Written:
    """An entry as a broker has written it: at a time, in milliseconds since 1970."""

    time: int
    level: str
    message: str
    logger: str
    node: int
    file: str

    @property
    def plain(self) -> str:
        """In Kafka's own layout."""
        return f"[{self.at('%Y-%m-%d %H:%M:%S')},{self.ms}] {self.level} {self.rest}"

    @property
    def rest(self) -> str:
        """What follows the level."""
        first, *more = self.message.split("\n")
        return "\n".join([f"{first} ({self.logger})" if self.logger else first, *more])

    @property
    def ms(self) -> str:
        return f"{self.time % 1000:03}"

    def at(self, form: str, hours: int = 0) -> str:
        """The time in a form of strftime, in a zone so many hours east."""
        zone = timezone(timedelta(hours=hours))
        return datetime.fromtimestamp(self.time // 1000, UTC).astimezone(zone).strftime(form)

    def iso(self, digits: int = 3) -> str:
        fraction = f"{self.ms}123456"[:digits]
        return f"{self.at('%Y-%m-%dT%H:%M:%S')}.{fraction}Z"


Layout = Callable[[Sequence[Written]], str]


def entries_of(path: Path, node: int) -> Iterator[Written]:
    """The entries of a log in Kafka's own layout, those without a time left out."""
    text = path.read_text(encoding="utf-8")
    for part in re.split(r"\n(?=\[\d{4}-)", text.rstrip("\n")):
        if found := _HEAD.match(part):
            first, _, more = part.partition("\n")
            head = _HEAD.match(first)
            time = datetime.strptime(f"{head[1]}000+0000", "%Y-%m-%d %H:%M:%S,%f%z")
            message = f"{head[3]}\n{more}" if more else head[3]
            millis = round(time.timestamp() * 1000)
            yield Written(millis, found[2], message, head[4] or "", node, path.stem)


def _host(node: int) -> str:
    return f"kafka-{node}.example.internal"


def _each(line: Callable[[Written], str]) -> Layout:
    """A layout that writes each entry on its own."""
    return lambda entries: "".join(f"{line(each)}\n" for each in entries)


def _each_line(wrapped: Callable[[Written, str], str], plain: Callable | None = None) -> Layout:
    """A layout that wraps each line of Kafka's own, as a container's log has them."""

    def layout(entries: Sequence[Written]) -> str:
        return "".join(
            f"{wrapped(each, line)}\n"
            for each in entries
            for line in (plain(each) if plain else each.plain).split("\n")
        )

    return layout


def _json(fields: Callable[[Written], dict]) -> Layout:
    return _each(lambda each: json.dumps(fields(each)))


def _quoted(text: str) -> str:
    return json.dumps(text)


def _logstash(each: Written) -> dict:
    return {
        "@timestamp": each.iso(),
        "source_host": _host(each.node),
        "message": each.message,
        "level": each.level,
        "logger_name": each.logger,
        "@version": 1,
    }


def _instant(each: Written) -> dict:
    return {
        "instant": {"epochSecond": each.time // 1000, "nanoOfSecond": each.time % 1000 * 10**6},
        "thread": "main",
        "level": each.level,
        "loggerName": each.logger,
        "message": each.message,
        "endOfBatch": False,
    }


def _loki(entries: Sequence[Written]) -> str:
    streams: dict[int, list] = {}
    for each in entries:
        streams.setdefault(each.node, []).append([str(each.time * 10**6), each.plain])
    result = [
        {"stream": {"app": "kafka", "pod": f"kafka-{node}", "level": "info"}, "values": values}
        for node, values in streams.items()
    ]
    return json.dumps(
        {"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}}
    )


def _grafana(entries: Sequence[Written]) -> str:
    rows = [
        {
            "line": each.plain,
            "timestamp": str(each.time * 10**6),
            "date": each.iso(),
            "fields": {"pod": f"kafka-{each.node}", "namespace": "prod"},
        }
        for each in entries
    ]
    return json.dumps(rows, indent=2)


def _kibana(entries: Sequence[Written]) -> str:
    hits = [
        {
            "_index": ".ds-logs-2026.11.25-000001",
            "_id": f"x{k}",
            "_score": None,
            "_source": {
                "@timestamp": each.iso(),
                "message": each.plain,
                "event": {"ingested": "2026-11-26T10:00:00.000Z"},
                "host": {"name": _host(each.node)},
                "log": {"offset": 1000 + k, "file": {"path": "/var/log/kafka/server.log"}},
            },
            "sort": [each.time],
        }
        for k, each in enumerate(entries)
    ]
    return json.dumps({"took": 5, "hits": {"total": {"value": len(hits)}, "hits": hits}}, indent=1)


def _csv(names: Sequence[str], row: Callable[[Written], Sequence[str]], delimiter: str) -> Layout:
    def layout(entries: Sequence[Written]) -> str:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(map(row, entries))
        return text.getvalue()

    return layout


def _journal_export(each: Written) -> str:
    return "".join(
        f"__CURSOR=s=1;i={each.time}\n__REALTIME_TIMESTAMP={each.time * 1000}\n"
        f"_HOSTNAME={_host(each.node)}\nPRIORITY=6\nMESSAGE={line}\n\n"
        for line in each.plain.split("\n")
    )


_CLF = "%d/%b/%Y:%H:%M:%S +0000"
_KIBANA_TIME = "%b %d, %Y @ %H:%M:%S"

LAYOUTS: dict[str, Layout] = {
    # what a log4j pattern can be
    "plain": _each(lambda e: e.plain),
    "iso": _each(lambda e: f"{e.iso()} {e.level:<5} [main] {e.rest}"),
    "zone": _each(
        lambda e: f"{e.at('%Y-%m-%dT%H:%M:%S', 2)},{e.ms}+0200 {e.level} {e.logger} - {e.message}"
    ),
    "zone_gmt": _each(lambda e: f"{e.at('%F %T', 2)}.{e.ms} GMT+02:00 {e.level} {e.rest}"),
    "level_first": _each(lambda e: f"{e.level} [{e.at('%Y-%m-%d %H:%M:%S')},{e.ms}] {e.rest}"),
    "slashes": _each(
        lambda e: (
            f"{e.at('%Y/%m/%d %H:%M:%S')}.{e.ms} {e.level} [{e.logger}] [main] [kafka] []"
            f" {e.message}"
        )
    ),
    "log4j_date": _each(lambda e: f"{e.at('%d %b %Y %H:%M:%S')},{e.ms} {e.level} {e.rest}"),
    "american": _each(lambda e: f"{e.at('%m/%d/%Y %H:%M:%S')}.{e.ms} {e.level} {e.rest}"),
    "compact": _each(lambda e: f"{e.at('%Y%m%dT%H%M%S')}.{e.ms}Z {e.level} {e.rest}"),
    "epoch_millis": _each(lambda e: f"{e.time} {e.level} {e.rest}"),
    "epoch_seconds": _each(lambda e: f"{e.time // 1000}.{e.ms} [{e.level}] {e.rest}"),
    "clock": _each(lambda e: f"{e.at('%H:%M:%S')},{e.ms} {e.level} {e.rest}"),
    "no_level": _each(lambda e: f"[{e.at('%Y-%m-%d %H:%M:%S')},{e.ms}] {e.rest}"),
    "time_last": _each(lambda e: f"{e.level} {e.message} {e.at('%Y-%m-%d %H:%M:%S')},{e.ms}"),
    # records
    "logstash": _json(_logstash),
    "ecs": _json(
        lambda e: {
            "@timestamp": e.iso(),
            "log.level": e.level,
            "message": e.message,
            "ecs.version": "1.2.0",
            "process": {"thread": {"name": "main"}},
            "log": {"logger": e.logger},
        }
    ),
    "json_layout": _json(_instant),
    "json_pretty": lambda entries: (
        "[\n" + ", ".join(json.dumps(_instant(each), indent=2) for each in entries) + "\n]\n"
    ),
    "json_time_last": _json(
        lambda e: {"level": e.level, "logger": e.logger, "message": e.message, "time": e.iso()}
    ),
    "gelf": _json(
        lambda e: {
            "version": "1.1",
            "host": _host(e.node),
            "short_message": e.message,
            "timestamp": e.time / 1000,
            "level": 6,
        }
    ),
    "gcp": _json(
        lambda e: {
            "severity": e.level,
            "jsonPayload": {"message": e.message, "logger": e.logger},
            "timestamp": e.iso(9),
            "receiveTimestamp": "2026-11-26T01:00:00.5Z",
            "resource": {"labels": {"pod_name": f"kafka-{e.node}", "namespace_name": "prod"}},
        }
    ),
    "logfmt": _each(
        lambda e: f"ts={e.iso()} level={e.level.lower()} logger={e.logger} msg={_quoted(e.message)}"
    ),
    # what wraps them
    "docker": _each_line(
        lambda e, line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": e.iso(9)})
    ),
    "docker_of_json": _json(
        lambda e: {"log": json.dumps(_instant(e)) + "\n", "stream": "stdout", "time": e.iso(9)}
    ),
    "cri": _each_line(lambda e, line: f"{e.iso(9)} stdout F {line}"),
    "cri_of_json": _each(lambda e: f"{e.iso(9)} stdout F {json.dumps(_logstash(e))}"),
    "clock_in_docker": _each_line(
        lambda e, line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": e.iso(9)}),
        lambda e: f"{e.at('%H:%M:%S')},{e.ms} {e.level} {e.rest}",
    ),
    "journald": _each_line(
        lambda e, line: f"{e.at('%b %d %H:%M:%S')} {_host(e.node)} kafka.sh[{e.node}7]: {line}"
    ),
    "journald_json": _each_line(
        lambda e, line: json.dumps(
            {
                "__REALTIME_TIMESTAMP": str(e.time * 1000),
                "__MONOTONIC_TIMESTAMP": "1400000000123",
                "_HOSTNAME": _host(e.node),
                "_PID": "77",
                "MESSAGE": list(line.encode()) if e.time % 2 else line,
            }
        )
    ),
    "journald_export": lambda entries: "".join(map(_journal_export, entries)),
    "syslog": _each_line(
        lambda e, line: f"<14>1 {e.iso()} {_host(e.node)} kafka 77 - - {line}",
        lambda e: f"{e.level} {e.rest}",
    ),
    "testcontainers": _each_line(
        lambda e, line: f"{e.at('%H:%M:%S')}.{e.ms} [docker-java] INFO tc.kafka - STDOUT: {line}"
    ),
    "quotes": _each_line(lambda e, line: _quoted(line)),
    # exports
    "loki": _loki,
    "grafana": _grafana,
    "kibana": _kibana,
    "kibana_csv": _csv(
        ["@timestamp", "host.name", "message"],
        lambda e: [f"{e.at(_KIBANA_TIME)}.{e.ms}", _host(e.node), e.plain],
        ",",
    ),
    "csv_time_last": _csv(
        ["level", "logger", "message", "time"],
        lambda e: [e.level, e.logger, e.message, e.iso()],
        ";",
    ),
    "cloudwatch": lambda entries: json.dumps(
        {"events": [{"timestamp": e.time, "message": e.plain} for e in entries]}
    ),
}
"""Layouts of a file; those with times of whole seconds are in `COARSE`."""

COARSE: dict[str, Layout] = {
    "util_logging": _each(
        lambda e: f"{e.at('%b %d, %Y %I:%M:%S %p')} {e.logger} log\n{e.level}: {e.message}"
    ),
    "web_server": _each(lambda e: f"[{e.at(_CLF)}] {e.level} {e.rest}"),
    "date": _each(lambda e: f"{e.at('%a %b %d %H:%M:%S UTC %Y')} {e.level} {e.rest}"),
    "journald_alone": _each_line(
        lambda e, line: f"{e.at('%b %d %H:%M:%S')} {_host(e.node)} kafka.sh[77]: {line}",
        lambda e: f"{e.level} {e.rest}",
    ),
}
"""Layouts whose times are whole seconds."""

MERGED: dict[str, Layout] = {
    "compose": _each_line(lambda e, line: f"kafka-{e.node}  | {line}"),
    "compose_colours": _each_line(
        lambda e, line: f"\x1b[3{e.node % 8}mkafka-{e.node}  |\x1b[0m {line}"
    ),
    "compose_times": _each_line(lambda e, line: f"kafka-{e.node}  | {e.iso(9)} {line}"),
    "compose_of_json": _each(lambda e: f"kafka-{e.node} | {json.dumps(_instant(e))}"),
    "kubectl": _each_line(lambda e, line: f"[pod/shop-broker-pool-{e.node}/kafka] {line}"),
    "kubectl_times": _each_line(lambda e, line: f"[pod/kafka-{e.node}/kafka] {e.iso(9)} {line}"),
    "grep": _each_line(lambda e, line: f"node{e.node}/server.log:{e.time % 9999}:{line}"),
    **{
        name: LAYOUTS[name]
        for name in (
            "journald",
            "journald_json",
            "syslog",
            "logstash",
            "gelf",
            "gcp",
            "loki",
            "grafana",
            "kibana",
            "kibana_csv",
        )
    },
}
"""Layouts of one file with the lines of all brokers, each of which has a name."""


def rewritten(name: str, place: Path, layout: Layout, merged: bool = False) -> Path:
    """A recorded cluster's folder below a place, its logs in a layout, each or all in one file."""
    shutil.unpack_archive(recorded(name), place, filter="data")
    folder = place / name
    every: list[Written] = []
    for path in sorted(folder.glob("node*/*.log")):
        entries = list(entries_of(path, int(path.parent.name.removeprefix("node"))))
        every += entries
        if merged:
            path.unlink()
        else:
            path.write_text(layout(entries), encoding="utf-8")
    if merged:
        for path in folder.glob("node*/server.properties"):
            path.unlink()
        every.sort(key=lambda each: each.time)
        (folder / "all.log").write_text(layout(every), encoding="utf-8")
    return folder
