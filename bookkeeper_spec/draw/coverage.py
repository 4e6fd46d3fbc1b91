"""The pictures of quorum coverage: the bookies' answers, and the result of each definition."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bookkeeper_spec.quorum_coverage import (
    enough_satisfy,
    every_ack_quorum_has_one,
    few_do_not,
    no_ack_quorum_does_not,
)
from protocol_lab import subsets
from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, text_width
from protocol_lab.explain.wording import node_set, spec_title, words
from protocol_lab.model.node_sets import Nodes, as_mask, as_nodes
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view

MARGIN, GAP, WIDTH = 14, 8, 720
BOX_WIDTH, BOX_HEIGHT = 118, 50
CHIP_HEIGHT, LINE, SIZE = 26, 22, 13


@dataclass(frozen=True)
class Coverage:
    """Some bookies, which of them are the cohort, and which of these satisfy the property.

    `responses` and `before` say what each bookie answered, now and in the
    previous state. `positive` and `negative` say that a bookie satisfies the property, or may not.
    """

    bookies: int
    cohort: Nodes
    satisfying: Nodes
    ack_quorum: int
    positive: str
    negative: str
    cohort_name: str = "cohort"
    property_name: str = "satisfy it"
    responses: dict[int, str] = field(default_factory=dict)
    before: dict[int, str] = field(default_factory=dict)
    outside: str = "not in the cohort"

    @property
    def definitions(self) -> list[tuple[bool, str]]:
        """What each of the four definitions says, and why, in numbers."""
        satisfying, everybody = self.satisfying, self.cohort
        others = everybody & ~satisfying
        cohort, have, lack = len(everybody), len(satisfying), len(others)
        needed = f"{cohort} - {self.ack_quorum} + 1 = {cohort - self.ack_quorum + 1}"
        uncovered = [each for each in self.ack_quorums if not each & self.satisfying]
        missed = f"none in {node_set(uncovered[0])}" if uncovered else "at least one in every"
        alone = f"{node_set(uncovered[0])} is one" if uncovered else "there is none"
        return [
            (
                enough_satisfy(satisfying, cohort, self.ack_quorum),
                f"at least {needed} {self.property_name}: {have}",
            ),
            (
                every_ack_quorum_has_one(satisfying, everybody, self.ack_quorum),
                f"every ack quorum has one of them: {missed}",
            ),
            (
                few_do_not(others, self.ack_quorum),
                f"fewer than an ack quorum of {self.ack_quorum} do not: {lack}",
            ),
            (
                no_ack_quorum_does_not(others, everybody, self.ack_quorum),
                f"no ack quorum of those that do not: {alone}",
            ),
        ]

    @property
    def ack_quorums(self) -> list[Nodes]:
        """Every ack quorum of the cohort."""
        found = (each for each in subsets(self.cohort) if len(each) == self.ack_quorum)
        return sorted(found, key=tuple)

    @property
    def alarms(self) -> list[str]:
        """The claim that the picture is about, if it is wrong."""
        if len({holds for holds, _ in self.definitions}) == 1:
            return []
        return ["equivalence is broken: the four definitions do not agree"]


def draw_coverage(coverage: Coverage, title: str) -> str:
    """The picture as SVG text: the bookies, every ack quorum, and the four definitions."""
    svg, y = Svg(), MARGIN
    y = _draw_bookies(svg, coverage, y)
    y = _draw_ack_quorums(svg, coverage, y + 16)
    y = _draw_definitions(svg, coverage, y + 14)
    for alarm in coverage.alarms:
        svg.text(MARGIN, y + 14, f"✗ {alarm}", size=SIZE, fill=palette.BAD, bold=True)
        y += LINE
    width = 2 * MARGIN + coverage.bookies * (BOX_WIDTH + GAP) - GAP
    return svg.document(max(WIDTH, width), y + 10, title, _description(coverage))


def _draw_bookies(svg: Svg, coverage: Coverage, y: float) -> float:
    """The bookies side by side, the cohort's with solid borders; below them what they were."""
    for bookie in range(1, coverage.bookies + 1):
        x = MARGIN + (bookie - 1) * (BOX_WIDTH + GAP)
        inside = bookie in coverage.cohort
        covered = bookie in coverage.satisfying
        border = {"stroke": palette.INK, "stroke_width": 1.6}
        if not inside:
            border = {"stroke": palette.LINE, "stroke_dasharray": "4 3"}
        fill = palette.SHADES[2] if covered else palette.PAPER if inside else palette.PANEL
        svg.rect(x, y, BOX_WIDTH, BOX_HEIGHT, rx=6, fill=fill, **border)
        middle = x + BOX_WIDTH / 2
        ink = palette.INK if inside else palette.MUTED
        svg.text(middle, y + 20, f"b{bookie}", size=SIZE, bold=True, fill=ink, text_anchor="middle")
        says = _response(coverage, bookie)
        was = coverage.before.get(bookie)
        if was is not None and was != coverage.responses.get(bookie):
            width = min(text_width(says, SIZE) + 10, BOX_WIDTH - 4)
            svg.rect(
                middle - width / 2,
                y + 26,
                width,
                18,
                rx=4,
                fill=palette.CHANGED,
            )
            svg.text(
                middle,
                y + 64,
                f"was {words(was)}",
                size=SIZE,
                fill=palette.MUTED,
                text_anchor="middle",
            )
        svg.text(middle, y + 40, says, size=SIZE, fill=ink, text_anchor="middle")
    note = f"solid border: {coverage.cohort_name} · ✓ {coverage.property_name}"
    svg.text(MARGIN, y + BOX_HEIGHT + 32, note, size=SIZE, fill=palette.MUTED)
    return y + BOX_HEIGHT + 34


