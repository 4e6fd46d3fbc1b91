"""The command line: its commands, options and exit codes are a contract for scripts.

    specs [SPEC ...] [--json]               every spec with constants, actions and invariants
    check SPEC [--set NAME=VALUE] ...       explore, and say holds, violated or undecided
    check SPEC --config NAME                the same with a configuration that `specs` lists
    check SPEC --coverage                   name the actions that were never taken, and why not
    check SPEC --property NAME              check a temporal property, or a refinement
    check SPEC --states                     print the states of the trace, and what changes
    check SPEC --graph FILE                 draw the state graph
    replay FILE [--draw OUT.svg]            take a scenario's steps and check its claims, or walk
                                            along a trace of TLC, Apalache or Quint
    replay FILE --save OUT                  write the trace in another format
    real [STORY] [--release R]              a lesson's story, acted out by real brokers or bookies
    logs FOLDER [--topic NAME]              what a cluster's own logs say happened, and which lesson
    simulate SPEC [--walks N] [--seed N]    seeded random walks, and what they have seen
    tla SPEC [FOLDER]                       write the spec as TLA+, for the model checker TLC
    new NAME [FOLDER]                       start a protocol of your own, with a notebook and a test
    lab [NAME] [FOLDER]                     start a lab: write a protocol that is then graded
    grade FOLDER ... [--csv FILE] ...       grade labs: points, reasons, counterexamples
    reset NOTEBOOK                          restore the original of a notebook, and keep your copy
    reset progress                          start a new record of what you have done
    prepare                                 compile and check everything in advance
    site [FOLDER]                           write the notebooks as pages without an installation
    room [FOLDER]                           serve these pages to a room of learners
    slides LESSON FILE                      write a lesson as one HTML file, to present or to print
    bundle FOLDER [--platform NAME] ...     write the pages and the kit, for offline use

SPEC is a name that `specs` lists, the path of a file (my/two_phase.py), or a module's name. The
current folder is searched for these, too, after what is installed; `grade`, `logs` and the other
commands that run no spec run no file from it.
Exit codes: 0 holds (or done), 1 violated, 2 undecided or interrupted (also where a step has no
value, as after a division by zero), 3 bad input (also a scenario with a step or a claim that is
wrong), 4 a failure that says nothing about the spec: a function of it failed, the kit has a defect,
or the output could not be written. With --json standard output is one JSON object; messages go to
standard error.
"""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from protocol_lab.catalog import broken_modules, load, spec_names
from protocol_lab.checker.options import ALONE, ENGINES, NATIVE, SIMULATION, Option, options_of
from protocol_lab.checker.request import SearchRequest
from protocol_lab.checker.result import Result, Verdict
from protocol_lab.errors import KitDefect, LabError, SpecError, shortened, writing
from protocol_lab.explain.coverage import Coverage
from protocol_lab.explain.wording import first_line
from protocol_lab.model.constants import as_text, bind, limits_of, show, show_text
from protocol_lab.model.spec import Model, Spec
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import as_json, values_of_parameters
from protocol_lab.model.temporal_formulas import fairness_texts
from protocol_lab.quantities import amount, whole_number
from protocol_lab.simulation.simulation_request import SimulationRequest
from protocol_lab.system.process import FAILED, INTERRUPTED, crash, end_with, interrupts_raised

EXIT_CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNDECIDED: 2}
BAD_INPUT = 3
NO_TRANSLATION = 2

SEARCH_OPTIONS = [each for each in options_of(SearchRequest).values() if each.word]
"""The options of a search that the command line has."""

SIMULATION_OPTIONS = [
    each
    for each in options_of(SimulationRequest).values()
    if each.word and SIMULATION in each.supported_by
]
"""Those of a simulation."""

_SAVING = (
    "write the trace into this file; .json (ITF), .mmd, .svg, ... say the format, and else it is a"
    " scenario"
)

_REAL_SYSTEMS = "real_systems.command_line"
"""A module that adds commands. This package is below it, and imports it only to run them."""

_MESSAGE = 400
"""The longest message of argparse that is shown, since it repeats the words that it was given."""


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    try:
        return _run(_parser().parse_args(words), words)
    except LabError as error:
        end_with(str(error), words)
        return FAILED if isinstance(error, SpecError | KitDefect) else BAD_INPUT
    except KeyboardInterrupt:
        end_with("interrupted", words)
        return EXIT_CODES[Verdict.UNDECIDED]


