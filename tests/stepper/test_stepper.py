"""The board, its static drawing and the widget's answers, without a browser."""

import json
import re
import threading
import time
from functools import partial
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from protocol_lab import TAKEN
from protocol_lab.catalog import load
from protocol_lab.distance import nearest_violation
from protocol_lab.drawing.pictures import FORMATS, picture
from protocol_lab.drawing.state_table import state_table
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import choice_text
from protocol_lab.model.spec import Spec
from protocol_lab.notebook import replay, show, step, strip
from protocol_lab.stepper import Stepper, plain_stepper
from protocol_lab.stepper.board import FEW, board
from protocol_lab.stepper.panels import TABS
from protocol_lab.stepper.starting_point import Session, resumed
from protocol_lab.stepper.static_view import static_html, static_text
from protocol_lab.stepper.widget import revived
from protocol_lab.teaching.challenges import challenge_named
from protocol_lab.tla import module as tla_module
from protocol_lab.tla.module import written
from protocol_lab.traces.scenario_format import link_text, parse_scenario
from protocol_lab.traces.scenarios import scenario
from protocol_lab.traces.walk import Walk
from tests import PATIENCE
from tests.golden_table import TRACES
from tests.spec_checks import read_link
from tests.toy_specs import CounterConstants, CounterState, counter, letters

OF_NO_CHALLENGE = link_text(Walk.begin(counter.bind()), "win_it")

TALK = scenario("talk_46_56_found_scenario").file.read_text(encoding="utf-8")


@pytest.fixture
def walk():
    """Two steps into KIP-320: broker 1 is elected, and knows it."""
    begun = Walk.begin(load("kafka.kip_320").bind())
    begun.take("controller_elect_leader(new_leader=1)")
    begun.take("become_leader(request=LeaderAndIsrRequest(leader=1))")
    return begun


@pytest.fixture
def talk():
    return Stepper(parse_scenario(TALK))


def ask(stepper, command, **message):
    """What the browser does: send a command, get a new view."""
    stepper._on_message(stepper, {"command": command, **message})
    return stepper.view


