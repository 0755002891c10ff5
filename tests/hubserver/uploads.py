"""Endpoints that take files: preupload, large file storage, and the commit itself."""

import base64
import hashlib
import json

from hubserver.exchange import Answer, route
from hubserver.storage import LFS_SUFFIXES


@route("POST", "/api/{kind}/{repo}/preupload/{word}")
def preupload(server, request, kind, repo, word):
    """Which files go to large file storage, and what the repository holds of them already."""
    server.want_writer(request)
    held = server.readable(request, kind, repo).files(word)
    files = []
    for file in request.json()["files"]:
        path = file["path"]
        binary = b"\0" in base64.b64decode(file["sample"])
        large = path.endswith(LFS_SUFFIXES) or binary or file["size"] > server.largest_regular
        known = held.get(path)
        oid = known.etag if known and known.lfs == large else None
        mode = {"uploadMode": "lfs" if large else "regular", "shouldIgnore": False, "oid": oid}
        files.append({"path": path} | mode)
    return Answer.of({"files": files})


@route("POST", "/(datasets/|spaces/)?{repo}.git/info/lfs/objects/batch")
def batch(server, request, repo):
    server.want_writer(request)
    wanted = request.json()
    objects = [action(server, request, file["oid"], file["size"]) for file in wanted["objects"]]
    return Answer.of({"transfer": "basic", "objects": objects})


def action(server, request, oid, size):
    """How to upload one object: not at all, in one piece, or in parts."""
    fields = {"oid": oid, "size": size}
    if server.storage.object(oid).exists():
        return fields
    upload = {"href": f"{request.base}/lfs/{oid}", "header": {}}
    if size > server.part:
        numbers = range(1, -(-size // server.part) + 1)
        parts = {f"{number:05d}": f"{request.base}/lfs/{oid}/{number}" for number in numbers}
        upload = {"href": f"{request.base}/lfs/{oid}/complete", "header": parts}
        upload["header"]["chunk_size"] = str(server.part)
    verify = {"href": f"{request.base}/lfs/{oid}/verify", "header": {}}
    return fields | {"actions": {"upload": upload, "verify": verify}}


@route("PUT", "/lfs/{word}")
def upload(server, request, word):
    if hashlib.sha256(request.body).hexdigest() != word:
        return Answer.error(400, "The content has another sha256")
    server.storage.put(request.body)
    return Answer(200)


@route("PUT", r"/lfs/{word}/(?P<number>\d+)")
def upload_part(server, request, word, number):
    server.parts[word, int(number)] = request.body
    return Answer(200, b"", {"ETag": f'"{hashlib.md5(request.body).hexdigest()}"'})


@route("POST", "/lfs/{word}/complete")
def complete(server, request, word):
    numbers = sorted(part["partNumber"] for part in request.json()["parts"])
    content = b"".join(server.parts.pop((word, number)) for number in numbers)
    if hashlib.sha256(content).hexdigest() != word:
        return Answer.error(400, "The parts make another sha256")
    server.storage.put(content)
    return Answer.of({})


@route("POST", "/lfs/{word}/verify")
def verify(server, request, word):
    path = server.storage.object(word)
    if not path.exists() or path.stat().st_size != request.json()["size"]:
        return Answer.error(404, "Object does not exist on the server")
    return Answer.of({})


@route("POST", "/api/{kind}/{repo}/commit/{word}")
def commit(server, request, kind, repo, word):
    """One commit from lines of JSON; 412 when the branch has moved on."""
    server.want_writer(request)
    repository = server.readable(request, kind, repo)
    lines = [json.loads(line) for line in request.body.splitlines()]
    header = lines[0]["value"]
    added, deleted = {}, []
    for line in lines[1:]:
        value = line["value"]
        if line["key"] == "file":
            added[value["path"]] = base64.b64decode(value["content"])
        elif line["key"] == "lfsFile":
            if not server.storage.object(value["oid"]).exists():
                return Answer.error(400, f"LFS pointer pointed to a missing object: {value}")
            added[value["path"]] = repository.large(value["oid"])
        elif line["key"] == "deletedFile":
            if value["path"] not in repository.files(word):
                return Answer.error(400, f"A file with this name doesn't exist: {value['path']}")
            deleted.append(value["path"])
        else:
            return Answer.error(400, f"unknown operation {line['key']}")
    parent = header.get("parentCommit")
    oid = repository.commit(word, added, tuple(deleted), message=header["summary"], parent=parent)
    page = f"{request.base}/{'' if kind == 'models' else kind + '/'}{repo}/commit/{oid}"
    return Answer.of({"success": True, "commitOid": oid, "commitUrl": page, "hookOutput": ""})
