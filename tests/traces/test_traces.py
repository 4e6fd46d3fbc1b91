"""What comes in and goes out: TLC's traces, links, scenarios, JSON and programs."""

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol_lab import HOLDS, TAKEN, Int8, Spec, Struct
from protocol_lab.catalog import load, spec_names
from protocol_lab.drawing.pictures import FORMATS, caption
from protocol_lab.errors import LabError
from protocol_lab.interchange.readers import read_file, read_pasted
from protocol_lab.model.step_text import initial_texts
from protocol_lab.notebook import scenario
from protocol_lab.traces.events import LONGEST, narrated
from protocol_lab.traces.scenario_format import (
    PREFIX,
    Scenario,
    link_text,
    linked_scenario,
    parse_scenario,
    scenario_text,
)
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from protocol_lab.traces.text_exports import to_itf
from protocol_lab.traces.walk import Walk
from tests.golden_table import TRACES
from tests.request_reply import spec as request_reply
from tests.spec_checks import read_link

KIP_101 = TRACES["kip_101_weak_isr"]


def along(walk: Walk) -> list[tuple[bytes, str]]:
    """What has to survive: the states and the captions so far."""
    return [(moment.row, moment.caption) for moment in walk.moment.path()]


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
    return play(scenario("talk_46_56_found_scenario"))


# --- Links -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_links_are_short():
    """The longest of the shipped scenarios with all its captions, and without them."""
    walks = [play(read_scenario(path)) for path in scenarios_of("kafka")]
    assert max(len(link_text(walk)) for walk in walks) == 1289
    for walk in walks:
        for moment in walk.path:
            moment.caption = ""
    assert max(len(link_text(walk)) for walk in walks) == 632


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


@pytest.mark.slow
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


def test_a_link_names_the_challenge_that_it_is_about():
    walk = talk()
    assert linked_scenario(link_text(walk)).challenge == ""
    link = link_text(walk, "lose_it")
    assert linked_scenario(f"https://example.org/#{link}~3").challenge == "lose_it"
    assert along(read_link(link)) == along(walk)
    pasted = read_pasted(link)
    assert isinstance(pasted, Scenario)
    assert pasted.challenge == "lose_it"


def test_a_file_may_have_a_challenges_link_or_lines_around_a_scenario(tmp_path):
    file = tmp_path / "kept.txt"
    file.write_text(link_text(talk(), "lose_it"), encoding="utf-8")
    assert read_file(file).challenge == "lose_it"
    file.write_text("\n```\n# spec: kafka.id_sequence\nnext()\n```\n", encoding="utf-8")
    assert [each.number for each in read_file(file).lines] == [4]


# --- There and back again ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
@settings(max_examples=8, deadline=None)
@given(picks=st.lists(st.integers(0, 10**6), max_size=14))
def test_every_form_that_can_be_read_gives_the_walk_back(name, picks):
    walk = wander(name, picks)
    walk.start.caption = "where it begins" if len(picks) % 2 else ""
    assert along(play(parse_scenario(scenario_text(walk)))) == along(walk)
    assert along(read_link(link_text(walk))) == along(walk)
    assert along(read_pasted(to_itf(walk))) == along(walk)


def test_a_spec_of_a_cell_comes_back_with_its_model():
    walk = wander(request_reply.name, [5, 3, 8, 1, 2, 6])
    model = request_reply.bind()
    for text in (link_text(walk), to_itf(walk)):
        assert along(read_pasted(text, model)) == along(walk)
        with pytest.raises(LabError, match=r"There is no spec 'toy\.request_reply'"):
            read_pasted(text)
    scenario = read_pasted(scenario_text(walk), model)
    assert along(play(scenario, model)) == along(walk)