def wait_until(condition, seconds=PATIENCE):
    """Wait for what the background computes; the machine may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "still being computed"
        time.sleep(0.05)


def moments(view):
    return [moment for lane in view["timeline"]["lanes"] for moment in lane["moments"]]


# --- The board ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        load("kafka.kip_320").bind(),
        load("kafka.unclean_leader_election").bind(),
        letters.bind(starts=1),
        counter.bind(),
    ],
    ids=lambda model: model.spec.name,
)
def test_every_action_appears_with_every_choice_in_every_state_of_a_walk(model):
    walk = Walk.begin(model)
    for _ in range(8):
        shown = board(walk)
        tried = walk.attempts()
        taken = [each for each in tried if each.taken]
        offered = [choice["step"] for each in shown["can"] for choice in each["choices"]]
        refused = [
            choice
            for each in shown["cannot"]
            for why in each["reasons"]
            for case in why["cases"]
            for choice in case["choices"]
        ]
        assert offered == [walk.step_of(each).text for each in taken]
        off = {each["action"] for each in shown["off"]}
        assert len(refused) == len([each for each in tried if each.action.name not in off]) - len(
            taken
        )
        assert all(why["reason"] for each in shown["cannot"] for why in each["reasons"])
        named = {each["action"] for each in shown["can"] + shown["cannot"] + shown["off"]}
        assert named == {action.name for action in model.spec.actions}
        if not taken:
            break
        walk.take(taken[-1])


def test_refusals_are_explained_while_their_list_is_open(talk):
    def explained():
        return [why["cases"] for each in talk.view["cannot"] for why in each["reasons"]]

    assert not any(explained())
    ask(talk, "unfold", key="cannot")
    assert any(explained())
    ask(talk, "redo")
    assert any(explained())
    ask(talk, "fold", key="cannot")
    assert not any(explained())


def test_a_reason_that_refuses_many_choices_is_explained_once_it_is_unfolded():
    stepper = Stepper(load("kafka.kip_320").bind())
    ask(stepper, "unfold", key="cannot")

    def folded():
        return [why for each in stepper.view["cannot"] for why in each["reasons"] if why["folded"]]

    first, second, *_ = folded()
    assert first["cases"] is second["cases"] is None
    assert first["number"] > FEW
    ask(stepper, "unfold", key=first["key"])
    first, second, *_ = folded()
    assert sum(len(each["choices"]) for each in first["cases"]) == first["number"]
    assert second["cases"] is None


def test_an_action_without_any_choice_says_what_there_is_none_of():
    shown = board(Walk.begin(letters.bind(starts=1)))
    reasons = {each["action"]: each["reasons"] for each in shown["cannot"]}
    assert [why["reason"] for why in reasons["receive"]] == ["messages: there are none"]


def test_a_step_that_does_not_fit_is_told_apart_from_one_that_is_refused():
    walk = Walk.begin(counter.bind(limit=None, step=99))
    walk.take("count()")
    (why,) = board(walk)["cannot"][0]["reasons"]
    assert why["over_capacity"]
    assert "limit" in why["reason"]
    walk = Walk.begin(counter.bind(limit=0))
    assert board(walk)["cannot"] == []
    assert board(walk)["off"][0]["switch"] == "limit = 0"


@pytest.mark.parametrize(
    ("name", "depth", "told"),
    [
        (
            "talk_46_56_found_scenario",
            15,
            "✗ Refused: Unclean election of broker 3 (latest offset). Broker 3 has the committed"
            " record, but of an older epoch",
        ),
        (  # whose guard's reason has a parenthesis of its own
            "word_of_resignation_comes_late",
            8,
            "✗ Refused: Server 3 learns that server 2 has resigned. There are only two epochs here",
        ),
    ],
)
def test_a_caption_says_a_refused_step_in_words(name, depth, told):
    walk = replay(name).walk
    walk.go_to(depth)
    assert board(walk, unfolded=[])["caption"]["text"].endswith(told)


def test_the_timeline_shows_where_slides_and_violations_are(talk):
    dots = moments(talk.view)
    assert [dot["slide"] for dot in dots][:4] == ["", "46", "47", "48"]
    assert [dot["place"] for dot in dots] == ["here"] + ["ahead"] * 15
    assert not any(dot["broken"] for dot in dots), "nothing tells how it ends"
    ask(talk, "last")
    dots = moments(ask(talk, "first"))
    assert [bool(dot["broken"]) for dot in dots] == [False] * 15 + [True]
    places = [dot["place"] for dot in moments(ask(talk, "go_to", branch="main", depth=3))]
    assert places == ["past", "past", "here"] + ["ahead"] * 13


def test_only_watched_invariants_count():
    walk = Walk.begin(load("kafka.kip_320").bind())
    by_default = {each["name"]: each["watched"] for each in board(walk)["invariants"]}
    assert by_default["weak isr"]
    assert not by_default["leader in isr"]
    assert moments(board(walk))[0]["broken"] == []
    view = Stepper(Session(walk, watched=["leader_in_isr"])).view
    assert [dot["broken"] for dot in moments(view)] == [["leader in isr"]]


# --- The state as a table ----------------------------------------------------------------------


def test_the_table_marks_the_parts_that_differ_and_says_what_they_were(walk):
    lines = {line.name: line for line in state_table(walk.model, walk.row, walk.start.row)}
    assert not lines["replica_state[2]"].differs
    changed = [(each.was, each.text) for each in lines["replica_state[1]"].value if each.mark]
    assert ("none", "1") in changed
    assert ("-1", "0") in changed
    assert [each.mark for each in lines["leader_and_isr_requests"].value if each.mark] == ["added"]
    assert "".join(each.text for each in lines["replica_log[1]"].value) == (
        "end_offset 0, records [zeros]"
    )
    back = {line.name: line for line in state_table(walk.model, walk.start.row, walk.row)}
    assert "removed" in {each.mark for each in back["leader_and_isr_requests"].value}


# --- Pictures and the static drawing -----------------------------------------------------------


def test_a_spec_without_a_drawing_is_shown_as_its_variables():
    walk = Walk.begin(letters.bind(starts=1))
    walk.take("broadcast(source=1, lost={})")
    svg = picture(walk.model, walk.row, walk.start.row)
    text = " ".join(ElementTree.fromstring(svg).itertext())
    assert "next_value" in text
    assert "0 → 1" in text
    assert "messages source dest value +1 +2 +0" in text


def test_a_drawing_that_fails_costs_the_picture_and_nothing_else():
    broken = Spec("toy.broken", CounterState, CounterConstants, "Its drawing is wrong.")
    broken.inits, broken.actions = counter.inits, counter.actions
    broken.draw = lambda model, row, previous=None, title=None: 1 / 0
    stepper = step(broken.bind())
    assert "drawing this state failed with ZeroDivisionError" in stepper.view["notice"]
    assert stepper.view["panel"]["svg"].startswith("<svg")
    assert stepper.view["can"]


class _Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.open.append(tag)
        assert "id" not in dict(attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_static_drawing_needs_no_script_and_is_the_same_every_time(walk):
    html = static_html(walk)
    tags = _Tags(html)
    assert tags.open == []
    assert not tags.seen & {"script", "style", "svg", "button"}
    assert html == static_html(walk) == show(walk).data
    assert "Broker 1 leads in epoch 0." in html
    assert "<img" in strip(walk).data
    assert board(walk)["caption"]["text"] in static_text(walk)


# --- The widget's answers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"command": "take", "step": "leader_write(replica=2)"}, "can't happen here"),
        ({"command": "take", "step": "leader_write(replica=9)"}, "no such choice"),
        ({"command": "take"}, "did not work"),
        ({"command": "fork", "name": "main"}, "is a branch 'main' already"),
        ({"command": "load", "name": "nothing"}, "no scenario 'nothing'"),
        ({"command": "export", "format": "pdf"}, "no format 'pdf'"),
        ({"command": "paste", "text": "not a scenario"}, "This can't be played"),
        ({"command": "paste", "text": OF_NO_CHALLENGE}, "no challenge 'win_it'"),
        ({"command": "open", "tab": "kitchen"}, "no tab 'kitchen'"),
        ({"command": "choose", "depth": "deep"}, "can't be chosen"),
        ({"command": "find", "condition": " "}, "Write a condition over s and c"),
        ({"command": "hint"}, "This is not a challenge"),
        ({"command": "paste", "text": "# spec: kafka.nowhere"}, "no spec 'kafka.nowhere'"),
        ({"command": "paste", "text": "# spec: kafka.kip_320\nfly()"}, "line 2: .*no action 'fly'"),
        ("nonsense", "did not work"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_the_walk_stays(walk, message, sentence):
    stepper = Stepper(walk)
    same = {"notice": "", "answers": 0, "number": 0}
    before = stepper.view | same
    stepper._on_message(stepper, message)
    assert re.search(sentence, stepper.view["notice"])
    assert stepper.view | same == before
    assert ask(stepper, "undo")["notice"] == ""


def test_a_different_step_takes_over_from_a_scenario_and_leaves_it_whole(talk):
    ask(talk, "go_to", branch="main", depth=11)
    view = ask(talk, "take", step="leader_failure(replica=1)")
    assert view["timeline"]["branch"] == "branch 2"
    assert view["timeline"]["depth"] == view["timeline"]["length"] == 12
    view = ask(talk, "switch", branch="main")
    assert view["timeline"]["depth"] == view["timeline"]["length"] == 16
    (broken,) = [each for each in view["invariants"] if not each["holds"]]
    assert (broken["name"], broken["watched"]) == ("committed messages never lost", True)
    assert broken["reason"]


PRINTED = TRACES["kip_101_weak_isr"]


@pytest.mark.slow
def test_the_steps_of_a_pasted_trace_are_found_in_the_background(walk):
    stepper = Stepper(walk)
    assert ask(stepper, "paste", text=PRINTED)["reading"]
    assert ask(stepper, "undo")["timeline"]["depth"] == 2  # it answers meanwhile
    settled(stepper, "reading")
    wait_until(lambda: not stepper.view["reading"])
    assert stepper.view["timeline"]["length"] == 12
    assert stepper.view["earlier"] == "Kafka · KIP-320, 3 states"


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_holds_the_steps_so_far(talk, name, monkeypatch):
    monkeypatch.setattr(plain_stepper, "SITE", "https://here")
    ask(talk, "go_to", branch="main", depth=3)
    ask(talk, "export", format=name)
    wait_until(lambda: not talk.view["export"].get("working"))
    export = talk.view["export"]
    assert export["file"] == f"unclean_leader_election{FORMATS[name].ending}"
    if name == "link":
        assert export["text"].startswith("https://here/#lab1.")
        assert read_link(export["text"]).row == talk.walk.row
    elif "text" in export:
        assert "become_out_of_sync(replica=2)" in export["text"]
        assert "swap_preferred_leader" not in export["text"]
    else:
        assert export["image"].startswith("data:image/")
    assert ask(talk, "undo")["export"] is None


@pytest.mark.parametrize("name", ["truncate_a_committed_record", "nobody_fails"])
def test_a_challenges_link_goes_on_with_the_challenge(name):
    """The second one takes an action away from its spec."""
    challenge = challenge_named(name)
    begun = Stepper(challenge)
    ask(begun, "take", step=begun.view["can"][0]["choices"][0]["step"])
    link = ask(begun, "export", format="link")["export"]["text"]
    shown = ask(step("bookkeeper.protocol"), "paste", text=link)
    assert shown["challenge"]["name"] == name
    assert shown["challenge"]["steps"] == begun.view["challenge"]["steps"] == 1
    for part in ("can", "cannot", "invariants", "timeline"):
        assert shown[part] == begun.view[part], part


def test_an_exported_scenario_plays_again(talk):
    ask(talk, "last")
    text = ask(talk, "export", format="scenario")["export"]["text"]
    assert (
        moments(ask(talk, "paste", text=text))[1:]
        == moments(Stepper(parse_scenario(TALK)).view)[1:]
    )


def test_several_initial_states_can_be_chosen_among():
    stepper = step(letters.bind(starts=2))
    assert stepper.view["starts"] == ["init(first=0)", "init(first=1)"]
    ask(stepper, "restart", start="init(first=1)")
    assert stepper.walk.state.next_value == 1
    assert step("kafka.kip_320").view["starts"] == []


# --- The tabs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_something_to_show_at_the_start_and_later(talk, tab):
    for command in ("first", "last", "undo"):
        view = ask(talk, command)
        view = ask(talk, "open", tab=tab)
        assert (view["tab"], view["notice"]) == (tab, "")
        assert len(json.dumps(view)) < 200_000


def test_the_code_shows_the_path_of_the_step_and_of_one_that_is_refused(talk):
    ask(talk, "redo")
    code = ask(talk, "open", tab="code")["panel"]
    assert code["title"] == "produce_message(replica=1, producer=1)"
    returned = [each["text"].strip() for each in code["lines"] if each["state"] == "returned"]
    assert returned == ["return TAKEN"]
    refused = ask(talk, "look", step="produce_message(replica=1, producer=1)")["panel"]
    assert refused["refused"]
    assert refused["values"] == "producer = 1, inflight_producers = {1}"
    assert ask(talk, "undo")["panel"]["title"] == "No step was taken yet."


def test_the_code_is_shown_in_tla_only_when_asked_for(talk, monkeypatch):
    translated = []
    monkeypatch.setattr(
        tla_module, "written", lambda model: translated.append(model) or written(model)
    )
    ask(talk, "redo")
    assert ask(talk, "open", tab="code")["panel"]["tla"] is None
    assert not translated
    shown = ask(talk, "choose", tla=True)["panel"]["tla"]
    assert "\nproduce_message(replica, producer) ==\n" in shown["text"]
    assert "producer \\notin inflight_producers" in shown["text"]
    ask(talk, "redo")
    shown = ask(talk, "look", step="leader_failure(replica=2)")["panel"]
    assert "\nleader_failure(replica) ==\n" in shown["tla"]["text"]
    assert len(translated) == 1
    shown = ask(talk, "choose", tla=False)["panel"]
    assert (shown["title"], shown["tla"]) == ("leader_failure(replica=2)", None)


def test_a_spec_without_tla_says_why():
    def leaves_bits(s: CounterState, c: CounterConstants):
        """Changes the count bit by bit."""
        s.n = s.n ^ 5
        return TAKEN

    spec = Spec("bits", CounterState, CounterConstants)
    spec.init(lambda s, c: TAKEN)
    spec.action(leaves_bits)
    stepper = Stepper(spec.bind())
    ask(stepper, "take", step="leaves_bits()")
    ask(stepper, "open", tab="code")
    shown = ask(stepper, "choose", tla=True)["panel"]["tla"]
    assert shown["text"] == ""
    assert re.fullmatch(r"leaves_bits: s\.n \^ 5 \(.*\): bits .*\.", shown["reason"])


# --- What is computed in the background --------------------------------------------------------


def settled(stepper, trait):
    """The trait's value once the background has answered."""
    wait_until(lambda: getattr(stepper, trait) and not getattr(stepper, trait)["working"])
    return getattr(stepper, trait)


