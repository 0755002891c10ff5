"""A request and its answer, and the table of what is served where."""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

KINDS = {"models": "", "datasets": "datasets/", "spaces": "spaces/"}


@dataclass
class Request:
    """What a client sent. `path` is quoted as it came, `query` holds the last value of a key."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    base: str
    cdn: str

    def json(self):
        return json.loads(self.body)

    @property
    def token(self):
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None


@dataclass
class Answer:
    """What the server sends back. A HEAD request gets the same without the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value, status=200, **headers):
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json"} | named)

    @classmethod
    def error(cls, status, message, code=None):
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        body = json.dumps({"error": message}).encode()
        return cls(status, body, {"Content-Type": "application/json"} | headers)


ROUTES = []


def route(method, pattern):
    """Register a function for a method and a pattern: `{repo}` is owner/name, `{rest}` all."""
    places = {
        "kind": "(?P<kind>models|datasets|spaces)",
        "repo": "(?P<repo>[^/]+/[^/]+)",
        "rest": "(?P<rest>.+)",
        "word": "(?P<word>[^/]+)",
    }
    regex = re.compile(re.sub(r"\{(\w+)\}", lambda match: places[match[1]], pattern))

    def register(function):
        ROUTES.append((method, regex, function))
        return function

    return register


def dispatch(server, request):
    """The answer of the first route that matches."""
    method = "GET" if request.method == "HEAD" else request.method
    for wanted, regex, function in ROUTES:
        match = regex.fullmatch(request.path) if wanted == method else None
        if match:
            words = {name: unquote(text) for name, text in match.groupdict().items() if text}
            return function(server, request, **words)
    return Answer.error(404, f"no such page: {request.path}")
