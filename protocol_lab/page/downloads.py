"""The packages of npm that the pages need, for those who build the site only.

They are fetched by the npm client of the machine, or of the wheel that the extra `site` installs,
compared with the digests below, and kept in the kit's cache.
"""

import base64
import hashlib
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

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
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


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
