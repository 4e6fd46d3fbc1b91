"""Everything that a page loads to run the kit, as one script that works from the disk, too.

It has pyodide, Graphviz, the kit's own files, and two small packages that the kit imports. The
packages of npm are fetched by the npm client of the machine, or of the wheel that the extra `site`
installs, compared with the digests below, and kept in the kit's cache.
"""

import hashlib
import importlib.metadata
import io
import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from zlib import MAX_WBITS, compress

from protocol_lab.catalog import packages
from protocol_lab.errors import LabError
from protocol_lab.system.folders import cache_folder, write_whole
from protocol_lab.system.programs import find_npm

_PATIENCE = 600
"""Seconds that npm may take for one package."""


@dataclass(frozen=True)
class Download:
    """A package of npm: the version, and the digest of its archive as npm's lock files have it."""

    name: str
    version: str
    digest: str


PYODIDE = Download(
    "pyodide",
    "314.0.7",
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
)
"""CPython 3.14 as WebAssembly."""

GRAPHVIZ = Download(
    "@viz-js/viz",
    "3.31.0",
    "sha512-r7zlQdRvcwvIpjHGgs+KNWHeE/P5/Dq7k8ZAKaMCbZqomxCBJV78gVuQYaHzFVca+kB0mX0fMW9UFevCOBG50A==",
)
"""Graphviz as WebAssembly."""


def archive_of(download: Download) -> dict[str, bytes]:
    """The files of a package by their path in it. Raises LabError if it can't be had."""
    file = f"{download.name.strip('@').replace('/', '-')}-{download.version}.tgz"
    kept = cache_folder("npm")
    if kept is not None and (kept / file).is_file():
        content = (kept / file).read_bytes()
        if _digest(content) == download.digest:
            return _unpacked(content)
    content = _fetched(download, file)
    if _digest(content) != download.digest:
        raise LabError(
            f"npm has another {download.name} {download.version} than the kit was tested with:"
            " its digest differs."
        )
    if kept is not None:
        write_whole(kept / file, content)
    return _unpacked(content)


def _fetched(download: Download, file: str) -> bytes:
    """The package's archive, from the registry that npm is set up for."""
    npm = find_npm()
    with tempfile.TemporaryDirectory() as folder:
        words = [npm, "pack", "--silent", f"{download.name}@{download.version}"]
        try:
            done = subprocess.run(
                words,
                cwd=folder,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE,
            )
            if done.returncode == 0:
                return (Path(folder) / file).read_bytes()
            reasons = re.findall(r"^npm (?:error|ERR!) (.+)$", done.stderr, re.MULTILINE)
            reason = next((each for each in reasons if not each.startswith("code ")), "no reason")
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
    raise LabError(f"npm could not fetch {download.name} {download.version} ({reason}).")


def _digest(content: bytes) -> str:
    return f"sha512-{b64encode(hashlib.sha512(content).digest()).decode()}"


def _unpacked(content: bytes) -> dict[str, bytes]:
    files = {}
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        with tarfile.open(fileobj=file, encoding="utf-8") as archive:
            for member in archive:
                read = archive.extractfile(member)
                if read is not None:
                    files[member.name.removeprefix("package/")] = read.read()
    return files


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