def _response(coverage: Coverage, bookie: int) -> str:
    """What stands in a bookie's box."""
    if bookie not in coverage.cohort and bookie not in coverage.responses:
        return "–"
    says = words(coverage.responses.get(bookie, ""))
    return f"{says} ✓".strip() if bookie in coverage.satisfying else says


def _draw_ack_quorums(svg: Svg, coverage: Coverage, y: float) -> float:
    """Every ack quorum with one of those bookies in it, or without."""
    found = coverage.ack_quorums
    heading = f"Ack quorums of {coverage.ack_quorum} bookies: {len(found)}"
    svg.text(MARGIN, y + 10, heading, size=SIZE, bold=True)
    y += 20
    x = MARGIN
    for each in found:
        have = each & coverage.satisfying
        fate = coverage.positive if have else coverage.negative
        text = f"{'✓' if have else '✗'} {node_set(each)} {fate}"
        width = text_width(text, SIZE) + 16
        if x > MARGIN and x + width > WIDTH - MARGIN:
            x, y = MARGIN, y + CHIP_HEIGHT + 6
        fill, line = (palette.PANEL, palette.LINE) if have else (palette.BAD_PAPER, palette.BAD)
        svg.rect(x, y, width, CHIP_HEIGHT, rx=6, fill=fill, stroke=line)
        ink = palette.INK if have else palette.BAD
        svg.text(x + 8, y + 18, text, size=SIZE, fill=ink)
        x += width + 6
    return y + CHIP_HEIGHT + 6


def _draw_definitions(svg: Svg, coverage: Coverage, y: float) -> float:
    """One line for each definition."""
    svg.text(MARGIN, y + 10, "Is there quorum coverage? Four ways to ask", size=SIZE, bold=True)
    y += 20
    for k, (holds, text) in enumerate(coverage.definitions, 1):
        mark, ink = ("✓ yes", palette.GOOD) if holds else ("✗ no", palette.BAD)
        svg.text(MARGIN, y + 12, mark, size=SIZE, bold=True, fill=ink)
        svg.text(MARGIN + 58, y + 12, f"{k}  {text}", size=SIZE)
        y += LINE
    return y


def _description(coverage: Coverage) -> str:
    """The text alternative."""
    bookies = "; ".join(
        f"bookie {bookie} {coverage.outside}"
        if bookie not in coverage.cohort
        else f"bookie {bookie} {_response(coverage, bookie).replace('✓', '')}".strip()
        for bookie in range(1, coverage.bookies + 1)
    )
    answers = "; ".join(
        f"{'yes' if holds else 'no'}: {text}" for holds, text in coverage.definitions
    )
    broken = "".join(f" Broken: {alarm}." for alarm in coverage.alarms)
    return f"{bookies}. Ack quorum {coverage.ack_quorum}. {answers}.{broken}"


# --- The two specs ---------------------------------------------------------------------------


def draw_fencing(model: Model, row: bytes, previous: bytes | None = None) -> str:
    """A fencing: the ensemble's answers, and whether recovery may go on."""
    return _draw(model, row, previous, _fencing)


def draw_recovery_reads(model: Model, row: bytes, previous: bytes | None = None) -> str:
    """The reads of one entry: the write set's answers, and whether the entry is absent."""
    return _draw(model, row, previous, _recovery_reads)


def _draw(
    model: Model, row: bytes, previous: bytes | None, describe: Callable[..., Coverage]
) -> str:
    s = view(model.layout, row)
    before = {} if previous is None else _responses(view(model.layout, previous))
    coverage = describe(s, model.constants.all_bookies, _responses(s), before)
    return draw_coverage(coverage, spec_title(model.spec.name))


def _responses(s) -> dict[int, str]:
    """What every bookie of the ensemble answered, by name."""
    return {bookie: plain(s)["state"][bookie] for bookie in s.curr_ensemble}


def _that_said(responses: dict[int, str], response: str, cohort: Nodes) -> Nodes:
    return as_nodes(as_mask(each for each in cohort if responses[each] == response))


def _fencing(s, bookies: int, responses: dict[int, str], before: dict[int, str]) -> Coverage:
    return Coverage(
        bookies,
        s.curr_ensemble,
        _that_said(responses, "fenced", s.curr_ensemble),
        s.aq,
        "one is fenced",
        "all may be unfenced",
        "the ensemble",
        "are fenced",
        responses,
        before,
        "is not in the ensemble",
    )


def _recovery_reads(s, bookies: int, responses: dict[int, str], before: dict[int, str]) -> Coverage:
    return Coverage(
        bookies,
        s.write_set,
        _that_said(responses, "no_such_entry", s.write_set),
        s.aq,
        "one lacks it",
        "all may have it",
        "the write set",
        "have no such entry",
        responses,
        before,
        "is not in the write set",
    )
