"""What a ledger promises: quorums, the journal, data integrity; by searches of the kit's models.

A row is one of faults that bookies have, or a recovery that meets a writer. `with_limbo` has the
bookies that forget, by the rules of 4.18.0; `protocol` has the recovery. Both are searched with one
entry, two clients, no message lost, and as many bookies as the write quorum, so that nobody
replaces one. The model's bookie that forgets entries forgets its fence, too. A real one whose
entries bypass the journal keeps the fence, in the journal.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from bookkeeper_spec import properties, protocol, with_limbo
from protocol_lab.errors import LabError, quoted, shortened, unknown
from protocol_lab.model.spec import Model
from real_systems import promise_table
from real_systems.promise_table import Choice, Row
from real_systems.runner.recordings import Recording

JOURNALS = {
    "synced": "journal synced (default)",
    "not synced": "journalSyncData=false",
    "bypassed": "journalWriteData=false",
}
FORGETS = {
    "synced": ("new_disks",),
    "not synced": ("new_disks", "power_cuts"),
    "bypassed": ("new_disks", "power_cuts", "kills"),
}
"""The faults in which a bookie forgets entries that it has confirmed, by its journal."""

PROMISES = ("no_divergence_between_client_and_meta_data", "all_acked_entries_are_readable")


def _row(name: str, text: str, *stories: str, **faults: int) -> Row:
    return Row(name, text, faults, PROMISES, stories=stories)


ROWS = (
    _row("writer", "A recovery begins, and the writer still adds"),
    _row("kill", "A bookie is killed", kills=1),
    _row("two_kills", "Two bookies are killed", "no_journal_fence", kills=2),
    _row("power_cut", "A bookie loses power", power_cuts=1),
    _row("two_power_cuts", "Two bookies lose power", power_cuts=2),
    _row("new_disk", "A bookie gets a new disk", "replaced_disk", new_disks=1),
    _row("two_new_disks", "Two bookies get new disks", "zombie_on_new_disks", new_disks=2),
)


@dataclass(frozen=True)
class Settings(promise_table.Settings):
    """What is asked about a ledger and its bookies; the defaults are Pulsar's.

    The ensemble is as large as the write quorum. release: 4.13, or 4.14 and later. integrity:
    dataIntegrityChecking, which is possible from 4.15 on.
    """

    write_quorum: int = 2
    ack_quorum: int = 2
    journal: str = "synced"
    integrity: bool = False
    release: str = "4.14"
    said: dict[str, str] = field(default_factory=dict, compare=False)

    rows = ROWS
    is_destroyed = staticmethod(properties.all_acked_entries_are_readable)
    golden = Path(__file__).with_name("ledger_cells.json")
    columns: ClassVar = {
        f"{journal}{' checked' * integrity}": (
            f"{text}{', data integrity checked' * integrity}",
            {"journal": journal, "integrity": integrity},
        )
        for journal, text in JOURNALS.items()
        for integrity in (False, True)
    }
    choices: ClassVar = {
        "write_quorum": Choice("ensemble and write quorum", (1, 2), "write quorum {}".format),
        "ack_quorum": Choice("ack quorum", (1, 2), "ack quorum {}".format),
        "journal": Choice("journal", tuple(JOURNALS), JOURNALS.__getitem__),
        "integrity": Choice(
            "data integrity",
            (False, True),
            lambda value: f"data integrity {'checked' if value else 'not checked'}",
        ),
        "release": Choice(
            "BookKeeper",
            ("4.13", "4.14"),
            lambda value: f"BookKeeper {value}{'' if value == '4.13' else ' and later'}",
        ),
    }
    price: ClassVar = {}
    limits = (
        "Kept means: in every state that these faults lead to, with one entry, two clients and no"
        " lost message, on as many bookies as the write quorum, by the rules of 4.18.0 as the model"
        " bookkeeper.with_limbo has them, or of"
        " the release as bookkeeper.protocol has them. It does not mean safe."
    )

    @property
    def column(self) -> str:
        """The name of the column with this journal."""
        return f"{self.journal}{' checked' * self.integrity}"

    def model(self, row: Row) -> Model:
        """The model of a cell."""
        size = {
            "bookies": self.write_quorum,
            "write_quorum": self.write_quorum,
            "ack_quorum": self.ack_quorum,
            "max_lost_messages": 0,
        }
        if not row.faults:
            fences = self.release != "4.13"
            return protocol.spec.bind(recovery_reads_fence=fences, ignore_late_reads=True, **size)
        return with_limbo.spec.bind(
            max_crashes=sum(row.faults.get(each, 0) for each in FORGETS[self.journal]),
            fence_on_unclean_shutdown=self.integrity,
            set_limbo_on_unclean_shutdown=self.integrity,
            fence_closed_ledgers=False,
            limbo_tells_lac=False,
            close_with_own_fragments=True,
            **size,
        )

    def better(self) -> Iterator[tuple[str, Any]]:
        """Each setting and a value with which more is promised, or might be."""
        if self.release == "4.13":
            yield "release", "4.14"
        if self.journal != "synced":
            yield "journal", "synced"
        if not self.integrity:
            yield "integrity", True
        if self.ack_quorum < self.write_quorum:
            yield "ack_quorum", self.write_quorum
        if self.write_quorum < 2:
            yield "write_quorum", 2

    def changed(self, name: str, value: Any) -> tuple[str, "Settings"]:
        """A change of one setting in words, and the settings after it: a larger write quorum is
        an ack quorum as well."""
        text, after = super().changed(name, value)
        return text, replace(after, ack_quorum=value) if name == "write_quorum" else after

    def saw(self, run: Recording) -> bool:
        """Was this run of a story with this journal, this check, and quorums of 2?"""
        chosen = run.settings
        journal = "bypassed" if "journal" in chosen else "synced"
        check = {"off": False, "on": True}.get(chosen.get("data_integrity", "off"))
        asked = (self.journal, self.integrity, self.write_quorum, self.ack_quorum)
        return asked == (journal, check, 2, 2) and chosen.get("journal") != "removed"

    @staticmethod
    def todo(change: str) -> str:
        """What to do on Monday for a change that keeps something, as HTML."""
        if "integrity" in change:
            return (
                "Set dataIntegrityChecking=true, and after a disk was replaced leave its cookie to"
                " dataIntegrityStampMissingCookies (<code>lab.py real replaced_disk</code>)."
            )
        if change == JOURNALS["synced"]:
            return "Leave journalSyncData and journalWriteData as they are by default: true."
        return f"Create ledgers with {escape(change)}." if "quorum" in change else ""


FIRST = Settings()


_JOURNAL_IN_FILES = {"journalSyncData": "not synced", "journalWriteData": "bypassed"}
_SETTINGS = {
    "managedLedgerDefaultWriteQuorum": "write_quorum",
    "managedLedgerDefaultAckQuorum": "ack_quorum",
    "dataIntegrityChecking": "integrity",
    **dict.fromkeys(_JOURNAL_IN_FILES, "journal"),
}
_IN_FILE = re.compile(rf"^[ \t]*({'|'.join(_SETTINGS)})[ \t]*[=:][ \t]*(\S+)", re.M)
_FLAGS = {"true": True, "false": False, "on": True, "off": False}


def read(files: Iterable[tuple[str, str]], **given: Any) -> Settings:
    """The settings that `bk_server.conf` or Pulsar's `broker.conf` says, each a name and its text;
    what is given outranks them. Raises LabError."""
    values: dict[str, Any] = {}
    said: dict[str, str] = {}
    keys: dict[str, tuple[str, str]] = {}
    for name, text in files:
        found = _IN_FILE.findall(text)
        if not found:
            raise LabError(
                f"{name} names none of the settings: give bk_server.conf, or Pulsar's broker.conf."
            )
        for key, value in found:
            if keys.setdefault(key, (name, value))[1] != value:
                raise LabError(
                    f"{keys[key][0]} says {key}={shortened(keys[key][1])}, and {name} says"
                    f" {shortened(value)}: give one of them."
                )
    for key, (name, value) in keys.items():
        setting = _SETTINGS[key]
        said[setting] = name
        if setting != "journal":
            values[setting] = _checked(setting, value)
        elif not _checked("integrity", value, key) and values.get("journal") != "bypassed":
            values["journal"] = _JOURNAL_IN_FILES[key]
    for setting, value in given.items():
        if setting not in Settings.choices:
            raise unknown("setting", setting, Settings.choices)
        values[setting], said[setting] = _checked(setting, str(value)), "asked"
    settings = Settings(**values, said=said)
    if settings.ack_quorum > settings.write_quorum:
        raise LabError(
            f"The ack quorum, {settings.ack_quorum}, can't be larger than the write quorum,"
            f" {settings.write_quorum}."
        )
    return settings


def _checked(name: str, text: str, called: str = "") -> Any:
    """The value of a setting. called: its name in a message. Raises LabError for one that it can't
    have."""
    wanted = "1, 2 or 3, which is as far as the searches go"
    if "quorum" in name:
        if text in ("1", "2", "3"):
            return int(text)
    elif name == "integrity":
        if text.lower() in _FLAGS:
            return _FLAGS[text.lower()]
        wanted = "on or off"
    else:
        values = Settings.choices[name].values
        if text.replace("_", " ") in values:
            return text.replace("_", " ")
        wanted = " or ".join(values)
    raise LabError(f"{called or name.replace('_', ' ')} {quoted(text)}: it must be {wanted}.")