def _run(options: argparse.Namespace, words: list[str]) -> int:
    """Run the command; an unexpected error becomes one sentence, never a verdict."""
    try:
        if options.command in _RUN_SPECS and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # searched after what is installed
        code = options.command(options)
        sys.stdout.flush()
        return code
    except LabError:
        raise
    except BrokenPipeError:  # the reader has closed the pipe, as `| head` does
        return FAILED
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.filename is None:
            end_with(f"Standard output can't be written ({error.strerror}).", words)
            return FAILED
        return crash(error, words)


@contextmanager
def _running(options: argparse.Namespace) -> Iterator[None]:
    """A context for running a spec's own code: an interrupt is raised for the search to handle, and
    with --json what the code prints goes to standard error."""
    apart = redirect_stdout(sys.stderr) if options.json else nullcontext()
    with interrupts_raised(), apart:
        yield


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments as one sentence, like all other bad input."""

    def error(self, message: str) -> None:
        raise LabError(f"{shortened(message, _MESSAGE)}; see `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="protocol_lab",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    specs = commands.add_parser("specs", help="list every spec")
    specs.add_argument("spec", nargs="*", help="only these specs")
    specs.add_argument("--json", action="store_true")
    specs.set_defaults(command=_specs)

    check = commands.add_parser("check", help="explore every state")
    _add_model_options(check)
    check.add_argument("--engine", default=NATIVE, help=", ".join(ENGINES))
    for each in SEARCH_OPTIONS:
        _add_search_option(check, each)
    check.add_argument(
        "--coverage",
        action="store_true",
        help="list the actions that were never taken, and why not",
    )
    check.add_argument(
        "--property", metavar="NAME", help="check a temporal property or a refinement instead"
    )
    check.add_argument(
        "--fairness",
        default=None,
        metavar="KIND",
        help="with --property: declared (the spec's own; the default), none, or next (of any step)",
    )
    _add_states_option(check)
    check.add_argument("--graph", metavar="FILE", help="draw all states and steps, as SVG")
    check.set_defaults(command=_check)

    simulate = commands.add_parser("simulate", help="seeded random walks")
    _add_model_options(simulate)
    for each in SIMULATION_OPTIONS:
        _add_search_option(simulate, each)
    _add_states_option(simulate)
    simulate.set_defaults(command=_simulate)

    replay = commands.add_parser(
        "replay",
        help="take a scenario's steps and check its claims, or walk along another tool's trace",
        description="Take a scenario's steps and check its claims. The exit code is 0 if all are"
        " right, and 3 if a step can't be taken or a claim is wrong. The file may also be a link,"
        " TLC's output, or a trace in ITF, as this kit, Apalache and Quint write it.",
    )
    replay.add_argument("file")
    replay.add_argument("--spec", metavar="NAME", help="the spec, where the trace does not say it")
    replay.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="with --spec: the constants that the other tool had",
    )
    replay.add_argument("--save", metavar="OUT", help=_SAVING)
    replay.add_argument("--draw", metavar="OUT.svg", help="draw every state into this file")
    _add_states_option(replay)
    replay.set_defaults(command=_replay)

    tla = commands.add_parser(
        "tla",
        help="write a spec as TLA+",
        description="Write a spec as a TLA+ module with a configuration file, for the model checker"
        " TLC. Exit codes: 0 written, 2 the spec has no translation, 3 bad input.",
    )
    tla.add_argument("spec")
    tla.add_argument("folder", nargs="?", default=".", help="where to write it; default: here")
    tla.add_argument("--config", metavar="NAME", help="a configuration that `specs` lists")
    tla.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    tla.set_defaults(command=_tla, trace=None)

    new = commands.add_parser("new", help="start a protocol of your own")
    new.add_argument("name", help="of the module, such as two_phase_commit")
    new.add_argument("folder", nargs="?", help="where to write it; default: a folder of that name")
    new.set_defaults(command=_new)

    lab = commands.add_parser(
        "lab",
        help="start a lab, in which you write a protocol",
        description="Copy the skeleton of a lab and its README. Without a name the labs are"
        " listed, with the points of their parts, our lines, and the minutes that we estimate.",
    )
    lab.add_argument("name", nargs="?", help="a lab that `lab` lists")
    lab.add_argument("folder", nargs="?", help="where to write it; default: a folder of that name")
    lab.set_defaults(command=_lab)

    grade = commands.add_parser(
        "grade",
        help="grade the labs in a folder of submissions",
        description="Grade every file in these folders, or below, that is named as a lab is. Each"
        " is graded in a process of its own. Exit codes: 0 all points, 1 some are missing, 2"
        " interrupted, 3 bad input.",
    )
    grade.add_argument("folder", nargs="+", help="a submission, or a folder of submissions")
    grade.add_argument("--csv", metavar="FILE", help="write a row for each part as CSV")
    grade.add_argument("--junit", metavar="FILE", help="write the grades as JUnit XML")
    grade.add_argument(
        "--pictures", metavar="FOLDER", help="draw each counterexample, and write it as a scenario"
    )
    grade.add_argument(
        "--seconds", type=float, default=300, help="for each submission; default: 300"
    )
    grade.add_argument(
        "--memory", type=float, default=4, metavar="GIB", help="for each; default: 4"
    )
    grade.add_argument("--labs", metavar="FOLDER", help="labs of your own in place of the kit's")
    grade.add_argument("--json", action="store_true")
    grade.set_defaults(command=_grade)

    reset = commands.add_parser("reset", help="restore the original of a notebook")
    reset.add_argument(
        "notebook", nargs="*", help="such as 00_start_here; `progress`: start a new record"
    )
    reset.set_defaults(command=_reset)

    prepare = commands.add_parser("prepare", help="compile and check everything in advance")
    prepare.set_defaults(command=_prepare)

    site = commands.add_parser("site", help="write the notebooks as web pages")
    site.add_argument("folder", nargs="?", default="site", help="where to write it; default: site")
    site.set_defaults(command=_site)

    room = commands.add_parser("room", help="serve the pages to a room of learners")
    room.add_argument("folder", nargs="?", default="site", help="what `site` wrote; default: site")
    room.add_argument("--port", default="8765", help="default: 8765")
    room.add_argument("--address", metavar="NAME", help="by which learners reach this machine")
    room.add_argument("--file", help="where the room is kept; default: a file for this day")
    room.add_argument("--no-browser", action="store_true", help="open no browser for the leader")
    room.set_defaults(command=_room)

    slides = commands.add_parser("slides", help="write a lesson as one HTML file, to present")
    slides.add_argument("lesson", help="a lesson's name, PACKAGE/NAME")
    slides.add_argument("file", help="the HTML file to write")
    slides.set_defaults(command=_slides)

    bundle = commands.add_parser("bundle", help="write everything that is needed without a network")
    bundle.add_argument("folder", help="where to write it")
    bundle.add_argument(
        "--platform",
        action="append",
        default=[],
        help="linux, linux-arm, mac or windows; may be repeated",
    )
    bundle.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="3.N",
        help="a version of Python; may be repeated",
    )
    bundle.add_argument("--without-spark", action="store_true", help="leave out Spark and Java")
    bundle.set_defaults(command=_bundle)
    importlib.import_module(_REAL_SYSTEMS).add_commands(commands)
    return parser


def _add_search_option(parser: argparse.ArgumentParser, option: Option) -> None:
    """An argument for an option of a search, from its declaration."""
    more: dict[str, Any] = {"action": "store_true"}
    if option.kind is not bool:
        more = {"type": option.kind if option.kind in (int, float) else str}
        more["metavar"] = option.metavar
        more["default"] = option.unset
    parser.add_argument(option.word, dest=option.name, help=option.help, **more)


def _add_states_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--states", action="store_true", help="print the trace's states, and what each step changes"
    )


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec")
    parser.add_argument("--config", metavar="NAME", help="a configuration that `specs` lists")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--invariant", action="append", metavar="NAME")
    parser.add_argument("--no-invariants", action="store_true")
    parser.add_argument("--trace", metavar="FILE", help=_SAVING)
    parser.add_argument("--json", action="store_true")


def settings_of(given: list[str]) -> dict[str, str]:
    """What `--set` gives, as texts by name. Raises LabError."""
    values = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals:
            raise LabError(f"--set {shortened(setting)}: write NAME=VALUE.")
        values[name] = value
    return values


def _model(options: argparse.Namespace) -> Model:
    for path in filter(None, (options.trace, getattr(options, "graph", None))):
        _expect_writable(path)
    if options.trace:
        _expect_format(options.trace)
    return load(options.spec).bind(options.config, **settings_of(options.set))


def _invariants(options: argparse.Namespace) -> list[str] | None:
    if options.no_invariants and options.invariant:
        raise LabError("--invariant and --no-invariants exclude each other; give one of them.")
    return [] if options.no_invariants else options.invariant


def _check(options: argparse.Namespace) -> int:
    from protocol_lab.explain.coverage import coverage
    from protocol_lab.explore import explore

    if options.property is not None:
        return _check_property(options)
    if options.fairness is not None:
        raise LabError("--fairness needs --property NAME; invariants do not depend on fairness.")
    asked = _search_options(options)
    if options.coverage and options.engine == NATIVE:
        asked["keep_states"] = True
    with _running(options):
        result = explore(
            _model(options), engine=options.engine, invariants=_invariants(options), **asked
        )
        covered = coverage(result) if options.coverage else None
    return _report(result, options, covered)


def _search_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of a search as keywords; an option that was not given has its unset value."""
    return {each.name: getattr(options, each.name) for each in SEARCH_OPTIONS}


