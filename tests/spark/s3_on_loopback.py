"""An S3 on this machine's loopback, in memory: the requests that PyArrow sends for small files.

Not moto: its botocore wants python-dateutil below 3, and requirements.txt locks a later one.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import BinaryIO
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class S3(ThreadingHTTPServer):
    """The server, with one bucket. `objects` are the contents by key; it denies access to the paths
    in which the pattern `denied` is found."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.objects: dict[str, bytes] = {}
        self.denied = "^$"

    def address(self, path: str, bucket: str = "bucket") -> str:
        """The address of a folder in a bucket, as PyArrow takes it."""
        query = f"scheme=http&endpoint_override=127.0.0.1:{self.server_port}&region=us-east-1"
        return f"s3://somebody:secret@{bucket}/{path}?{query}"


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: S3

    def do_HEAD(self) -> None:
        self._answer_for_object()

    def do_GET(self) -> None:
        self._answer_list() if "list-type" in self._query else self._answer_for_object()

    def do_PUT(self) -> None:
        body = self._body()
        if self._allowed():
            self.server.objects[self._key] = body
            self._answer(200)

    def do_DELETE(self) -> None:
        if self._allowed():
            self.server.objects.pop(self._key, None)
            self._answer(204)

    def do_POST(self) -> None:
        keys = re.findall("<Key>(.*?)</Key>", self._body().decode())  # of ?delete
        if self._allowed():
            for key in keys:
                self.server.objects.pop(key, None)
            self._answer(200, b"<DeleteResult/>")

    @property
    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/bucket").removeprefix("/")

    @property
    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = _joined(self.rfile)
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        chunked = "aws-chunked" in self.headers.get("Content-Encoding", "")
        return _joined(BytesIO(body)) if chunked else body

    def _allowed(self) -> bool:
        if re.search(self.server.denied, self.path):
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif not re.match(r"/bucket(/|\?|$)", self.path):
            self._answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        else:
            return True
        return False

    def _answer_for_object(self) -> None:
        if not self._allowed():
            return
        content = self.server.objects.get(self._key)
        if content is None and self._key:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        elif asked := re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            self._answer(206, content[int(asked[1]) : int(asked[2]) + 1])
        else:
            self._answer(200, content or b"")

    def _answer_list(self) -> None:
        if not self._allowed():
            return
        prefix = self._query.get("prefix", [""])[0]
        found = set()
        for key, content in [*self.server.objects.items()]:
            folder, deeper, _ = key.removeprefix(prefix).partition("/")
            if key.startswith(prefix) and deeper and "delimiter" in self._query:
                folder = escape(f"{prefix}{folder}/")
                found.add(f"<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>")
            elif key.startswith(prefix):
                size = f"<Size>{len(content)}</Size>"
                found.add(f"<Contents><Key>{escape(key)}</Key>{size}</Contents>")
        listed = f"<KeyCount>{len(found)}</KeyCount>{''.join(sorted(found))}"
        self._answer(200, f"<ListBucketResult>{listed}</ListBucketResult>".encode())

    def _answer(self, code: int, content: bytes = b"") -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def _joined(stream: BinaryIO) -> bytes:
    """The chunks of HTTP, or of AWS: each has its size in hex, perhaps a signature, and a line's
    end before and behind it. Lines follow the last one, which is empty."""
    content = b""
    while size := int(stream.readline().partition(b";")[0], 16):
        content += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return content


@contextmanager
def s3() -> Iterator[S3]:
    """A context with such a server."""
    with S3() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
