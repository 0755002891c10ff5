"""Endpoints that give files: the tree, `resolve`, and the host behind it that has large files."""

import re

from hubserver.exchange import Answer, route


@route("GET", "/api/{kind}/{repo}/tree/{word}(/{rest})?")
def tree(server, request, kind, repo, word, rest=""):
    files = server.readable(request, kind, repo).files(word)
    prefix = f"{rest}/" if rest else ""
    inside = {path: entry for path, entry in files.items() if path.startswith(prefix)}
    if request.query.get("recursive", "").lower() not in ("true", "1"):
        inside = {path: entry for path, entry in inside.items() if "/" not in path[len(prefix) :]}
    return Answer.of([described(path, entry) for path, entry in inside.items()])


@route("POST", "/api/{kind}/{repo}/paths-info/{word}")
def paths_info(server, request, kind, repo, word):
    files = server.readable(request, kind, repo).files(word)
    wanted = request.json()["paths"]
    return Answer.of([described(path, files[path]) for path in wanted if path in files])


@route("GET", "/(?:(?P<kind>datasets|spaces)/)?{repo}/resolve/{word}/{rest}")
def resolve(server, request, repo, word, rest, kind="models"):
    """A small file, or for a large one the way to the other host, which gets no token."""
    repository = server.readable(request, kind, repo)
    headers = {"X-Repo-Commit": repository.resolve(word)}
    entry = repository.entry(word, rest)
    if not entry.lfs:
        content = server.storage.object(entry.sha256).read_bytes()
        return ranged(server, request, content, headers | {"ETag": f'"{entry.oid}"'})
    headers |= {"X-Linked-Etag": f'"{entry.sha256}"', "X-Linked-Size": str(entry.size)}
    headers["Location"] = f"{request.cdn}/cdn/{entry.sha256}/{rest}"
    return Answer(302, b"", headers)


@route("GET", "/cdn/{word}/{rest}")
def large(server, request, word, rest):
    if request.token is not None:
        return Answer.error(400, "a token must not leave the Hub")
    content = server.storage.object(word).read_bytes()
    return ranged(server, request, content, {"ETag": f'"{word}"'})


def ranged(server, request, content, headers):
    """The content, or the part that a Range header asks for."""
    headers = headers | {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if not match or not server.ranges:
        return Answer(200, content, headers)
    start, end = int(match[1]), int(match[2] or len(content) - 1)
    if start >= len(content):
        return Answer(416, b"", headers | {"Content-Range": f"bytes */{len(content)}"})
    part = content[start : end + 1]
    place = f"bytes {start}-{start + len(part) - 1}/{len(content)}"
    return Answer(206, part, headers | {"Content-Range": place})


def described(path, entry):
    """A file as the tree lists it."""
    fields = {"type": "file", "path": path, "size": entry.size, "oid": entry.oid}
    if entry.lfs:
        fields["lfs"] = {"oid": entry.sha256, "size": entry.size, "pointerSize": 134}
    return fields
