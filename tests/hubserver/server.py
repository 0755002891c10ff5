"""The server itself: HTTP, who may do what, faults, and a log of every request."""

import re
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from hubserver import downloads, repositories, uploads  # noqa: F401  (they fill the table)
from hubserver.exchange import Answer, Request, dispatch
from hubserver.faults import Fault
from hubserver.storage import Conflict, Missing, Storage

PIECE = 65536


@dataclass(frozen=True)
class Logged:
    """One request: when it came, what was asked, and how many bytes of body were sent."""

    at: float
    method: str
    path: str
    status: int
    sent: int
    range: str


class Refused(Exception):
    """The client may not do this."""

    def __init__(self, status, message, code=None):
        super().__init__(message)
        self.answer = Answer.error(status, message, code)


class HubServer:
    """A Hugging Face Hub on loopback, with its repositories in a folder.

    Example:
        ```python
        with HubServer(tmp_path) as server:
            HfApi(endpoint=server.url, token="writer").create_repo("owner/name")
        ```

    Attributes:
        tokens: User name by token; `reader` may only read.
        faults: What goes wrong, first match first.
        log: Every request, in the order in which they ended.
        part: Larger files are uploaded in parts of so many bytes.
        page: Entries on a page of a listing.
        ranges: Whether a part of a file can be asked for.
        largest_regular: Larger files go to large file storage.
    """

    def __init__(self, folder):
        self.storage = Storage(folder)
        self.tokens = {"writer": "owner", "other": "other", "reader": "guest"}
        self.faults: list[Fault] = []
        self.log: list[Logged] = []
        self.parts: dict[tuple[str, int], bytes] = {}
        self.part = 64 << 20
        self.page = 1000
        self.ranges = True
        self.largest_regular = 5 << 20
        self.busy = 0
        self.idle = threading.Condition()
        handler = type("BoundHandler", (Handler,), {"hub": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.cdn = f"http://localhost:{self.port}"  # another host: clients keep the token back

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()

    def fail(self, **fields) -> Fault:
        """Add a fault; `server.faults.clear()` ends them all."""
        self.faults.append(Fault(**fields))
        return self.faults[-1]

    def sent(self, path: str = "") -> int:
        """Bytes of bodies sent for paths that contain this."""
        return sum(logged.sent for logged in self.asked(path=path))

    def asked(self, method: str = "", path: str = "") -> list[Logged]:
        """The requests of a method whose path contains this, those under way awaited."""
        with self.idle:
            self.idle.wait_for(lambda: self.busy == 0, timeout=10)
            return [one for one in self.log if method in one.method and path in one.path]

    def forget(self) -> None:
        """Empty the log, when the requests under way have ended."""
        self.asked()
        self.log.clear()

    def may_write(self, request) -> bool:
        return request.token in self.tokens and request.token != "reader"

    def want_writer(self, request) -> None:
        if request.token not in self.tokens:
            raise Refused(401, "Invalid username or password.")
        if not self.may_write(request):
            raise Refused(403, "Forbidden: you must use a write token")

    def readable(self, request, kind, name):
        """The repository; without a token one that is missing looks as a private one does."""
        known = request.token in self.tokens
        if request.token is not None and not known:
            raise Refused(401, "Invalid credentials in Authorization header")
        try:
            repository = self.storage.repository(kind, name)
        except Missing:
            raise Refused(404 if known else 401, "Repository not found", "RepoNotFound") from None
        if repository.about["private"] and not known:
            raise Refused(401, "Repository not found", "RepoNotFound")
        if repository.about.get("gated") and not self.may_write(request):
            raise Refused(403, "Access to this dataset is restricted", "GatedRepo")
        return repository

    def answer(self, request) -> Answer:
        """What to send back, faults aside."""
        try:
            return dispatch(self, request)
        except Refused as refused:
            return refused.answer
        except Missing as missing:
            return Answer.error(404, str(missing), missing.code)
        except Conflict as conflict:
            return Answer.error(412 if "/commit/" in request.path else 409, str(conflict))


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP/1.1 for the hub that it belongs to."""

    hub: HubServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def serve(self):
        with self.hub.idle:
            self.hub.busy += 1
        try:
            self.hub.log.append(self._serve())
        finally:
            with self.hub.idle:
                self.hub.busy -= 1
                self.hub.idle.notify_all()

    def _serve(self):
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if length else self._chunks()
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query))
        hub = self.hub
        request = Request(self.command, parts.path, query, headers, body, hub.url, hub.cdn)
        faults = [fault for fault in hub.faults if fault.strikes(self.command, parts.path)]
        fault = faults[0] if faults else Fault()
        started = time.monotonic()
        answer = hub.answer(request) if fault.status is None else self._refusal(fault)
        time.sleep(fault.delay)
        if fault.body is not None:
            answer = Answer(200, fault.body, {"Content-Type": "text/html"})
        answer.headers.update(fault.headers)
        sent = self._send(answer, fault)
        place = headers.get("range", "")
        return Logged(started, self.command, parts.path, answer.status, sent, place)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve

    def _chunks(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return b""
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _refusal(self, fault):
        answer = Answer.error(fault.status, f"status {fault.status} on purpose", fault.code)
        if fault.retry_after is not None:
            answer.headers["Retry-After"] = str(fault.retry_after)
        return answer

    def _send(self, answer, fault):
        """Send the answer as the fault lets it pass; the bytes of body that went out."""
        body = answer.body
        if answer.status in (200, 206):
            start = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
            body = fault.damage(body, int(start[1]) if start else 0)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return 0
        end = len(body) if fault.cut is None else min(fault.cut, len(body))
        sent = 0
        try:
            while sent < end:
                if fault.pause:
                    time.sleep(fault.pause)
                piece = body[sent : min(sent + PIECE, end)]
                self.wfile.write(piece)
                sent += len(piece)
        except OSError:  # the client has gone
            self.close_connection = True
        if end < len(body):
            self.close_connection = True
        return sent

    def log_message(self, *_):
        """Nothing on stderr: `HubServer.log` has it all."""
