"""A controller quorum that elects again and again: the case that `kafka_spec.settings` can't have.

What is true is a state of `kraft.kip_996` without pre-vote, as before Kafka 4.0, and which
controller has the bad link. Every second minute that link fails for a moment: then the controller
stands, or the others do if it leads, and the model elects. Nobody loses a record; a minute with an
election is a minute without an active controller. The best play is the best of all plans of at most
two commands, for all controllers that may have the link by what stood on the screen.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from kraft_spec.kip_996 import spec, without_history
from protocol_lab.errors import LabError
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view as view_of
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import initial, needed_attempts
from real_systems.kafka.on_call.incident import UNTIL
from real_systems.kafka.on_call.written_lines import Line, Lines, at, hour

NAME, TITLE = "quorum_elects_again", "A quorum that elects again and again"
SERVERS = (1, 2, 3)
_TOLD = (
    "PAGE  ActiveControllerCount was 0 for a moment, for the fourth time in six minutes",
    "Three controllers run: 101, 102 and 103. Brokers serve, but while no controller is active no"
    " leader can be replaced. The network team finds nothing.",
)
_LESSON = (
    "Before Kafka 4.0 a controller that was cut off for a moment calls an election in a later epoch"
    " when it is back, and deposes a leader that was well. A restart of the active one is one more"
    " election. Stop the controller whose candidacy makes a healthy leader renounce: two of three"
    " are a quorum, and both are then needed. Since 4.0 it asks first (pre-vote)."
)
_KINDS = {"candidate": "stands", "leader": "wins"}
"""What a log says of a controller that comes to a state."""
_FIRST = (
    "handle_vote",
    "become_leader",
    "accept_begin_quorum",
    "handle_fetch",
    "reject_fetch",
    "accept_fetch",
    "diverging_fetch",
    "resend_begin",
)


class Told(NamedTuple):
    """A line: at a minute a controller stands, wins, or is deposed, in an epoch."""

    minute: int
    server: int
    kind: str
    epoch: int


@lru_cache(maxsize=1)
def model() -> Model:
    """Three controllers of Kafka 3.9."""
    return spec.bind(
        pre_vote_off=1, max_connectivity_changes=9, max_epoch=99, max_restarts=9, log_slots=24
    )


def leader(row: bytes, stopped: frozenset[int]) -> int:
    """The active controller: it leads a majority that is in its epoch; 0 for none."""
    s = view_of(model().layout, row)
    alive = [each for each in SERVERS if each not in stopped]
    epochs = [s.current_epoch[each] for each in alive]
    led = [
        each
        for each in alive
        if s.state[each] == "leader"
        and s.leader[each] == each
        and 2 * epochs.count(s.current_epoch[each]) > len(SERVERS)
    ]
    return max(led, key=lambda each: s.current_epoch[each], default=0)


def _standing(row: bytes) -> list[tuple[int, str]]:
    """Each controller's epoch, and whether it is a candidate or leads."""
    s = view_of(model().layout, row)
    return [
        (s.current_epoch[each], next((name for name in _KINDS if s.state[each] == name), ""))
        for each in SERVERS
    ]


_LINES_AT_THE_END = 8  # that are shown once the incident is closed; more are counted
_COMMANDS = {  # what it is called, more, what is typed, minutes
    "stop": ("Stop controller {id}", "two of three are a quorum", "systemctl stop kafka", 1),
    "restart": ("Restart controller {id}", "it is the active one", "systemctl restart kafka", 1),
    "wait": ("Wait", "and watch", "sleep 120", 2),
    "close": (
        "Nothing more to do",
        "close the incident; it is watched for 30 minutes",
        "(the incident is closed)",
        0,
    ),
    "status": (
        "Ask who leads",
        "kafka-metadata-quorum.sh describe --status",
        "kafka-metadata-quorum.sh --bootstrap-controller controllers:9093 describe --status",
        1,
    ),
}


