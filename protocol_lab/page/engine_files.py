"""Everything that a page loads to run the kit, as one script that works from the disk, too.

It has pyodide, Graphviz, the kit's own files, and two small packages that the kit imports.
"""

import hashlib
import importlib.metadata
import io
import json
import zipfile
from base64 import b64encode
from pathlib import Path
from zlib import MAX_WBITS, compress

from protocol_lab.catalog import packages
from protocol_lab.page.downloads import GRAPHVIZ, PYODIDE, archive_of

ROOT = Path(__file__).parents[2]

NOT_NEEDED = ("site", "spark", "cli.py", "originals.py", "prepare.py", "new_protocol.py")
"""Rooms that do not run in a page."""

PURE_PACKAGES = ("tqdm", "graphviz")
"""Packages of plain Python that the kit imports."""


def engine_script() -> str:
    """The script; it calls labEngine({name: base64 of the deflated file}).

    Raises LabError if pyodide can't be had.
    """
    pyodide, viz = archive_of(PYODIDE), archive_of(GRAPHVIZ)
    lock = json.loads(pyodide["pyodide-lock.json"])
    files = {
        "pyodide.mjs": pyodide["pyodide.mjs"],
        "pyodide.asm.mjs": pyodide["pyodide.asm.mjs"],
        "pyodide.asm.wasm": pyodide["pyodide.asm.wasm"],
        "python_stdlib.zip": pyodide["python_stdlib.zip"],
        "pyodide-lock.json": json.dumps({"info": lock["info"], "packages": {}}).encode(),
        "viz.mjs": viz["dist/viz.js"],
        "kit.zip": kit_archive(),
    }
    given = {name: packed(content) for name, content in files.items()}
    return f"labEngine({json.dumps(given)});\n"


def name_of(script: str) -> str:
    """A file name that changes with the content, so that browsers can keep the file."""
    return f"engine-{hashlib.sha256(script.encode()).hexdigest()[:10]}.js"


def kit_archive() -> bytes:
    """What the kit runs in a page, as a ZIP file: always the same bytes for the same files."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:  # deflated as a whole
        for name, path in sorted(_kit_files().items()):
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return written.getvalue()


def _kit_files() -> dict[str, Path]:
    """The files by their names in the archive."""
    files = {}
    for package in ("protocol_lab", *packages(), "real_systems"):
        for path in (ROOT / package).rglob("*"):
            inside = path.relative_to(ROOT / package)
            if package == "protocol_lab" and inside.parts[0] in NOT_NEEDED:
                continue
            kept = path.suffix == ".py" or path.name == "recordings.json"
            if kept or {"scenarios", "lessons"} & {*inside.parts}:
                files[path.relative_to(ROOT).as_posix()] = path
    for path in (ROOT / "notebooks").glob("*/*.py"):  # their exercises
        files[path.relative_to(ROOT).as_posix()] = path
    for package in PURE_PACKAGES:
        for each in importlib.metadata.files(package) or []:
            if each.suffix == ".py" and each.parts[0] == package:
                files[each.as_posix()] = Path(str(each.locate()))
    return {name: path for name, path in files.items() if path.is_file()}


def packed(content: bytes) -> str:
    """Deflated, as base64: a page that was opened from the disk may load nothing but scripts."""
    return b64encode(compress(content, level=9, wbits=-MAX_WBITS)).decode()