def test_a_walk_is_saved_and_read(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(scenario_text(talk(), ["My own"]), encoding="utf-8")
    scenario = read_scenario(path)
    assert scenario.title == "My own"
    assert along(play(scenario)) == along(talk())


# --- Pictures --------------------------------------------------------------------------------


def part_of_the_talk() -> Walk:
    walk = talk()
    walk.go_to(4)
    return walk


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_steps_up_to_here(name):
    walk = part_of_the_talk()
    content = FORMATS[name].write(walk)
    if FORMATS[name].ending.endswith(".svg"):
        ElementTree.fromstring(content)
    if name == "film strip":
        shown = ElementTree.fromstring(content).findtext("{*}desc")
        assert [caption(walk.model, each) in shown for each in walk.path] == [True] * 4 + [
            False
        ] * (len(walk.path) - 4)


# --- Whatever is pasted ------------------------------------------------------------------------


def test_what_is_pasted_is_recognised():
    walk = talk()
    assert isinstance(read_pasted("\n" + scenario_text(walk)), Scenario)
    assert along(play(read_pasted("\n" + scenario_text(walk)))) == along(walk)
    assert along(play(read_pasted(f"```text\n{scenario_text(walk)}```\n"))) == along(walk)
    assert along(read_pasted(link_text(walk))) == along(walk)
    assert along(read_pasted(to_itf(walk))) == along(walk)
    assert read_pasted(KIP_101).model.spec.name == "kafka.kip_101"
    assert read_pasted(KIP_101, walk.model).model.spec.name == "kafka.kip_101"


def changed_json(change) -> str:
    found = json.loads(to_itf(talk()))
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "This can't be played"),
        ("Dear all, my cluster is down.", "This can't be played"),
        ("{", "The JSON breaks off"),
        ("{}", "This can't be played"),
        (changed_json(lambda found: found["#meta"].update(link="lab1.x")), "link is incomplete"),
        *(
            (changed_json(change), "not those to which its link leads")
            for change in (
                lambda found: found.update(states=3),
                lambda found: found["states"][2]["zk_state"].update(leader={"#bigint": "2"}),
                lambda found: found["#meta"]["constants"].update(replicas=99),
            )
        ),
        ("# spec: kafka.kip_320 replicas=99", "your scenario, line 1: replicas=99 is out of"),
        ("# spec: kafka.kip_320\n# x\ninit(a=1)", "your scenario, line 3: .* no such initial"),
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
    assert start.endswith(" ✗ Refused: Broker 1 writes a record. Nobody leads")
    assert start.startswith("All logs are empty")
    assert elected == (
        "slide 3: elected ✗ Refused: Broker 1 writes a record. It has not heard"
        " ✗ Refused: The controller makes broker 1 leader."
        " The controller has this leader already"
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


def test_a_walk_that_goes_on_leaves_the_one_it_came_from_as_it_was():
    first = Walk.begin(load("kafka.finite_replicated_log").bind())
    first.take("append(replica=1, record=1)", "a caption")
    kept = first.after()
    second = first.after("append(replica=2, record=2)")
    first.take("append(replica=1, record=2)")
    assert [each.text for each in second.steps] == [
        *("append(replica=1, record=1)", "append(replica=2, record=2)")
    ]
    assert [kept.moment.depth, kept.moment.caption, len(kept.path)] == [2, "a caption", 2]
    assert (list(second.branches), first.moment.depth) == (["main"], 3)


# --- Steps told in sentences ---------------------------------------------------------------------


def last_told(name: str, *steps: str, **constants) -> str:
    walk = Walk.begin(load(name).bind(**constants))
    for each in steps:
        walk.take(each)
    return narrated(walk.model, walk.moment)


WRITTEN = ("append(replica=1, record=2)",)
COPIED = (*WRITTEN, "replicate_to(source=1, target=2)")
CUT = (*COPIED, "truncate_to(replica=1, end_offset=0)")


def test_what_is_lost_is_said_where_nothing_was_promised():
    name = "kafka.finite_replicated_log"
    assert last_told(name) == ""
    assert last_told(name, *WRITTEN) == "Broker 1 writes B."
    assert last_told(name, *COPIED) == "Broker 2 gets “B” from broker 1."
    assert last_told(name, *CUT) == "Broker 1 cuts off 1 record."
    lost = last_told(name, *CUT, "truncate_to(replica=2, end_offset=0)")
    assert lost == "Broker 2 cuts off 1 record. Nobody holds B any more."


@pytest.mark.parametrize(
    ("name", "steps", "told"),
    [
        (
            "kafka.kip_320",
            ["controller_elect_leader(new_leader=1)"],
            "Controller sends “epoch 0: leader 1, ISR {1, 2, 3}” to everybody.",
        ),
        (
            "bookkeeper.v4_13",
            ["w1_creates_ledger(ensemble={1, 2, 3})", "w1_sends_add_entry_requests(lost={1, 2})"],
            "w1 sends “add e0” to b3. “add e0” from w1 to b1 and b2 is lost.",
        ),
        ("kraft.kip_853", ["client_request(server=1, value=1)"], "Server 1 appends A e1."),
        (
            "pulsar.compaction",
            ["producer(input_key=1, input_value=1)"],
            "Topic gets “A: k1 v1” from producer.",
        ),
    ],
)
def test_every_protocol_tells_who_did_what_to_whom(name, steps, told):
    assert last_told(name, *steps) == told


def test_what_a_server_without_a_disk_does_is_told_once():
    gone = ["crash_lose_state(server=3)", "send_fetch_request(server=2, peer=1)"]
    assert "disk" in last_told("kraft.kip_996", *gone[:1])
    assert "disk" not in last_told("kraft.kip_996", *gone)


def test_beside_a_scenarios_own_caption_the_step_is_told_as_far_as_there_is_room():
    walk = play(scenario("kip_101_weak_isr"))
    walk.go_to(9)
    assert walk.moment.caption.startswith("Broker 3 copies the record")
    assert narrated(walk.model, walk.moment).startswith("Broker 3 gets")
    for moment in walk.path[1:]:
        told = narrated(walk.model, moment)
        assert not told or len(told) + len(moment.caption) <= LONGEST


@pytest.mark.parametrize("name", ["defect_2_diagram", "talk_46_56_found_scenario"])
def test_no_sentence_is_longer_than_a_caption_has_room_for(name):
    captioned = play(scenario(name))
    walk = Walk.begin(captioned.model)
    for each in captioned.steps:
        walk.take(each.text)
        assert len(narrated(walk.model, walk.moment)) <= LONGEST
