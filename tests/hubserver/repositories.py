"""Endpoints about repositories: who asks, what there is, branches, tags, history."""

import json

from hubserver.exchange import Answer, route


@route("GET", "/api/whoami-v2")
def whoami(server, request):
    name = server.tokens.get(request.token)
    if name is None:
        return Answer.error(401, "Invalid credentials in Authorization header")
    access = {"role": "write" if server.may_write(request) else "read"}
    return Answer.of({"type": "user", "name": name, "orgs": [], "auth": {"accessToken": access}})


@route("POST", "/api/validate-yaml")
def validate_yaml(server, request):
    """The card's metadata block: a mapping between two lines of dashes."""
    import yaml

    content = request.json()["content"]
    problems = []
    if content.startswith("---\n"):
        try:
            block = yaml.safe_load(content.split("---\n", 2)[1])
            problems += [] if isinstance(block, dict) else ["metadata is no mapping"]
        except yaml.YAMLError as error:
            problems.append(str(error))
    errors = [{"message": problem} for problem in problems]
    return Answer.of({"errors": errors, "warnings": []}, 400 if errors else 200)


@route("POST", "/api/repos/create")
def create(server, request):
    server.want_writer(request)
    wanted = request.json()
    owner = wanted.get("organization") or server.tokens[request.token]
    kind = (wanted.get("type") or "model") + "s"
    name = f"{owner}/{wanted['name']}"
    url = f"{request.base}/{'' if kind == 'models' else kind + '/'}{name}"
    if name in server.storage.names(kind):
        return Answer.of({"error": "You already created this repo", "url": url}, 409)
    private = wanted.get("visibility") == "private" or wanted.get("private", False)  # 2.x, 1.x
    server.storage.create(kind, name, private=private)
    return Answer.of({"url": url, "name": name, "id": name})


@route("GET", "/api/{kind}/{repo}")
def info(server, request, kind, repo):
    return Answer.of(facts(server.readable(request, kind, repo), "main"))


@route("GET", "/api/{kind}/{repo}/revision/{word}")
def info_at(server, request, kind, repo, word):
    return Answer.of(facts(server.readable(request, kind, repo), word))


@route("GET", "/api/{kind}/{repo}/refs")
def refs(server, request, kind, repo):
    found = server.readable(request, kind, repo).refs

    def listed(names, prefix):
        return [
            {"name": name, "ref": f"{prefix}/{name}", "targetCommit": oid}
            for name, oid in sorted(names.items())
        ]

    branches = listed(found["branches"], "refs/heads")
    return Answer.of(
        {"branches": branches, "converts": [], "tags": listed(found["tags"], "refs/tags")}
    )


@route("GET", "/api/{kind}/{repo}/commits/{word}")
def commits(server, request, kind, repo, word):
    repository = server.readable(request, kind, repo)
    oid, history = repository.resolve(word), []
    while oid:
        log = repository.log(oid)
        fields = {"id": oid, "title": log["message"], "message": "", "date": log["date"]}
        history.append(fields | {"authors": []})
        oid = log["parent"]
    return Answer.of(history)


@route("POST", "/api/{kind}/{repo}/tag/{word}")
def tag(server, request, kind, repo, word):
    server.want_writer(request)
    server.readable(request, kind, repo).tag(request.json()["tag"], word)
    return Answer.of({})


@route("DELETE", "/api/{kind}/{repo}/tag/{word}")
def untag(server, request, kind, repo, word):
    server.want_writer(request)
    server.readable(request, kind, repo).untag(word)
    return Answer.of({})


@route("GET", "/api/{kind}")
def listing(server, request, kind):
    """Repositories by downloads, or as asked for, in pages with a Link header."""
    found = []
    for name in server.storage.names(kind):
        repository = server.storage.repository(kind, name)
        fields = {"downloads": 0} | repository.about
        wanted = request.query.get("pipeline_tag")
        if not fields["private"] and wanted in (None, fields.get("pipeline_tag")):
            found.append(fields | {"id": name, "modelId": name})
    order = request.query.get("sort")
    if order:
        found.sort(key=lambda fields: -fields.get(order, 0))
    start = int(request.query.get("cursor", 0))
    end = start + min(server.page, int(request.query.get("limit", server.page)))
    headers = {"Content-Type": "application/json"}
    if end < len(found):
        kept = "&".join(f"{key}={value}" for key, value in request.query.items() if key != "cursor")
        headers["Link"] = f'<{request.base}/api/{kind}?{kept}&cursor={end}>; rel="next"'
    return Answer(200, json.dumps(found[start:end]).encode(), headers)


def facts(repository, revision):
    """What the Hub says of a repository at a revision."""
    oid = repository.resolve(revision)
    log = repository.log(oid)
    return {
        "_id": oid[:24],
        "id": repository.name,
        "author": repository.name.partition("/")[0],
        "sha": oid,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        **repository.about,
        "createdAt": log["date"],
        "lastModified": log["date"],
        "siblings": [{"rfilename": path} for path in log["files"]],
    }
