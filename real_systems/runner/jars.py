"""Brings the jars of a release, through the Ivy that PySpark has, or from an unpacked release, and
starts their programs, with small heaps.

They are kept in the user's cache, a folder a release, and fetched once. A list of digests beside
them tells when one was damaged or is missing; then all are fetched again.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from protocol_lab.errors import LabError
from protocol_lab.system.folders import cache_folder, remove, temporary_folder
from protocol_lab.system.programs import find_java
from real_systems import TESTED_JARS

_PATIENCE = 900
"""Seconds that Ivy has."""

_NO_NETWORK = (
    r"UnknownHostException|ConnectException|timed out|NoRouteToHost|SSLHandshake|refused"
    r"|Host \S+ not found|through a proxy server that is not well configured"  # in Ivy's words
)

_DIGESTS = "SHA256SUMS"
"""The file in a folder of jars that `sha256sum --check` reads, too."""


@dataclass(frozen=True)
class Artifact:
    """A module of Maven's central repository, such as org.apache.kafka:kafka_2.13:4.3.1.

    `instead` says that it replaces the version that others ask for.
    """

    group: str
    name: str
    version: str
    instead: bool = False


def fetched_jars(
    name: str, artifacts: Iterable[Artifact], say: Callable[[str], None], megabytes: int = 40
) -> list[Path]:
    """The jars of these artifacts and of all that they need at run time.

    name: of their folder in the cache. say: is called once if they must be fetched first, so many
    megabytes. Raises LabError without a network, with a full disk, if there are no such artifacts,
    or if they are not what was tested.
    """
    cache = cache_folder("jars")
    if cache is None:
        raise LabError("The jars of a release need a cache folder: set PROTOCOL_LAB_CACHE to one.")
    folder = cache / name
    if folder.is_dir() and not _is_whole(folder):
        say(f"Something in {folder} is damaged or missing.")
        remove(folder)
    if not folder.is_dir():
        say(f"Fetching {name} (once, about {megabytes} MB)")
        _fetch(list(artifacts), folder)
    return sorted(folder.glob("*.jar"))


def _is_whole(folder: Path) -> bool:
    """Are the jars in a folder the ones that were fetched?"""
    known = folder / _DIGESTS
    return known.is_file() and known.read_text(encoding="utf-8") == _digests(folder)


def _digests(folder: Path) -> str:
    """The digests of a folder's jars, a line each, by name."""
    return "".join(
        f"{_digest(each.read_bytes())}  {each.name}\n" for each in sorted(folder.glob("*.jar"))
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def unpacked_jars(variable: str, folder: str, jar: str) -> list[Path]:
    """The jars of the unpacked release that a variable of the environment names, in this folder of
    it, if one whose name ends so is among them. Raises LabError if it has no jars."""
    home = os.environ.get(variable)
    found = sorted(Path(home, folder).glob("*.jar")) if home else []
    if home and not found:
        place = Path(home, folder)
        raise LabError(f"There are no jars in {place}: give the folder of an unpacked release.")
    return found if any(each.name.endswith(jar) for each in found) else []


def _fetch(artifacts: list[Artifact], folder: Path) -> None:
    """Fetch into a folder beside, and rename it when it is complete."""
    place = temporary_folder("jars", place=str(folder.parent))
    try:
        description = place / "ivy.xml"
        description.write_text(_ivy(artifacts), encoding="utf-8")
        pattern = f"{place}/libs/[organization]_[artifact]-[revision](-[classifier]).[ext]"
        command = [java_program(), "-jar", _ivy_jar(), "-ivy", description, "-confs", "default"]
        command += ["-retrieve", pattern, "-types", "jar", "bundle"]
        command += ["-cache", place / "ivy"]  # a shared one breaks when two runs write to it
        for _ in range(2):  # a busy repository looks like a gap to Ivy
            answer = subprocess.run(
                list(map(os.fspath, command)), capture_output=True, text=True, timeout=_PATIENCE
            )
            has_gap = answer.returncode or "UNRESOLVED DEPENDENCIES" in answer.stdout
            if not has_gap and (place / "libs").is_dir():
                break
        else:
            raise _refused(answer.stdout + answer.stderr, folder.name)
        digests = _digests(place / "libs")
        if _digest(digests.encode()) != TESTED_JARS.get(folder.name, _digest(digests.encode())):
            raise LabError(
                f"What was fetched for {folder.name} is not what this kit was tested with: try"
                " again, or name an unpacked release as docs/real_stories.md says."
            )
        (place / "libs" / _DIGESTS).write_text(digests, encoding="utf-8")
        (place / "libs").rename(folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        if not folder.is_dir():  # another run may have fetched the same meanwhile
            reason, advice = getattr(error, "strerror", None) or str(error), "free 100 MB, or try"
            if isinstance(error, subprocess.TimeoutExpired):
                reason, advice = f"it took more than {_PATIENCE // 60} minutes", "try"
            raise LabError(
                f"{folder.name} can't be fetched ({reason}): {advice} again, or name an unpacked"
                " release as docs/real_stories.md says."
            ) from None
    finally:
        remove(place)


def _refused(output: str, name: str) -> LabError:
    if "No space left" in output:
        return LabError(f"{name} can't be fetched: the disk is full; make 100 MB free.")
    if re.search(_NO_NETWORK, output):
        return LabError(
            f"{name} can't be fetched without a network: connect it, name an unpacked release"
            " as docs/real_stories.md says, or look at what was recorded with --recorded."
        )
    # Ivy lists what is missing behind "::", or names it in the sentence "unresolved dependency".
    missing = re.search(r"(?:unresolved dependency|:): (\S+?)#(\S+?);(\S+?): not found", output)
    if missing:
        return LabError(
            f"Maven's central repository has no {missing[2]} {missing[3]}: is the release right?"
        )
    reason = next(
        (line for line in output.splitlines() if "Exception" in line), "it gave no reason"
    )
    return LabError(f"{name} can't be fetched ({reason}): try again.")


def _ivy(artifacts: list[Artifact]) -> str:
    """The description of what is wanted, as Ivy reads it."""
    wanted, instead = [], []
    for each in artifacts:
        group, name, version = map(quoteattr, (each.group, each.name, each.version))
        # The packaging that a pom names may be none that Ivy knows; what is fetched is a jar.
        wanted.append(
            f'<dependency org={group} name={name} rev={version} conf="default->default">'
            f'<artifact name={name} type="jar" ext="jar"/></dependency>'
        )
        if each.instead:
            instead.append(f"<override org={group} module={name} rev={version}/>")
    return (
        '<ivy-module version="2.0"><info organisation="protocol-lab" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(wanted + instead)}</dependencies></ivy-module>"
    )


def _ivy_jar() -> Path:
    return next(iter(sorted(pyspark_jars().glob("ivy-*.jar"))))


def pyspark_jars() -> Path:
    """The folder of the jars that PySpark brings. Raises LabError if it is not installed."""
    try:
        import pyspark
    except ImportError:
        raise LabError(
            "A real cluster needs what PySpark brings: run `python3 lab.py --with-spark prepare`."
        ) from None
    return Path(pyspark.__file__).parent / "jars"


_SMALL = ("-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""A small heap and a quick start: several processes share a laptop."""


@cache
def java_program() -> Path:
    """The `java` that Spark uses, the wheel's included. Raises LabError."""
    return find_java() / "bin" / "java"


def java_command(
    jars: Iterable[Path], main: str, *arguments: Any, heap: int = 256, options: Iterable[str] = ()
) -> list[Any]:
    """The command that runs a class of these jars; heap is in megabytes."""
    path = os.pathsep.join(map(str, jars))
    return [java_program(), f"-Xmx{heap}m", *_SMALL, *options, "-cp", path, main, *arguments]
