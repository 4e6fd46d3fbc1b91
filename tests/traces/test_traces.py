"""What comes in and goes out: TLC's traces, links, scenarios, JSON and programs."""

import io
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from protocol_lab import HOLDS, TAKEN, Int8, Spec, Struct
from protocol_lab.catalog import load, spec_names
from protocol_lab.drawing.animation import MOST_FRAMES, animated_gif, animated_svg
from protocol_lab.drawing.picture_exports import FORMATS, to_gif
from protocol_lab.drawing.pictures import caption
from protocol_lab.errors import LabError
from protocol_lab.semantics.step_text import initial_texts
from protocol_lab.spec.constants import NoConstants, show
from protocol_lab.traces.links import PREFIX, link_text, read_link
from protocol_lab.traces.readers import read_pasted
from protocol_lab.traces.scenarios import (
    Scenario,
    parse_scenario,
    play,
    read_scenario,
    save_scenario,
    scenario_text,
    scenarios_of,
)
from protocol_lab.traces.text_exports import read_json, to_json, to_python
from protocol_lab.traces.tlc_output import parse_output
from protocol_lab.traces.tlc_traces import read_tlc_trace
from protocol_lab.traces.tlc_values import same_name
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.golden_table import SPECS, golden_rows
from tests.request_reply import spec as request_reply

TRACES = ROOT / "tests" / "tlc_traces"
KIP_101 = (TRACES / "kip_101_weak_isr.txt").read_text(encoding="utf-8")
LOG_TRACE = (TRACES / "finite_replicated_log_diverge.txt").read_text(encoding="utf-8")
TALK = "talk_46_56_found_scenario"


class Count(Struct):
    n: Int8


def along(walk: Walk) -> list[tuple[bytes, str]]:
    """What has to survive: the states and the captions so far."""
    return [(moment.row, moment.caption) for moment in walk.moment.path()]


@cache
def printed(path: Path) -> Walk:
    """The walk of a file with a trace, read once; no test takes a step of it."""
    return read_tlc_trace(path.read_text(encoding="utf-8"))


def wander(name: str, picks: list[int]) -> Walk:
    """A walk through a spec that takes the steps of these numbers, counted round."""
    model = (request_reply if name == request_reply.name else load(name)).bind()
    starts = list(initial_texts(model)) or [None]
    walk = Walk.begin(model, starts[sum(picks) % len(starts)])
    for number, pick in enumerate(picks):
        possible = [each for each in walk.attempts() if each.taken]
        if not possible:
            break
        caption = f"step {number}: # “quoted”" if pick % 3 == 0 else ""
        walk.take(possible[pick % len(possible)], caption)
    return walk


def talk() -> Walk:
    path = next(path for path in scenarios_of("kafka") if path.stem == TALK)
    return play(read_scenario(path))


# --- TLC's traces ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.txt")), ids=lambda path: path.stem)
def test_what_tlc_printed_becomes_a_walk(path):
    text, walk = path.read_text(encoding="utf-8"), printed(path)
    assert path.stem.startswith(walk.model.spec.name.partition(".")[2])
    assert walk.moment.depth == len(re.findall(r"^(?:State )?\d+: <", text, re.M)) or 1
    assert [moment.caption.split(":")[0] for moment in walk.path] == [
        f"TLC's state {number}" for number in range(1, walk.moment.depth + 1)
    ]
    broken = re.search(r"Invariant (\w+) is violated", text).group(1)
    assert walk.moment.caption.endswith(f"Here TLC says: Invariant {broken} is violated.")
    for each in walk.standings():
        if same_name(each.name, broken):
            assert not each.holds


def test_a_trace_of_a_spec_of_ones_own_without_docstrings():
    spec = Spec("counting", Count, NoConstants, original="Counting")

    @spec.init
    def init(s, c):
        return TAKEN

    @spec.action
    def up(s, c):
        s.n += 1
        return TAKEN

    walk = read_pasted(
        "Error: Invariant Low is violated.\n"
        "Error: The behavior up to this point is:\n"
        "State 1: <Initial predicate>\n/\\ n = 0\n\n"
        "State 2: <Up line 5, col 3 to line 6, col 10 of module Counting>\n/\\ n = 1\n",
        spec.bind(),
    )
    assert [moment.caption for moment in walk.path] == [
        "TLC's state 1.",
        "TLC's state 2. Here TLC says: Invariant Low is violated.",
    ]