class Night:
    """The case as it is played. Raises LabError for a command that can't be given."""

    def __init__(self, flaky: int, keys: tuple[str, ...] = ()):
        self.row, self.flaky = next(initial(model())).row, flaky
        self.minute, self.offline, self.stopped = -7, 0, frozenset[int]()
        self.is_over = False
        self.screen: list[dict[str, str]] = []
        self.told: list[Told] = []
        self._new: list[tuple[int, str, int]] = []  # what logs say in the minute to come
        self.moments: list[dict[str, Any]] = []
        self.writer = Lines("3.9.1")
        self._pass(7)
        self.offline = 0
        self.story = tuple(self.told)
        lines, self.screen = self.screen, []
        for text in _TOLD:
            self._show("told", text)
        self._show(
            "shell",
            "$ grep -hE 'CandidateState|to Leader|Renouncing' controller*/server.log | sort",
        )
        self.screen += lines
        self._remember("the page comes")
        for key in keys:
            self.give(key)

    def _show(self, kind: str, text: str) -> None:
        self.screen.append({"kind": kind, "text": text})

    @property
    def active(self) -> int:
        """The active controller; 0 for none."""
        return leader(self.row, self.stopped)

    def _pass(self, minutes: int) -> None:
        for _ in range(minutes):
            self.minute += 1
            flaky, others = self.flaky, [*{*SERVERS} - self.stopped - {self.flaky}]
            was_idle = not self.active
            if was_idle:
                self._elect([*others, *({flaky} - self.stopped)])
            elif self.minute % 2 == 0 and flaky not in self.stopped:
                self._cut_off(flaky, others, self.active)
            new, self._new = [Told(self.minute, *each) for each in self._new], []
            won = any(each.kind == "wins" for each in new)
            self.offline += was_idle or won or not self.active
            for k, each in enumerate(new):
                fields = {"epoch": each.epoch, "later": each.epoch + 1}
                time = at(self.minute) + 2_140 + 170 * k
                self.writer.line(each.server + 100, each.kind, time, **fields)
                self._show("log", _short(self.writer.lines[-1]))
            self.told += new
            if new:
                self._remember("an election")

    def possible(self) -> list[str]:
        """The commands that can be given."""
        if self.is_over:
            return []
        stops = [] if self.stopped else [f"stop{each}" for each in SERVERS]
        led = self.active
        return [f"restart{led}"] * bool(led) + stops + ["wait", "close", "status"]

    def give(self, key: str) -> None:
        """Give a command."""
        if key not in self.possible():
            choices = ", ".join(self.possible())
            raise LabError(f"{key!r} can't be done here: choose one of {choices}.")
        name, server = key.rstrip("123"), int(key[-1]) if key[-1].isdigit() else 0
        text, _, typed, minutes = _COMMANDS[name]
        self._show("shell", f"$ ssh controller{server + 100} {typed}" if server else f"$ {typed}")
        self._remember(f"you: {text.format(id=server + 100)}")
        if server:
            others = [each for each in SERVERS if each not in self.stopped | {server}]
            led = self.active
            self.stopped |= {server} if name == "stop" else set()
            if name == "restart":
                self._take(f"restart_with_state(server={server})")
            if led == server:
                self._cut_off(server, others, led)
            else:
                self._links(self.stopped)
        self.is_over, begun = name == "close", len(self.screen)
        self._pass(UNTIL if self.is_over else minutes)
        if name == "status":
            self._status()
        if self.is_over:
            more = len(self.screen) - begun - _LINES_AT_THE_END
            if more > 0:
                del self.screen[-more:]
                self._show("log", f"… and {more} lines more like these, until {hour(self.minute)}")
            self._remember("the watch ends")

    def _status(self) -> None:
        """What kafka-metadata-quorum says of the quorum now."""
        led = self.active
        epoch = view_of(model().layout, self.row).current_epoch[led] if led else None
        found = [f"LeaderId:      {led + 100}", f"LeaderEpoch:   {epoch}"]
        for text in found if led else ["TimeoutException: no active controller answers"]:
            self._show("out", text)

    # --- The model's steps ----------------------------------------------------------------------

    def _take(self, text: str) -> bool:
        """Take a step if the model allows it."""
        try:
            found = find_step(model(), self.row, text)
        except LabError:
            return False
        return found.taken and self._to(found.row)

    def _to(self, row: bytes) -> bool:
        changes = zip(SERVERS, _standing(self.row), _standing(row), strict=True)
        for server, (epoch, before), (later, after) in changes:
            if before != after and after in _KINDS:
                self._new.append((server, _KINDS[after], later))
            elif before == "leader" != after:
                self._new.append((server, "deposed", epoch))
        own = bytearray(row)
        s = view_of(model().layout, own)
        without_history(s, model().constants)
        self.row = bytes(own)
        return True

    def _settle(self) -> None:
        """Deliver what is under way, until nothing is."""
        actions = [each for each in model().spec.actions if each.name.startswith(_FIRST)]
        for _ in range(40):
            tried = needed_attempts(model(), self.row, actions)
            found = next((each for each in tried if each.taken), None)
            if found is None:
                return
            self._to(found.row)

    def _links(self, down: frozenset[int]) -> None:
        """Cut these controllers off, and none else."""
        cut = [k for k, pair in enumerate(((1, 2), (1, 3), (2, 3)), 1) if not down.isdisjoint(pair)]
        self._take(f"change_network_connectivity(down={{{', '.join(map(str, cut))}}})")

    def _elect(self, candidates: list[int]) -> None:
        """The first that can stands, and so on, until there is an active controller."""
        for server in candidates:
            if self._take(f"voter_fetch_timeout(server={server})") or self._take(
                f"voter_election_timeout(server={server})"
            ):
                self._settle()
                if self.active:
                    return

    def _cut_off(self, server: int, others: list[int], led: int) -> None:
        """A controller is cut off until others miss its answer, if it led, or it misses that of the
        one that leads; then those that are left elect, if nobody leads."""
        self._links(self.stopped | {server})
        for each in others if led == server else [server]:
            self._take(f"send_fetch_request(server={each}, peer={led})")
        if led == server:
            self._elect(others)
        self._links(self.stopped)
        if led != server and led:
            self._elect([server])
        self._settle()
        if not self.active:
            self._elect([each for each in (*others, server) if each not in self.stopped])

    # --- What is shown ----------------------------------------------------------------------------

    def _remember(self, text: str) -> None:
        self.moments.append(
            {
                "minute": self.minute,
                "text": text,
                "row": self.row,
                "told": [*self.told],
                "stopped": self.stopped,
            }
        )

    def offered(self, key: str) -> dict[str, Any]:
        """A command as it is shown."""
        text, more, _, minutes = _COMMANDS[key.rstrip("123")]
        text = text.format(id=int(key[-1]) + 100 if key[-1].isdigit() else "")
        return {"key": key, "text": text, "more": more, "minutes": minutes, "look": key == "status"}

    def shown_moments(self) -> list[dict[str, Any]]:
        """Moment by moment, what was true and what could be known."""
        shown = []
        for each in self.moments:
            s, rows = view_of(model().layout, each["row"]), []
            for server in SERVERS:
                epoch = {"there": True, "gone": False, "safe": False}
                roles = ["active"] * (leader(each["row"], each["stopped"]) == server)
                roles += ["stopped"] * (server in each["stopped"])
                roles += ["bad link"] * (server == self.flaky)
                rows.append(
                    {
                        "broker": server + 100,
                        "role": ", ".join(roles),
                        "boxes": [{**epoch, "text": f"epoch {s.current_epoch[server]}"}],
                        "known": _known(server, each["told"]),
                    }
                )
            line = {"time": hour(each["minute"]), "text": each["text"], "line": ""}
            shown.append({**line, "rows": rows})
        return shown


