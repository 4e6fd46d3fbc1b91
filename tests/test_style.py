"""The linters, and what a reader of the tree must never find in it."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT


def tracked(*endings: str) -> list[Path]:
    """The files of the repository with these endings."""
    words = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in listed if name.endswith(endings) and (ROOT / name).exists()]


@pytest.mark.parametrize("words", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff(words):
    command = [sys.executable, "-m", "ruff", *words, "--quiet", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def public_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """A module's public functions, and the public methods of its public classes."""
    bodies = [tree.body]
    bodies += [
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    return [
        node
        for body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def code_of_the_kit() -> list[tuple[Path, ast.Module]]:
    """The modules that all protocols, or all real systems, share."""
    rooms = (ROOT / "protocol_lab", ROOT / "real_systems" / "runner")
    paths = [path for path in tracked(".py") if any(map(path.is_relative_to, rooms))]
    assert len(paths) > 20
    return [(path, parsed(path)) for path in paths]


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", sorted(ROOT.glob("*_spec")), ids=lambda path: path.name)
def test_a_star_import_replaces_no_name(package):
    """Each name is that of the line that imports it, whatever other lines bring with a star."""
    replaced = []
    for path in sorted(package.rglob("*.py")):
        tree, name = parsed(path), ".".join(path.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        own = {
            getattr(each, "name", getattr(each, "id", ""))
            for line in tree.body
            for each in (line, *getattr(line, "targets", ()))
        }
        for line in tree.body:
            if isinstance(line, ast.ImportFrom):
                there = importlib.import_module(line.module)
                names = {each.asname or each.name: each.name for each in line.names}
                if "*" in names:
                    public = getattr(there, "__all__", vars(there))
                    names = {each: each for each in public if not each.startswith("_")}
                replaced += [
                    f"{path.relative_to(ROOT)}:{line.lineno} {each}"
                    for each, original in names.items() - {(each, each) for each in own}
                    if getattr(module, each) is not getattr(there, original)
                ]
    assert replaced == []


@pytest.mark.slow
def test_text_files_are_opened_with_their_encoding():
    """Else they are read and written in that of the machine, which need not be UTF-8."""
    lacking = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in tracked(".py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and _opens_text(node) and not _names_encoding(node)
    ]
    assert lacking == []


OTHERS = ("Image.open", "os.open", "tarfile.open", "archive.open")


def _opens_text(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name not in ("open", "read_text", "write_text") or ast.unparse(call.func) in OTHERS:
        return False
    values = [*call.args, *(each.value for each in call.keywords if each.arg == "mode")]
    modes = [each.value for each in values if isinstance(each, ast.Constant)]
    return name != "open" or not any(re.fullmatch("[rwax]b[+]?", str(mode)) for mode in modes)


def _names_encoding(call: ast.Call) -> bool:
    return any(each.arg == "encoding" for each in call.keywords)


def test_public_functions_have_docstrings_and_say_what_they_return():
    lacking = [
        f"{path.name}:{function.lineno} {function.name}"
        for path, tree in code_of_the_kit()
        for function in public_functions(tree)
        if (ast.get_docstring(function) is None and not _is_property(function))
        or (function.returns is None and not _is_for_actions(path))
    ]
    assert lacking == []


def _is_property(function: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) for each in function.decorator_list)


def _is_for_actions(path: Path) -> bool:
    """What compiled code calls takes whatever types the compiler gives it."""
    return path.stem in (
        "canonical_form",
        "containers",
        "fingerprint",
        "loops",
        "node_sets",
        "records",
    )


def test_dependencies_point_one_way():
    for path, tree in code_of_the_kit():
        docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in docstrings:
                assert not _PROTOCOLS.search(str(node.value)), f"{path}:{node.lineno}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "_spec" not in ast.unparse(node), f"{path}:{node.lineno}"


_PROTOCOLS = re.compile(r"\b(kafka|bookkeeper|pulsar|kraft)", re.IGNORECASE)


def test_nothing_unfinished_and_no_path_of_a_machine():
    unfinished = "|".join(["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error"])
    for path in tracked(".py", ".md", ".ipynb", ".txt", ".toml", ".js", ".css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf"\b({unfinished})\b", text), path
        assert not re.search(r"/(home|root|work|Users)/\w", text), path