def _check_property(options: argparse.Namespace) -> int:
    from protocol_lab.liveness.check import check_property
    from protocol_lab.liveness.claims import DECLARED

    alone = {
        "--invariant": options.invariant,
        "--no-invariants": options.no_invariants,
        "--coverage": options.coverage,
    }
    for written, wanted in alone.items():
        if wanted:
            raise LabError(ALONE.format(option=written))
    if options.engine != NATIVE:
        raise LabError(
            f"--engine {options.engine} can't be combined with --property {options.property}: a"
            " temporal property is always checked by compiled code; leave --engine out."
        )
    with _running(options):
        fairness = options.fairness or DECLARED
        result = check_property(
            _model(options), options.property, fairness=fairness, **_search_options(options)
        )
    return _report(result, options)


def _simulate(options: argparse.Namespace) -> int:
    from protocol_lab.simulation.simulate import simulate

    with _running(options):
        result = simulate(
            _model(options),
            invariants=_invariants(options),
            **{each.name: getattr(options, each.name) for each in SIMULATION_OPTIONS},
        )
    return _report(result, options)


def _report(result: Result, options: argparse.Namespace, covered: Coverage | None = None) -> int:
    """Print a result, as its `summary` says it, and write what was asked for; the exit code."""
    if options.trace and result.trace is not None:
        from protocol_lab.drawing.pictures import content_for

        write_file(options.trace, content_for(options.trace, result))
    if getattr(options, "graph", None):
        from protocol_lab.diagrams.state_graph import state_graph

        write_file(options.graph, state_graph(result.model))
    if options.json:
        more = {"coverage": covered.to_json()} if covered else {}
        if options.states and result.trace is not None:
            rows = result.trace_rows
            more["states"] = [as_json(plain(view(result.model.layout, each))) for each in rows]
        print(json.dumps(result.to_json() | more))
    else:
        print(result, *([covered] if covered else []), sep="\n")
        if options.states and result.trace is not None:
            from protocol_lab.diagrams.state_listing import state_listing

            listing = state_listing(result.model, result.trace_rows, result.trace, result.initial)
            print("  the states of this trace, and what each step changes:", listing, sep="\n")
    return EXIT_CODES[result.verdict]


