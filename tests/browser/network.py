"""What the browser can reach: a site with a page, a server of models, and relays that record."""

import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "page.html"


class Site(ThreadingHTTPServer):
    """Serves the page under every name, and takes its report."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SiteHandler)
        self.reports: queue.Queue[dict[str, Any]] = queue.Queue()


class SiteHandler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        answer(self, PAGE.read_bytes(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.reports.put(json.loads(body))
        answer(self, b"", "text/plain")

    def log_message(self, *_: Any) -> None:
        pass


class Models(ThreadingHTTPServer):
    """A server of models that answers anything with an empty object, and counts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ModelsHandler)
        self.requests: list[str] = []


class ModelsHandler(BaseHTTPRequestHandler):
    server: Models

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests.append(f"{self.command} {self.path}")
        answer(self, b"{}", "application/json")

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        pass


def answer(handler: BaseHTTPRequestHandler, body: bytes, content_type: str) -> None:
    handler.send_response(200)
    handler.send_header("content-type", content_type)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class Relay:
    """Passes connections on, byte for byte, and records the first line of each request.

    The target is chosen at a connection's first bytes: from the request for `/rebind` on it is the
    second one, as when a page's name is bound to another address.
    """

    def __init__(self, target: tuple[str, int], rebound: tuple[str, int] | None = None) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = target
        self.rebound = rebound or target
        self.lines: list[str] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(connection,), daemon=True).start()

    def pass_on(self, connection: socket.socket) -> None:
        with connection:
            first = receive(connection)
            if not first:
                return
            self.record(first)
            with socket.create_connection(self.target) as target:
                target.sendall(first)
                back = threading.Thread(target=copy, args=(target, connection), daemon=True)
                back.start()
                while piece := receive(connection):
                    self.record(piece)
                    target.sendall(piece)
                shut(target)
                back.join()

    def record(self, piece: bytes) -> None:
        line = piece.split(b"\r\n", 1)[0].decode("latin-1")
        if not line.endswith(" HTTP/1.1"):
            return
        self.lines.append(line.removesuffix(" HTTP/1.1"))
        if line.startswith("GET /rebind "):
            self.target = self.rebound

    def close(self) -> None:
        self.listener.close()


def copy(source: socket.socket, sink: socket.socket) -> None:
    while piece := receive(source):
        try:
            sink.sendall(piece)
        except OSError:
            return
    shut(sink)


def receive(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""


def shut(sink: socket.socket) -> None:
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@contextmanager
def serving_http(server: ThreadingHTTPServer) -> Iterator[Any]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
