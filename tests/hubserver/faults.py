"""What can go wrong between a server and its client, on purpose."""

import re
from dataclasses import dataclass, field


@dataclass
class Fault:
    """Applied to requests whose path matches, at most so many times.

    Attributes:
        path: Regular expression on the path of the request.
        methods: Of these methods only.
        times: How often it strikes; None is always.
        skip: So many matching requests pass before it begins.
        status: Answer with this status in place of the content.
        code: `X-Error-Code` of that answer.
        retry_after: `Retry-After` of that answer, in seconds.
        cut: Close the connection after so many bytes of the body.
        flip: Invert one bit of the byte at this place of the content.
        truncate: Serve only so many bytes of the content, as if there were no more.
        extra: Serve so many bytes more than there are.
        headers: In place of those of the answer that have these names.
        body: In place of the content, with status 200: a login page of a network.
        delay: Seconds to wait before the answer.
        pause: Seconds to wait before each piece of 64 kB.
    """

    path: str = ""
    methods: tuple[str, ...] = ("GET", "HEAD", "POST", "PUT")
    times: int | None = None
    skip: int = 0
    status: int | None = None
    code: str | None = None
    retry_after: int | None = None
    cut: int | None = None
    flip: int | None = None
    truncate: int | None = None
    extra: int = 0
    pause: float = 0.0
    delay: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None

    def strikes(self, method: str, path: str) -> bool:
        """Whether it applies to this request; counts it."""
        if method not in self.methods or not re.search(self.path, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0

    def damage(self, part: bytes, start: int = 0) -> bytes:
        """A part of the content, from this place on, as the client gets to see it."""
        if self.truncate is not None:
            part = part[: max(0, self.truncate - start)]
        if self.flip is not None and start <= self.flip < start + len(part):
            place = self.flip - start
            part = part[:place] + bytes([part[place] ^ 1]) + part[place + 1 :]
        return part + bytes(self.extra)