@pytest.mark.slow
def test_nothing_is_computed_before_the_widget_is_in_a_browser(talk):
    ask(talk, "spoilers", shown=True)
    ask(talk, "redo")
    assert talk.near == talk.graph == {}
    ask(talk, "shown")
    assert settled(talk, "near")["number"] == talk.view["number"]


@pytest.mark.slow
def test_a_first_answer_is_replaced_by_that_of_all_states(walk, monkeypatch):
    hasty = partial(nearest_violation.Nearness, seconds=0.0)
    monkeypatch.setattr(nearest_violation, "Nearness", hasty)
    stepper, told = Stepper(walk), []
    stepper.observe(lambda change: told.append(change["new"]), "near")
    ask(stepper, "spoilers", shown=True)
    ask(stepper, "shown")
    wait_until(lambda: stepper.near.get("how", "").startswith("All "))
    texts = [each["here"] for each in told if "here" in each]
    assert texts[0] == "" or texts[0].startswith("more than ")
    assert "more than 0 steps" not in texts  # which would say nothing
    assert texts[-1] == "none can be reached"  # KIP-320 holds
    assert {each["short"] for each in stepper.near["after"].values()} == {""}


@pytest.mark.slow
def test_the_picture_is_arranged_for_its_room(talk):
    wide = ask(talk, "room", width=1200, height=400)["panel"]
    assert wide["svg"] != ask(talk, "room", width=500, height=500)["panel"]["svg"]
    narrow = talk.view["panel"]
    assert narrow["width"] / narrow["height"] < wide["width"] / wide["height"]
    assert "data-part" in narrow["svg"]
    sizes = {(ask(talk, "redo")["panel"]["width"], talk.view["panel"]["height"]) for _ in range(6)}
    assert sizes == {(narrow["width"], narrow["height"])}, "the scale changes on the way"