def test_every_original_has_a_trace_and_kafkas_golden_ones_are_as_long():
    walks = [printed(path) for path in sorted(TRACES.glob("*.txt"))]
    known = {walk.model.spec.name for walk in walks}
    assert known >= {name for name in spec_names() if load(name).original}
    lengths = {
        (row.spec_name, row.invariant): row.trace_len
        for row in golden_rows("kafka")
        if row.invariant and not row.complete
    }
    for name, invariant, depth in [
        ("truncate_to_high_watermark", "StrongIsr", 10),
        ("kip_101", "WeakIsr", 12),
        ("kip_279", "WeakIsr", 11),
        ("kip_320_first_try", "WeakIsr", 12),
        ("kip_320", "LeaderInIsr", 1),
        ("unclean_leader_election", "CommittedMessagesNeverLost", 16),
    ]:
        assert (f"kafka.{name}", invariant) in lengths
        of_spec = [walk for walk in walks if walk.model.spec.name == f"kafka.{name}"]
        assert depth in [walk.moment.depth for walk in of_spec]


def test_every_original_is_declared():
    # The records give them other names, and may say how the original was modified.
    modules = {"PulsarCompaction": "compaction", "kip_853": "kraft_kip_853"}
    for record, (name, _) in SPECS.items():
        original = record.partition(":")[0]
        assert load(name).original == modules.get(original, original)


def test_all_three_ways_of_printing_are_one_walk():
    walks = [printed(path) for path in sorted(TRACES.glob("truncate*"))]
    assert len(walks) == 3
    assert along(walks[0]) == along(walks[1]) == along(walks[2])


def test_the_toolboxs_export_is_read():
    trace = parse_output(LOG_TRACE)
    lines = ["00:00:03\t11\t203846", ""]
    for state, value in zip(trace.states, re.findall(r"^logs = (.*\n.*)", LOG_TRACE, re.M)):
        action = f"FiniteReplicatedLog:{state.action}" if state.action else "Initial predicate"
        lines += [f"{state.number}. {action}", "logs\t" + " ".join(value.split())]
    walk = read_tlc_trace("\n".join(lines))
    assert [row for row, _ in along(walk)] == [row for row, _ in along(read_tlc_trace(LOG_TRACE))]


@pytest.mark.parametrize("mark", ["> ", "  ", "# ", "| > "])
def test_quoted_text_with_words_around_it_is_read(mark):
    quoted = "\n".join((mark + line).rstrip() for line in KIP_101.splitlines())
    walk = read_tlc_trace(f"Look what TLC found:\n\n{quoted}\n\nWhat do you think?\n")
    assert along(walk) == along(read_tlc_trace(KIP_101))


def test_constants_are_inferred():
    """Sizes from the values; the leader from who may not leave the ISR; bounds from the steps."""
    path = TRACES / "async_isr_isr_grows.txt"
    assert read_tlc_trace(path.read_text(encoding="utf-8")).model.constants.leader == 2
    assert show(read_tlc_trace(LOG_TRACE).model.constants) == {
        "replicas": 2,
        "log_records": 3,
        "log_size": 3,
    }


def test_servers_that_never_start_are_told_by_the_links():
    """Three servers run, but TLC has links between four: the fourth may start later."""
    text = (TRACES / "kip_853_nobody_has_voted.txt").read_text(encoding="utf-8")
    walk = read_tlc_trace(text)
    assert walk.model.constants.max_spawned_servers == 4
    same = read_tlc_trace(text, walk.model)
    assert along(same) == along(walk)
    smaller = load("kraft.kip_853").bind(init_cluster_size=3, max_spawned_servers=3)
    with pytest.raises(LabError, match=r"State 1 of the trace .* net_connectivity differs"):
        read_tlc_trace(text, smaller)


def test_bounds_that_are_too_low_are_raised_but_not_those_of_a_given_model():
    model = load("kafka.kip_101").bind(replicas=2, max_records=0, max_leader_epoch=0)
    constants = read_pasted(KIP_101, model).model.constants
    assert (constants.max_records, constants.max_leader_epoch) == (2, 2)
    with pytest.raises(LabError, match=r"State 3 .* controller_elect_leader can't happen"):
        read_tlc_trace(KIP_101, load("kafka.kip_101").bind(replicas=2, max_leader_epoch=0))


