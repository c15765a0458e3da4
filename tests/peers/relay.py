"""A relay that sends the events of an upstream slowly, as a model does."""

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INTERVAL = 0.2


class Relay(BaseHTTPRequestHandler):
    """Forwards a request; waits after each event of a streamed answer."""

    upstream = ""

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        connection = http.client.HTTPConnection(self.upstream)
        headers = {key: it for key, it in self.headers.items() if key.lower() != "host"}
        connection.request(self.command, self.path, self.rfile.read(length), headers)
        answer = connection.getresponse()
        self.send_response(answer.status)
        self.send_header("content-type", answer.getheader("content-type", ""))
        self.end_headers()
        try:
            for line in answer:
                self.wfile.write(line)
                if line == b"\n":
                    time.sleep(INTERVAL)
        except OSError:
            pass  # The gateway left.
        connection.close()

    do_POST = do_DELETE = do_GET

    def log_message(self, *_arguments) -> None:
        pass


def start_relay(upstream: str) -> str:
    """Starts a relay in a thread of this process, and returns its URL."""
    handler = type("BoundRelay", (Relay,), {"upstream": upstream.removeprefix("http://")})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