def write_file(path: str, content: str) -> None:
    """Write an option's output file. Raises LabError if that can't be done."""
    with writing(path):
        Path(path).write_bytes(content.encode("utf-8"))


def _expect_writable(path: str) -> None:
    """Raise LabError now if a file can't be written, rather than after the search."""
    with writing(path):
        is_new = not os.path.lexists(path)
        Path(path).open("ab").close()
        if is_new:
            os.unlink(path)


def _expect_format(path: str) -> None:
    """Raise LabError now if a trace has no format with this file's ending."""
    from protocol_lab.drawing.pictures import format_of

    format_of(path)


def _specs(options: argparse.Namespace) -> int:
    described = [describe(load(name)) for name in options.spec or spec_names()]
    broken = [] if options.spec else [str(each) for each in broken_modules()]
    if options.json:
        print(json.dumps({"specs": described, "broken": broken}))
    else:
        _print_specs(described, whole=bool(options.spec))
    print(*broken, sep="\n", end="\n" if broken else "", file=sys.stderr)
    return FAILED if broken else 0


def _print_specs(described: list[dict[str, Any]], whole: bool) -> None:
    """Print what the specs consist of; `whole`: with the parameters of each action."""
    for each in described:
        print(f"{each['name']}  {first_line(each['meaning'])}".rstrip())
        for name, constant in each["constants"].items():
            value = as_text(constant["default"])
            bounds = constant["choices"] or f"{constant['low']} to {constant['high']}"
            print(f"    {name}={value}  ({bounds})  {constant['meaning']}")
        for name, configuration in each["configurations"].items():
            values = (f"{k}={as_text(value)}" for k, value in configuration["constants"].items())
            meaning = f"{configuration['meaning']}; {configuration['size']}"
            print(f"    config {' '.join([name, *values])}  ({meaning})")
        for kind in ("start", "action") if whole else ():
            for action, parameters in each["parameters"][kind].items():
                if kind == "start" and not parameters:
                    continue  # a scenario needs no line for it
                print(f"    {kind} {action}({', '.join(parameters)})")
                for name, values in parameters.items():
                    print(f"        {name}: {values}")
        if not whole:
            print(f"    actions: {', '.join(each['actions'])}")
        for invariant in each["invariants"]:
            mark = "" if invariant["default"] else "  (only when named)"
            print(f"    invariant {invariant['name']}{mark}")
        for temporal in each["properties"]:
            print(f"    property {temporal['name']}  {temporal['formula']}")


