"""The frames of a path are what the kit's stepper shows in its states."""

import json
import re
import zlib
from base64 import b64decode

from protocol_lab.catalog import load
from protocol_lab.notebook import scenario
from protocol_lab.site.frames import ROOMS, as_script, frames_of
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import begin
from protocol_lab.traces.links import read_link

SHOWN = ("title", "constants", "invariants", "caption", "can", "cannot", "timeline", "scenario")


def test_each_frame_shows_what_the_stepper_shows_in_its_state():
    told = scenario("talk_46_56_found_scenario")
    frames = frames_of(begin(told))
    stepper = PlainStepper(told)
    assert len(frames) == stepper.view["timeline"]["length"] > 5
    for frame in frames:
        kit = json.loads(json.dumps(stepper.view))
        assert {part: frame[part] for part in SHOWN} == {part: kit[part] for part in SHOWN}
        assert [*frame["panel"]] == [*ROOMS]
        stepper.answer({"command": "redo"})
    assert len(read_link(frames[-1]["link"]).path) == len(frames)
    widths = {name: frames[-1]["panel"][name]["width"] for name in ROOMS}
    assert all(widths[name] <= width for name, (width, _) in ROOMS.items())
    assert widths["narrow"] < widths["small"] < widths["wide"]


def test_a_session_stands_where_it_did():
    session = begin(scenario("talk_46_56_found_scenario"))
    session.walk.go_to(3)
    frames_of(session)
    assert session.walk.moment.depth == 3


def test_a_script_has_the_values_of_one_part_side_by_side():
    frames = frames_of(begin(load("kafka.finite_replicated_log").bind()))
    name, script = as_script(frames)
    told, packed = re.fullmatch(r'labReceive\("(\w+)", "([^"]+)"\);\n', script).groups()
    columns = json.loads(zlib.decompress(b64decode(packed), wbits=-zlib.MAX_WBITS))
    assert told == name
    assert {part: values[0] for part, values in columns.items()} == frames[0]