def test_a_state_is_found_and_the_way_to_it_laid_ahead(walk):
    stepper = Stepper(walk)
    ask(stepper, "find", condition="size(s.quorum_state.isr) == 1")
    assert settled(stepper, "find")["text"].startswith("2 steps to the nearest such state")
    timeline = stepper.view["timeline"]
    assert (timeline["depth"], timeline["length"]) == (3, 5)
    assert timeline["branch"] == "to: size(s.quorum_state.isr) == 1"
    ask(stepper, "last")
    assert len(stepper.walk.path) == 5


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("s.nonsense == 1", "nonsense"),
        ("1 +", "is not a Python expression"),
        ("s.next_record_id > 99", "No such state can be reached"),
    ],
)
def test_a_search_that_finds_nothing_says_why(condition, sentence):
    stepper = step("kafka.kip_320", replicas=2)
    ask(stepper, "find", condition=condition)
    assert sentence in settled(stepper, "find")["text"]
    assert len(stepper.walk.branches) == 1


# --- Laying a way ahead ------------------------------------------------------------------------


def test_a_way_is_laid_ahead_of_here_and_shares_what_is_known(walk):
    begun = walk.moment
    walk.lay("two writes", ["leader_write(replica=1)", "leader_write(replica=1)"])
    assert walk.moment is begun
    assert (walk.branch, len(walk.path)) == ("two writes", 5)
    walk.lay("one write", ["leader_write(replica=1)"])
    assert walk.path[3] is walk.branches["two writes"].previous
    with pytest.raises(LabError, match="is a branch 'one write' already"):
        walk.lay("one write", [])
    with pytest.raises(LabError, match="can't happen there"):
        walk.lay("wrong", ["leader_write(replica=2)"])
    assert list(walk.branches) == ["main", "two writes", "one write"]
    assert walk.new_name("one write") == "one write 2"


