"""Ships the kit and the spec to executors that have only the Python dependencies.

Every package that a search needs (this kit, the spec's own, a learner's module) is packed into an
archive that is named by a hash of its files, and given to the session as an artifact, once. A
worker unpacks it beside the archive, where it is removed with the session, and imports from that
folder before any other. Local mode works like a cluster, so that every search tests this.
"""

import hashlib
import importlib.util
import io
import os
import sys
import sysconfig
import threading
import types
import zipfile
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from protocol_lab.system.folders import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KIT = __name__.partition(".")[0]

SHIPPED = {".py", ".js", ".css", ".json", ".txt"}
"""What is shipped of a package: its modules, and what these may read when they are imported."""

_sent: "WeakKeyDictionary[SparkSession, set[str]]" = WeakKeyDictionary()

_sending = threading.Lock()
"""A search warms Spark up in the background, and may end before that is done: so the next search
does the same at the same time. Spark refuses an archive that it already has."""


def ship(session: "SparkSession", packages: Iterable[str]) -> tuple[str, ...]:
    """Send these packages, or modules, to a session; returns the names of their archives."""
    archives = [_archive(package) for package in packages]
    with _sending:
        sent = _sent.setdefault(session, set())
        for name, content in archives:
            if name not in sent:
                path = _outbox() / name
                path.write_bytes(content)
                session.addArtifacts(str(path), file=True)
                sent.add(name)
    return tuple(name for name, _ in archives)


@cache
def _outbox() -> Path:
    """The folder of the archives: executors fetch them from there as long as this process lives."""
    return temporary_folder("code")


def unpacker(archives: tuple[str, ...]) -> Callable[[], None]:
    """A function that makes the shipped packages importable in a worker.

    It is defined inside this function, so that it is pickled by value: nothing can be imported
    before it has run.
    """
    chosen = os.environ.get("PROTOCOL_LAB_CACHE")

    def unpack() -> None:
        import importlib
        import os
        import shutil
        import sys
        import tempfile
        import zipfile

        if chosen:
            os.environ["PROTOCOL_LAB_CACHE"] = chosen
        wanted = [name.removesuffix(".zip") for name in archives]
        if {os.path.basename(each) for each in sys.path if os.path.isdir(each)}.issuperset(wanted):
            return
        places = []
        for name in wanted:
            candidates = (os.path.join(each, f"{name}.zip") for each in sys.path)
            archive = next(each for each in candidates if os.path.isfile(each))
            place = os.path.join(os.path.dirname(archive), "protocol-lab-code", name)
            if not os.path.isdir(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                part = tempfile.mkdtemp(dir=os.path.dirname(place))
                with zipfile.ZipFile(archive) as packed:
                    packed.extractall(part)
                try:
                    os.rename(part, place)
                except OSError:  # another worker was faster
                    shutil.rmtree(part)
            places.append(place)
        # One version of a package is on the path. And all packages are imported anew, those of an
        # earlier search, too: what they imported would be another module than what this one has.
        before = {
            each: os.path.basename(each).rpartition("-")[0]
            for each in sys.path
            if os.path.basename(os.path.dirname(each)) == "protocol-lab-code"
        }
        now = {name.rpartition("-")[0] for name in wanted}
        sys.path[:] = [*places, *(each for each in sys.path if before.get(each) not in now)]
        for module in list(sys.modules):
            if module.partition(".")[0] in now.union(before.values()):
                del sys.modules[module]
        importlib.invalidate_caches()

    return unpack


def packages_for(modules: Iterable[str]) -> list[str]:
    """The kit, and the packages that these modules are in or use, unless they are installed."""
    found, waiting = [KIT], [each.partition(".")[0] for each in modules]
    while waiting:
        package = waiting.pop()
        if package not in found and _is_own(package):
            found.append(package)
            waiting += _used_by(package)
    return sorted(found)


def _used_by(package: str) -> set[str]:
    """The top-level names of the modules whose functions, classes or selves a package has."""
    loaded = [each for name, each in sys.modules.copy().items() if _is_part(name, package)]
    values = [value for module in loaded for value in list(vars(module).values())]
    return {_module_of(value).partition(".")[0] for value in values}


def _module_of(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    named = getattr(value, "__module__", None)
    return named if isinstance(named, str) else ""


def _is_part(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _is_own(package: str) -> bool:
    """Is it a package or module that was not put there by an installer?"""
    if package == "__main__":
        return False
    places = _files_of(_spec_of(package))
    if not places:
        return False
    standard = {sysconfig.get_path(each) for each in ("stdlib", "platstdlib")}
    path = places[0].resolve()
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not installed and not any(path.is_relative_to(each) for each in standard)


def _spec_of(package: str) -> Any:
    """How a top-level package or module is found. It need not be loaded if one of its parts is."""
    try:
        return importlib.util.find_spec(package)
    except (ImportError, ValueError):  # such as a module that somebody made without a spec
        return None


def _files_of(spec: Any) -> list[Path]:
    """What is shipped of a package or module; nothing of one that is built in."""
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        # A place is there twice if its folder is on Python's path twice.
        places = {*spec.submodule_search_locations}
        files = (file for place in places for file in Path(place).rglob("*.*"))
        return sorted(file for file in files if file.suffix in SHIPPED)
    return [Path(spec.origin)] if str(spec.origin).endswith(".py") else []


def _archive(package: str) -> tuple[str, bytes]:
    """The name and content of a package's archive."""
    spec = _spec_of(package)
    if spec.submodule_search_locations is None:  # its name need not be that of its file
        known = Path(spec.origin).stat()
        file = (Path(spec.origin), f"{package}.py", known.st_mtime_ns, known.st_size)
        return _packed(package, (file,))
    roots = [Path(each).parent for each in spec.submodule_search_locations]
    files = []
    for file in _files_of(spec):
        root = next(each for each in roots if file.is_relative_to(each))
        known = file.stat()
        files.append((file, file.relative_to(root).as_posix(), known.st_mtime_ns, known.st_size))
    return _packed(package, tuple(files))


@lru_cache(maxsize=16)
def _packed(package: str, files: tuple[tuple[Path, str, int, int], ...]) -> tuple[str, bytes]:
    """The same files give the same bytes. Their times and sizes tell whether they are the same."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, name, *_ in files:
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    content = packed.getvalue()
    return f"{package}-{hashlib.sha256(content).hexdigest()[:16]}.zip", content