def _short(line: Line) -> str:
    """A controller's line without directories, its logger, and what comes after the epoch."""
    text = re.sub(
        r"localDirectoryId=[^,]*,|, directoryId=[^,)]*", "", line.text[line.text.index("[") :]
    )
    text = re.sub(r"(\bepoch=\d+), .*", r"\1…", text).partition(". Reverting")[0]
    return f"{str(line)[12:24]} {text}"


def _known(server: int, told: list[Told]) -> str:
    stood = [k for k, each in enumerate(told) if each[1:3] == (server, "stands")]
    first = [k for k in stood if told[k + 1 : k + 2] and told[k + 1].kind == "deposed"]
    often = {0: "never stood", 1: "stood once"}.get(len(stood), f"stood {len(stood)} times")
    return f"{often}, {len(first)} of these while another led" if first else often


@lru_cache(maxsize=16)
def best(flaky: int) -> tuple[str, ...]:
    """The plan of at most two commands with the fewest minutes without an active controller, on
    average over the controllers that may have the bad link."""
    story = Night(flaky).story
    alike = [each for each in SERVERS if Night(each).story == story]
    every = ("restart1", "restart2", "restart3", "stop1", "stop2", "stop3", "wait")
    plans = {}
    for plan in (("close",), *((each, "close") for each in every)):
        try:
            plans[plan] = sum(Night(each, plan).offline for each in alike)
        except LabError:
            continue
    return min(plans, key=lambda plan: (plans[plan], len(plan)))


def _result(offline: int) -> str:
    if not offline:
        return "An active controller all the time"
    return f"No active controller for {offline} minute{'s' * (offline != 1)}"


def flaky_of(seed: int) -> int:
    """Who has the bad link in a seed."""
    return 3 - seed % 2


def view(seed: int, keys: tuple[str, ...]) -> dict[str, Any]:
    """The case as plain values, as `Play.view` gives the others."""
    flaky = flaky_of(seed)
    night = Night(flaky, keys)
    rewind = None
    if night.is_over:
        plan = best(flaky)
        par = Night(flaky, plan)
        rewind = {
            "yours": _result(night.offline),
            "par": _result(par.offline),
            "better": night.offline < par.offline,
            "lost": 0,
            "bad": night.offline > par.offline + 1,
            "best": [par.offered(each)["text"] for each in plan],
            "best_keys": [*plan],
            "is_par": night.offline <= par.offline,
            "green": False,
            "first": None,
            "ways": sum(Night(each).story == night.story for each in SERVERS),
            "lesson": _LESSON,
            "notebook": "kraft/01_a_controller_comes_back",
            "run": "away_controller --release 3.9.1",
            "moments": night.shown_moments(),
        }
    return {
        "title": TITLE,
        "clock": hour(night.minute),
        "about": "Kafka 3.9.1 · three controllers",
        "offline": night.offline,
        "of": "no active controller",
        "screen": night.screen,
        "offered": [night.offered(each) for each in night.possible()],
        "rewind": rewind,
    }