def describe(spec: Spec) -> dict[str, Any]:
    """A spec as `specs --json` lists it."""
    defaults = bind(spec.constants, {}, spec.name)
    shown = show(defaults)
    return {
        "name": spec.name,
        "meaning": spec.meaning.strip(),
        "constants": {
            name: {
                "default": shown[name],
                "low": limits.low,
                "high": limits.high,
                "may_be_none": limits.may_be_none,
                "choices": list(limits.choices) or None,
                "meaning": limits.meaning,
            }
            for name, limits in limits_of(spec.constants).items()
        },
        "configurations": {
            each.name: {
                "meaning": each.meaning,
                "size": each.size,
                "constants": dict(each.constants),
            }
            for each in spec.configurations
        },
        "actions": [action.name for action in spec.actions],
        "parameters": {
            kind: {each.name: values_of_parameters(each, spec.state) for each in declared}
            for kind, declared in (("start", spec.inits), ("action", spec.actions))
        },
        "invariants": [
            {"name": each.name, "default": each.by_default, "meaning": each.doc}
            for each in spec.invariants + spec.step_invariants
        ],
        "properties": [
            {"name": each.name, "formula": each.text, "meaning": each.doc}
            for each in spec.properties
        ]
        + [
            {"name": each.name, "formula": f"refines {each.other.name}", "meaning": each.doc}
            for each in spec.refinements
        ],
        "fairness": fairness_texts(spec.fairness),
        "expected": [each.name for each in spec.expected],
        "constraints": [each.name for each in spec.constraints],
    }


def _replay(options: argparse.Namespace) -> int:
    from protocol_lab.interchange.effort import Effort
    from protocol_lab.interchange.readers import read_file
    from protocol_lab.traces.scenario_format import Scenario
    from protocol_lab.traces.scenarios import play

    if options.draw and not options.draw.endswith(".svg"):
        raise LabError(
            f"{shortened(options.draw)}: --draw writes .svg; for other endings use --save."
        )
    for path in filter(None, (options.draw, options.save)):
        _expect_writable(path)
        _expect_format(path)
    if options.set and not options.spec:
        raise LabError("--set needs --spec NAME: it is for a trace of another tool.")
    model = load(options.spec).bind(**settings_of(options.set)) if options.spec else None
    found = read_file(options.file, model, Effort(tell=_tell_progress))
    scenario = found if isinstance(found, Scenario) else None
    walk = play(scenario, model) if scenario else found
    title = scenario.title if scenario else show_text(walk.model.constants)
    print(f"{scenario.spec_name if scenario else walk.model.spec.name}: {title}")
    path = walk.moment.path()
    if options.states:
        from protocol_lab.diagrams.state_listing import state_listing

        rows, steps = [each.row for each in path], [each.step for each in path[1:]]
        captions = [each.caption for each in path[1:]]
        print(state_listing(walk.model, rows, steps, walk.init, captions))
    else:
        for moment in path[1:]:
            print(f"{moment.depth:4} {moment.step}  {moment.caption}")
    for line in scenario.lines if scenario else []:
        if line.kind in ("violates", "holds", "blocked", "loops_to"):
            print(f"  ✓ {line.kind} {line.text}")
    if walk.moment.going_on and not scenario:
        print(f"  {walk.moment.going_on}")
    if options.draw:
        from protocol_lab.drawing.pictures import picture_strip

        write_file(options.draw, picture_strip(walk))
    if options.save:
        from protocol_lab.drawing.pictures import content_for

        write_file(options.save, content_for(options.save, walk))
    return 0


