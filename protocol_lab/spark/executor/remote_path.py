"""A path in a store such as S3 or HDFS, with what a run folder needs of `pathlib.Path`.

    s3://bucket/run             with the credentials and the region that each machine finds for AWS
    hdfs://namenode:8020/run    by Hadoop's libhdfs

`pyarrow.fs` does the work. A file is written in one go and read whole into memory. S3 shows a file
only when it is complete; elsewhere a process that is killed may leave half a file, which has the
wrong checksum.
"""

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pyarrow as pa
from pyarrow import fs

from protocol_lab.errors import LabError

_CAUSES = (
    ("Unrecognized filesystem type", "an address begins with s3:// or hdfs://"),
    ("NO_SUCH_BUCKET|Bucket '.*' not found", "there is no such bucket; make it first"),
    (
        "ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|SIGNATURE|HTTP status 40[13]",
        "access is denied: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for the"
        " driver and on every executor",
    ),
    (
        "NETWORK_CONNECTION|HDFS connection failed",
        "it can't be reached: check the network, and the host or the region that the address names",
    ),
    (
        "libhdfs|libjvm",
        "PyArrow finds no Hadoop: set JAVA_HOME, HADOOP_HOME, and CLASSPATH to what `hadoop"
        " classpath --glob` prints",
    ),
)


@dataclass(frozen=True)
class RemotePath:
    """A path below an address. It holds no connection, and can be pickled.

    root: the address, perhaps with credentials, which str() leaves out; names: the path from there.
    Its methods raise FileNotFoundError as those of `pathlib.Path` do, and LabError for anything
    else that the store refuses: it may work a minute later, and nothing is to be taken for damaged.
    """

    root: str = field(repr=False)
    names: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(self.root, (*self.names, name))

    def __str__(self) -> str:
        return "/".join([_shown(self.root), *self.names])

    @property
    def name(self) -> str:
        """The last of its names."""
        return self.names[-1]

    @contextmanager
    def _used(self) -> Iterator[tuple[fs.FileSystem, str]]:
        """The file system and the path in it. Turns what PyArrow raises inside into a sentence."""
        try:
            files, base = _opened(self.root)
            yield files, "/".join([base.rstrip("/"), *self.names])
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self)) from None
        except (OSError, pa.ArrowException) as error:
            said = str(error).replace(self.root, _shown(self.root)).splitlines()[0].rstrip(".")
            known = [cause for pattern, cause in _CAUSES if re.search(pattern, said)]
            raise LabError(f"{self} can't be used: {(known or [said])[0]}.") from None

    def _type(self) -> fs.FileType:
        with self._used() as (files, path):
            return files.get_file_info(path).type

    def exists(self) -> bool:
        """Is there a file or a folder?"""
        return self._type() != fs.FileType.NotFound

    def is_dir(self) -> bool:
        """Is it a folder?"""
        return self._type() == fs.FileType.Directory

    def is_symlink(self) -> bool:
        """Stores have no links."""
        return False

    def iterdir(self) -> Iterator["RemotePath"]:
        """What is in the folder."""
        with self._used() as (files, path):
            found = files.get_file_info(fs.FileSelector(path))
        return (self / each.base_name for each in found)

    def glob(self, pattern: str) -> Iterator["RemotePath"]:
        """What is in the folder and has such a name."""
        return (each for each in self.iterdir() if fnmatch(each.name, pattern))

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing: a folder comes with the first file in it."""

    def read_bytes(self) -> bytes:
        """All of the file."""
        with self._used() as (files, path), files.open_input_file(path) as stream:
            return stream.read()

    def write(self, *contents: Any) -> None:
        """Write these buffers, one after the other."""
        with self._used() as (files, path), files.open_output_stream(path, None) as stream:
            for each in contents:
                stream.write(each)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""
        try:
            with self._used() as (files, path):
                files.delete_file(path)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def remove_tree(self) -> None:
        """Remove the folder and all in it."""
        with self._used() as (files, path):
            files.delete_dir(path)


AnyPath = Path | RemotePath


def path_of(folder: "str | AnyPath") -> AnyPath:
    """The absolute path of a local folder, or the path at an address such as s3://bucket/run.

    Raises LabError if there is no file system for the address.
    """
    if isinstance(folder, RemotePath):
        return folder
    if isinstance(folder, str) and re.match(r"\w[\w+.-]+://", folder):
        if not folder.startswith("file:"):
            address = re.sub("^s3a:", "s3:", folder)
            if address.startswith("s3:"):  # then a small file is one request
                address += f"{'&' if '?' in address else '?'}allow_delayed_open=true"
            found = RemotePath(address)
            with found._used():
                return found
        folder = url2pathname(urlsplit(folder).path)
    return Path(folder).absolute()


def tables_folder(folder: str | AnyPath) -> Path:
    """The folder of tables, which Spark itself writes and reads. Raises LabError for a store."""
    found = path_of(folder)
    if isinstance(found, RemotePath):
        raise LabError(
            f"Tables are not kept in a store: name a folder that all machines see, not {found}."
        )
    return found


def write_whole(path: AnyPath, *contents: Any) -> None:
    """Write these buffers to a file, which gets its name only when it is complete."""
    if isinstance(path, RemotePath):
        return path.write(*contents)
    part = path.with_suffix(f".{uuid.uuid4().hex}.part")
    try:
        with part.open("wb") as stream:
            for each in contents:
                stream.write(each)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_tree(path: AnyPath) -> None:
    """Remove a folder and all in it."""
    path.remove_tree() if isinstance(path, RemotePath) else shutil.rmtree(path)


def _shown(address: str) -> str:
    """The address without credentials and settings."""
    address = re.sub(r"(?<=://)[^@/]*:(?!\d+/)[^@]*@", "", address.partition("?")[0])
    return unquote(address).rstrip("/")


@lru_cache
def _opened(address: str) -> tuple[fs.FileSystem, str]:
    """The file system and the path in it, opened once in each process."""
    return fs.FileSystem.from_uri(address)