# --- Words -------------------------------------------------------------------------------------


def test_choices_in_plain_words(walk):
    labels = {
        choice["step"]: choice["label"]
        for model in (walk, Walk.begin(letters.bind(servers=3, starts=1)))
        for each in board(model)["can"]
        for choice in each["choices"]
    }
    assert labels["leader_write(replica=1)"] == "broker 1"
    assert labels["broadcast(source=1, lost={2, 3})"] == "source 1, lost: {2, 3}"
    assert labels["broadcast(source=1, lost={})"] == "source 1, lost: none"
    follower = "follower=2, request=LeaderAndIsrRequest(leader=1)"
    assert (
        labels[f"fenced_become_follower_and_truncate({follower})"]
        == "follower 2, request with leader 1"
    )
    model = load("kafka.unclean_leader_election").bind()
    action = model.action("replicate")
    row = Walk.begin(model).row
    assert choice_text(model, row, action, {"replica": 3, "entries": 1}) == "broker 3, 1 entry"
    assert choice_text(model, row, action, {"replica": 3, "entries": 2}) == "broker 3, 2 entries"


def test_a_command_waits_until_a_view_is_whole(talk, monkeypatch):
    """JupyterLab's messages come on a thread of their own, and meet the refresh after a cell."""
    drawn, draw = [], TABS["cluster"]

    def drawn_while_a_tab_is_opened(walk, options):
        if not drawn:
            drawn.append(threading.Thread(target=ask, args=(talk, "open"), kwargs={"tab": "code"}))
            drawn[0].start()
            drawn[0].join(0.3)
        return draw(walk, options)

    monkeypatch.setitem(TABS, "cluster", drawn_while_a_tab_is_opened)
    seen = []
    talk.observe(lambda change: seen.append(change["new"]), "view")
    talk.refresh()
    drawn[0].join()
    assert [each["tab"] for each in seen] == ["cluster", "code"]
    assert ["svg" in each["panel"] for each in seen] == [True, False]


