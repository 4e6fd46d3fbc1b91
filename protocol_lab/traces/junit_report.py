"""The outcome of a search as JUnit XML, which continuous integration reads.

Every property is a test case. A violated one is a failure, with its counterexample. An undecided
one is an error, since that must not pass. One that the search could not judge, because it ended at
another property, is skipped. So is an expected situation that no state has, and a temporal property
whose premise is never true: it is reported, and breaks nothing, as the exit code says.
"""

from typing import Any
from xml.etree import ElementTree

from protocol_lab.checker.result import Result, Verdict
from protocol_lab.model.constants import show_text
from protocol_lab.visible_text import visible


def junit_xml(result: Result) -> str:
    """The XML of one test suite, for `check --junit`."""
    model = result.model
    cases = [_case(result, name) for name in _checked(result)]
    if result.verdict != Verdict.VIOLATED and not getattr(result, "claim", ""):
        cases += [_reached(result, name) for name in (*result.reached, *result.never_reached)]
    suite = ElementTree.Element(
        "testsuite",
        name=f"{model.spec.name} {show_text(model.constants)}".strip(),
        tests=str(len(cases)),
        failures=str(sum(each.find("failure") is not None for each in cases)),
        errors=str(sum(each.find("error") is not None for each in cases)),
        skipped=str(sum(each.find("skipped") is not None for each in cases)),
        time=f"{result.seconds:.3f}",
    )
    suite.extend(cases)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _checked(result: Result) -> list[str]:
    """The names of the properties that were checked; the violated one may be "deadlock"."""
    claim = getattr(result, "claim", "")
    names = [claim] if claim else list(result.invariants)
    more = [result.violated] if result.violated not in (None, *names) else []
    return names + more or ["explored"]


def _case(result: Result, name: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=result.model.spec.name, name=name)
    if result.violated == name:
        reason = result.violation_reason or "violated"
        _add(case, "failure", reason, str(result))
    elif result.violated:
        _add(case, "skipped", f"the search ended where {result.violated} is violated")
    elif result.verdict == Verdict.UNDECIDED:
        _add(case, "error", f"undecided: {result.undecided_reason}")
    elif reservation := getattr(result, "reservation", ""):
        if result.vacuous:
            _add(case, "skipped", f"holds, {reservation}")
        else:
            ElementTree.SubElement(case, "system-out").text = visible(f"holds, {reservation}")
    return case


def _reached(result: Result, name: str) -> ElementTree.Element:
    """An expected situation: one that was not reached is an error if the search is undecided."""
    case = ElementTree.Element("testcase", classname=result.model.spec.name, name=name)
    if name in result.never_reached and result.verdict == Verdict.HOLDS:
        _add(case, "skipped", "not reached")
    elif name in result.never_reached:
        _add(case, "error", "not reached so far")
    return case


def _add(case: ElementTree.Element, kind: str, message: str, text: Any = None) -> None:
    found = ElementTree.SubElement(case, kind, message=visible(message))
    found.text = text and visible(text)