def _tell_progress(text: str) -> None:
    """Show how far a search is, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\r", file=sys.stderr, flush=True)


def _tla(options: argparse.Namespace) -> int:
    from protocol_lab.tla.module import written
    from protocol_lab.tla.values import NoTranslation

    try:
        module = written(_model(options))
    except NoTranslation as error:
        print(error, file=sys.stderr)
        return NO_TRANSLATION
    folder = Path(options.folder)
    for ending, text in ((".tla", module.text), (".cfg", module.configuration)):
        path = folder / f"{module.name}{ending}"
        with writing(path):
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(path)
    return 0


def _new(options: argparse.Namespace) -> int:
    from protocol_lab.new_protocol import new_protocol

    written = new_protocol(options.name, options.folder)
    print(*written, sep="\n")
    module = next(each for each in written if each.stem == options.name and each.suffix == ".py")
    print(f"Begin with: check {module}")
    return 0


def _lab(options: argparse.Namespace) -> int:
    from protocol_lab.grading.labs import lab_names, load_lab, overview, start_lab

    if options.name is None:
        print(*[overview(load_lab(name)) for name in lab_names()], sep="\n")
        return 0
    written = start_lab(options.name, options.folder)
    print(*written, overview(load_lab(options.name)), sep="\n")
    print(f"Grade it with: python3 lab.py grade {written[0].parent}")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from protocol_lab.grading.grade_report import Report
    from protocol_lab.grading.isolated_process import Limits, grade_submission
    from protocol_lab.grading.labs import expect_folder, find_submissions, lab_names, load_lab

    for path in filter(None, (options.csv, options.junit)):
        _expect_writable(path)
    limits = Limits(
        amount("--seconds", options.seconds, 1, 1e5, "seconds"),
        int(amount("--memory", options.memory, 1, 1e4, "GiB") * 2**30),
    )
    place = expect_folder(options.labs) if options.labs else None
    labs = {name: load_lab(name, place) for name in lab_names(place)}
    found = find_submissions(options.folder, list(labs))
    report = Report(options.csv, options.junit, options.pictures, options.json)
    is_interrupted = False
    try:
        with interrupts_raised():
            for each in found:
                report.add(grade_submission(each, labs[each.lab], limits))
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        report.close()
    if is_interrupted:
        done = f"{len(report.grades)} of {len(found)} submissions were graded"
        print(f"interrupted: {done}", file=sys.stderr)
        return INTERRUPTED
    return EXIT_CODES[Verdict.HOLDS if report.is_full else Verdict.VIOLATED]


def _reset(options: argparse.Namespace) -> int:
    from protocol_lab.originals import reset

    print(reset(options.notebook[0] if len(options.notebook) == 1 else ""))
    return 0


def _site(options: argparse.Namespace) -> int:
    from protocol_lab.site.build import build

    folder = Path(options.folder).resolve()
    for each in build(folder, tell=lambda progress: print(progress, file=sys.stderr)):
        print(each, file=sys.stderr)
    print(f"Open {folder / 'index.html'}, or put the folder on any web server.")
    return 0


def _room(options: argparse.Namespace) -> int:
    import asyncio
    from datetime import date

    from platformdirs import user_data_path

    from protocol_lab.room.room_server import serve

    port = whole_number("--port", options.port, 1, 65535)
    file = user_data_path("protocol-lab") / "rooms" / f"{date.today()}.jsonl"
    folder, file = Path(options.folder).resolve(), Path(options.file or file).resolve()
    asyncio.run(serve(folder, port, options.address, file, not options.no_browser))
    return 0


def _slides(options: argparse.Namespace) -> int:
    from protocol_lab.site.deck import write_deck

    write_deck(options.lesson, Path(options.file))
    print(f"Open {options.file} in a browser; p is the presenter's view, and printing makes a PDF.")
    return 0


def _bundle(options: argparse.Namespace) -> int:
    from protocol_lab.site.build import build
    from protocol_lab.site.bundle import bundle

    folder = Path(options.folder).resolve()
    print(*bundle(folder, options.platform, options.python, not options.without_spark), sep="\n")
    build(folder / "site")
    print(f"On the other machine: python3 kit/lab.py --from . (in {folder.name})")
    return 0


def _prepare(options: argparse.Namespace) -> int:
    from protocol_lab.prepare import prepare

    return prepare()


_RUN_SPECS = (_specs, _check, _simulate, _replay, _tla, _prepare)
"""The commands that find packages and modules in the current folder, too. The others may be given
folders with other people's files, of which none is to be run."""