# --- What a page has kept of a walk --------------------------------------------------------------


def kept(stepper):
    """What the page keeps: as `savedWalk` in `js/kernel.js` has it, and as JSON brings it back."""
    view = stepper.view
    challenge = view["challenge"] or {}
    saved = {**view["origin"], "timeline": view["timeline"], "hints": challenge.get("hints")}
    return json.loads(json.dumps(saved))


@pytest.fixture
def forked():
    """A stepper on the talk's loss with a branch of its own, in the middle of it."""
    stepper = Stepper(parse_scenario(TALK))
    walk = stepper.walk
    walk.go_to(11)
    walk.fork("my idea")
    walk.take("leader_failure(replica=1)")
    walk.switch("main")
    walk.go_to(12)
    stepper.refresh()
    return stepper


def test_branches_captions_and_place_are_found_again(forked):
    walk = resumed(kept(forked)).walk
    assert walk.moment.depth == 12
    assert walk.branch == "main"
    assert [each.caption for each in walk.path] == [each.caption for each in forked.walk.path]
    for name, end in forked.walk.branches.items():
        assert [each.row for each in walk.branches[name].path()] == [
            each.row for each in end.path()
        ]


def test_a_new_kernel_begins_a_stepper_that_a_page_finds_by_its_id(forked):
    model_id = revived(json.dumps(kept(forked)))
    assert isinstance(model_id, str)
    assert model_id


def test_a_cell_that_is_run_again_goes_on_where_it_was(forked):
    again = Stepper(parse_scenario(TALK))
    again._on_message(None, {"command": "resume", "saved": kept(forked)})
    assert not again.view["notice"]
    assert again.view["timeline"] == forked.view["timeline"]
    assert again.view["scenario"] == forked.view["scenario"]


def test_a_challenge_keeps_its_hints_and_its_score():
    stepper = Stepper(challenge_named("two_leaders_write"))
    stepper.session.hints.append("Look at the epochs.")
    stepper.refresh()
    again = Stepper(resumed(kept(stepper)))
    assert again.view["challenge"] == stepper.view["challenge"]


def test_a_protocol_of_the_notebook_needs_its_cells():
    stepper = Stepper(counter.bind())
    stepper.walk.take(stepper.walk.attempts()[0])
    stepper.refresh()
    saved = kept(stepper)
    with pytest.raises(LabError, match="run the cells above and this one again"):
        resumed(saved)
    assert resumed(saved, like=counter.bind()).walk.row == stepper.walk.row


def test_a_step_that_is_impossible_now_is_one_sentence(forked):
    saved = kept(forked)
    saved["timeline"]["lanes"][0]["moments"][3]["step"] = "become_follower(replica=1)"
    with pytest.raises(LabError, match="has changed since"):
        resumed(saved)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["spec", "timeline", "constants", "watched", "scenario"])
def test_nonsense_is_one_sentence(forked, part):
    saved = kept(forked) | {part: 7}
    with pytest.raises(LabError):
        resumed(saved)