def test_the_names_of_nodes_do_not_matter():
    walk = read_tlc_trace(KIP_101)
    renamed = KIP_101.replace("b1", "zoe").replace("b2", '"adam"')
    others = read_tlc_trace(renamed)
    assert [step.action for step in others.steps] == [step.action for step in walk.steps]
    path = TRACES / "unclean_leader_election_committed_messages_never_lost.txt"
    model = load("kafka.unclean_leader_election").bind(unstable_replica=1)
    assert read_tlc_trace(path.read_text(encoding="utf-8"), model).moment.depth == 16


def test_a_permutation_is_found_where_the_alphabet_misleads():
    """In this model replica 2 leads for ever; the names are in the wrong order for that."""
    text = (TRACES / "async_isr_isr_grows.txt").read_text(encoding="utf-8")
    renamed = text.replace("b2", "zulu")
    model = load("kafka.async_isr").bind(leader=2)
    assert read_tlc_trace(renamed, model).moment.depth == 5


@pytest.mark.parametrize(
    ("mangle", "sentence"),
    [
        (lambda text: text[: text.index("State 7")] + "State 7: <Becom", "State 7|OK"),
        (lambda text: text[:3000], "State 5 .* cut or damaged: line 56 .* replicaLog"),
        (lambda text: text[text.index("State 3") :], "State 1 of the trace is missing"),
        (lambda text: text.replace("State 5:", "Stat 5:"), "State 5 of the trace is missing"),
        (lambda text: text.replace("hw |-> 1", "hw |-> 2"), "State 9 .* differs .* replica_state"),
        (
            lambda text: text.replace("LeaderWrite", "Sleep").replace("id |-> 0", "id |-> 1"),
            "State 6 .* no action Sleep, .* leader_write comes nearest .* replica_log",
        ),
        (lambda text: text.replace("nextRecordId = 0", "nextRecordId = 1"), "State 1 .* initial"),
        (lambda text: text[: text.rindex("/\\ replicaState")], "State 12 .* breaks off"),
    ],
)
def test_a_damaged_trace_is_told_in_one_sentence(mangle, sentence):
    text = mangle(KIP_101)
    if sentence.endswith("|OK"):
        assert read_tlc_trace(text).moment.depth == 6
        return
    with pytest.raises(LabError, match=sentence) as raised:
        read_tlc_trace(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda: read_tlc_trace(KIP_101, load("kafka.kip_320").bind(replicas=2)), "no action Bec"),
        (lambda: read_tlc_trace(KIP_101, load("kafka.kip_101").bind()), "has replicas=2, but"),
        (lambda: read_tlc_trace(KIP_101, spec_name="kafka.async_isr"), "This is not a trace of"),
        (lambda: read_tlc_trace(KIP_101, spec_name="nothing"), "There is no spec 'nothing'"),
        (lambda: read_tlc_trace("State of the art"), "There is no error trace"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\n/\\ "), "State 1 .* breaks off"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\nx = 1..z"), "cut or damaged"),
        (lambda: read_tlc_trace("State 1: <Initial predicate>\nx = 1"), "a trace of a module"),
        (
            lambda: read_tlc_trace(KIP_101.replace("of module", "in")[-9000:]),
            "missing|it may be kafka.kip_101, kafka.kip_279",
        ),
    ],
)
def test_the_wrong_spec_is_told_in_one_sentence(read, sentence):
    with pytest.raises(LabError, match=sentence) as raised:
        read()
    assert "\n" not in str(raised.value)


def test_liveness_and_several_traces():
    text = KIP_101.replace("Invariant WeakIsr is", "Temporal properties were")
    walk = read_tlc_trace(f"{text}\nState 13: Stuttering\n")
    assert walk.moment.caption.endswith("From here on: stuttering.")
    walk = read_tlc_trace(f"{text}\nBack to state 4: <BecomeLeader line 1, col 1 to line 2>\n")
    assert walk.moment.caption.endswith("From here on: back to state 4.")
    assert read_tlc_trace(KIP_101 + KIP_101).moment.depth == 12


# --- Links -----------------------------------------------------------------------------------


def test_links_are_short():
    """The longest of the shipped scenarios with all its captions, and without them."""
    walks = [play(read_scenario(path)) for path in scenarios_of("kafka")]
    assert max(len(link_text(walk)) for walk in walks) == 928
    for walk in walks:
        for moment in walk.path:
            moment.caption = ""
    assert max(len(link_text(walk)) for walk in walks) == 371


def test_a_link_survives_addresses_and_line_breaks():
    walk, link = talk(), link_text(talk())
    assert re.fullmatch(r"lab1\.[\w-]+", link, re.ASCII)
    for text in (
        f"https://example.org/kit#{link}",
        f"  {link}\n",
        "\n".join(link[k : k + 76] for k in range(0, len(link), 76)),
        f"see {link} (slide 51)",
    ):
        assert along(read_link(text)) == along(walk)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_link_is_refused(data):
    """Or means the same: the last sign has bits that are not used."""
    walk = talk()
    link = link_text(walk)
    at = data.draw(st.integers(len(PREFIX), len(link) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_"))
    for changed in (link[:at], link[:at] + other + link[at + 1 :], link[:at] + link[at + 1 :]):
        if changed == link or (at > len(link) - 3 and is_same(changed, walk)):
            continue
        with pytest.raises(LabError, match=r"is incomplete|no link"):
            read_link(changed)


def is_same(link: str, walk: Walk) -> bool:
    """Is the link one of this walk, all the same?"""
    try:
        return along(read_link(link)) == along(walk)
    except LabError:
        return False


def test_a_link_of_another_version_says_so():
    with pytest.raises(LabError, match=r"begins with lab2\. .* update the kit"):
        read_link(link_text(talk()).replace("lab1.", "lab2."))


# --- There and back again ----------------------------------------------------------------------


@pytest.mark.parametrize("name", spec_names())
@settings(max_examples=8, deadline=None)
@given(picks=st.lists(st.integers(0, 10**6), max_size=14))
def test_every_form_that_can_be_read_gives_the_walk_back(name, picks):
    walk = wander(name, picks)
    walk.start.caption = "where it begins" if len(picks) % 2 else ""
    assert along(play(parse_scenario(scenario_text(walk)))) == along(walk)
    assert along(read_link(link_text(walk))) == along(walk)
    assert along(read_json(to_json(walk))) == along(walk)


def test_a_spec_of_a_cell_comes_back_with_its_model():
    walk = wander(request_reply.name, [5, 3, 8, 1, 2, 6])
    model = request_reply.bind()
    for text in (link_text(walk), to_json(walk)):
        assert along(read_pasted(text, model)) == along(walk)
        with pytest.raises(LabError, match=r"There is no spec 'toy\.request_reply'"):
            read_pasted(text)
    scenario = read_pasted(scenario_text(walk), model)
    assert along(play(scenario, model)) == along(walk)
    assert "spec.bind(" in to_python(walk)


def test_the_program_ends_where_the_walk_does():
    walk = talk()
    done = subprocess.run(
        [sys.executable, "-c", to_python(walk)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.strip() == str(walk.state)


def test_a_walk_is_saved_and_read(tmp_path):
    path = save_scenario(talk(), tmp_path / "mine.txt", ["My own"])
    scenario = read_scenario(path)
    assert scenario.title == "My own"
    assert along(play(scenario)) == along(talk())
    with pytest.raises(LabError, match="can't be written"):
        save_scenario(talk(), tmp_path / "no folder" / "mine.txt")


# --- Pictures --------------------------------------------------------------------------------


def part_of_the_talk() -> Walk:
    walk = talk()
    walk.go_to(4)
    return walk


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_steps_up_to_here(name):
    walk = part_of_the_talk()
    content = FORMATS[name].write(walk)
    assert isinstance(content, bytes) == (name == "gif")
    if FORMATS[name].ending.endswith(".svg"):
        ElementTree.fromstring(content)
    if name in ("film strip", "animated svg"):
        shown = ElementTree.fromstring(content).findtext("{*}desc")
        assert [caption(walk.model, each) in shown for each in walk.path] == [True] * 4 + [
            False
        ] * (len(walk.path) - 4)


def test_a_gif_has_a_frame_for_each_moment_and_some_for_what_moves():
    gif = Image.open(io.BytesIO(to_gif(part_of_the_talk())))
    assert (gif.info["loop"], gif.info["duration"]) == (0, 4000)
    frames, stood = [], 0
    for k in range(gif.n_frames):
        gif.seek(k)
        stood += gif.info["duration"]
        if gif.info["duration"] > 1000:
            frames.append(gif.convert("RGB").tobytes())
    assert stood == 4 * 4000
    assert len(frames) == len(set(frames)) == 4


def test_what_can_not_be_animated_is_told_in_one_sentence():
    with pytest.raises(LabError, match=f"up to {MOST_FRAMES} moments, but there are 101"):
        animated_svg(["<svg/>"] * 101, [""] * 101)
    with pytest.raises(LabError, match="a caption for each picture"):
        animated_gif([], [])


# --- Whatever is pasted ------------------------------------------------------------------------


def test_what_is_pasted_is_recognised():
    walk = talk()
    assert isinstance(read_pasted("\n" + scenario_text(walk)), Scenario)
    assert along(play(read_pasted("\n" + scenario_text(walk)))) == along(walk)
    assert read_pasted(f"```text\n{scenario_text(walk)}```\n") == read_pasted(scenario_text(walk))
    assert along(read_pasted(link_text(walk))) == along(walk)
    assert along(read_pasted(to_json(walk))) == along(walk)
    assert read_pasted(KIP_101).model.spec.name == "kafka.kip_101"
    assert read_pasted(KIP_101, walk.model).model.spec.name == "kafka.kip_101"


def changed_json(change) -> str:
    found = json.loads(to_json(talk()))
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "This can't be played"),
        ("Dear all, my cluster is down.", "This can't be played"),
        ("{", "The JSON breaks off"),
        ("{}", "This JSON is not a walk"),
        (changed_json(lambda found: found["states"].pop()), "This JSON is not a walk"),
        (changed_json(lambda found: found.update(steps=3)), "This JSON is not a walk"),
        (
            changed_json(lambda found: found["states"][2]["zk_state"].update(leader=2)),
            "State 3 of the JSON is not the one",
        ),
        (changed_json(lambda found: found["constants"].update(replicas=99)), "out of bounds"),
        ("# spec: kafka.kip_320 replicas=99", "your scenario, line 1: replicas=99 is out of"),
        ("# spec: kafka.kip_320 brokers=3", "your scenario, line 1: .* no constant 'brokers'"),
        ("# spec: nothing", "your scenario, line 1: There is no spec 'nothing'"),
        ("# spec: kafka.kip_320\n# x\ninit(a=1)", "your scenario, line 3: .* no such initial"),
        ("# spec: kafka.kip_320\nfly()", "your scenario, line 2: .* no action 'fly'"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(text, sentence):
    with pytest.raises(LabError, match=sentence) as raised:
        play(read_pasted(text))
    assert "\n" not in str(raised.value)


# --- What a scenario says is refused -------------------------------------------------------------


def test_the_caption_of_a_state_tells_what_is_refused_there_and_why():
    walk = play(
        parse_scenario(
            "# spec: kafka.kip_320 replicas=2\n"
            "!blocked leader_write(replica=1)                # nobody leads\n"
            "controller_elect_leader(new_leader=1)           # slide 3: elected\n"
            "!blocked leader_write(replica=1)                # slide 3: it has not heard\n"
            "!blocked controller_elect_leader(new_leader=1)\n"
        )
    )
    start, elected = (caption(walk.model, each) for each in walk.path)
    why = "the replica does not believe that it leads"
    assert start.endswith(f" ✗ leader_write(replica=1) is refused: {why} (nobody leads)")
    assert start.startswith("All logs are empty")
    assert elected == (
        f"slide 3: elected ✗ leader_write(replica=1) is refused: {why} (it has not heard)"
        " ✗ controller_elect_leader(new_leader=1) is refused:"
        " the controller has this leader already"
    )


class Thirds(Struct):
    at: Int8


def thirds() -> Spec:
    spec = Spec("toy.thirds", Thirds)

    @spec.init
    def begin(s: Thirds, c):
        return TAKEN

    @spec.action
    def divide(s: Thirds, c):
        s.at = 6 // s.at
        return TAKEN

    @spec.invariant
    def is_third(s: Thirds, c):
        return HOLDS if 6 // s.at == 3 else "it is another"

    return spec


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            "!blocked divide()",
            "divide.. is wrong: the step can't be computed: division by zero, at divide",
        ),
        (
            "!holds is_third",
            "is_third is wrong: it can't be computed: division by zero, at is_third",
        ),
        (
            "!violates is_third",
            "is_third is wrong: it can't be computed: division by zero, at is_third",
        ),
    ],
)
def test_what_cant_be_computed_is_neither_refused_nor_true(claim, sentence):
    scenario = parse_scenario(f"# spec: toy.thirds\n{claim}\n")
    with pytest.raises(LabError, match=sentence):
        play(scenario, thirds().bind())
