"""Repositories in a folder: contents by their sha256, commits by the hash of what they hold."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

LFS_SUFFIXES = (".safetensors", ".parquet", ".faiss", ".bin")
ATTRIBUTES = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in LFS_SUFFIXES)


@dataclass(frozen=True)
class Entry:
    """A file of a commit. The oid is git's; for a large file it is that of its pointer."""

    sha256: str
    size: int
    oid: str
    lfs: bool

    @property
    def etag(self):
        return self.sha256 if self.lfs else self.oid


class Conflict(Exception):
    """Somebody was there first."""


class Missing(Exception):
    """There is no such repository, revision or file; the code is the Hub's X-Error-Code."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Storage:
    """All repositories and contents of a server."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "objects").mkdir(parents=True, exist_ok=True)
        self.lock = threading.RLock()

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.object(sha256)
        if not path.exists():
            part = path.with_name(f"{sha256}.{threading.get_ident()}")
            part.write_bytes(content)
            part.replace(path)
        return sha256

    def object(self, sha256: str) -> Path:
        assert len(sha256) == 64 and set(sha256) <= set("0123456789abcdef")
        return self.folder / "objects" / sha256

    def create(self, kind: str, name: str, *, private: bool) -> "Repository":
        folder = self._folder(kind, name)
        with self.lock:
            if folder.exists():
                raise Conflict("You already created this repo")
            (folder / "commits").mkdir(parents=True)
            (folder / "about.json").write_text(json.dumps({"private": private}))
            (folder / "refs.json").write_text('{"branches": {}, "tags": {}}')
            repository = Repository(self, kind, name, folder)
            repository.commit("main", {".gitattributes": ATTRIBUTES.encode()}, message="initial")
        return repository

    def repository(self, kind: str, name: str) -> "Repository":
        folder = self._folder(kind, name)
        if not (folder / "refs.json").exists():
            raise Missing("RepoNotFound")
        return Repository(self, kind, name, folder)

    def names(self, kind: str) -> list[str]:
        folders = sorted((self.folder / "repos" / kind).glob("*/*/refs.json"))
        return [f"{path.parent.parent.name}/{path.parent.name}" for path in folders]

    def _folder(self, kind, name):
        owner, _, short = name.partition("/")
        if not owner or not short or "/" in short or {owner, short} & {".", ".."}:
            raise Missing("RepoNotFound")
        return self.folder / "repos" / kind / owner / short


class Repository:
    """Branches, tags and commits of one repository; a commit lists every file that it holds."""

    def __init__(self, storage, kind, name, folder):
        self.storage, self.kind, self.name, self.folder = storage, kind, name, folder

    @property
    def refs(self) -> dict[str, dict[str, str]]:
        return json.loads((self.folder / "refs.json").read_text())

    @property
    def about(self) -> dict:
        return json.loads((self.folder / "about.json").read_text())

    def describe(self, **facts) -> None:
        """Facts that the listing shows, such as downloads and pipeline_tag."""
        (self.folder / "about.json").write_text(json.dumps(self.about | facts))

    def resolve(self, revision: str) -> str:
        refs = self.refs
        for names in (refs["branches"], refs["tags"]):
            if revision in names:
                return names[revision]
        if len(revision) == 40 and (self.folder / "commits" / f"{revision}.json").exists():
            return revision
        raise Missing("RevisionNotFound")

    def files(self, revision: str) -> dict[str, Entry]:
        files = self.log(revision)["files"]
        return {path: Entry(**entry) for path, entry in files.items()}

    def log(self, revision: str) -> dict:
        commit = self.resolve(revision)
        return json.loads((self.folder / "commits" / f"{commit}.json").read_text())

    def entry(self, revision: str, path: str) -> Entry:
        files = self.files(revision)
        if path not in files:
            raise Missing("EntryNotFound")
        return files[path]

    def read(self, revision: str, path: str) -> bytes:
        return self.storage.object(self.entry(revision, path).sha256).read_bytes()

    def commit(
        self,
        branch: str,
        added: Mapping[str, "bytes | Entry"],
        deleted: tuple[str, ...] = (),
        *,
        message: str = "commit",
        parent: str | None = None,
    ) -> str:
        """One commit; a parent that is not the branch's head any more is a conflict."""
        with self.storage.lock:
            refs = self.refs
            head = refs["branches"].get(branch)
            if parent is not None and parent != head:
                raise Conflict("A commit has happened since. Please refresh and try again.")
            files = self.files(head) if head else {}
            for path in deleted:
                for held in [name for name in files if name == path or name.startswith(path)]:
                    del files[held]
            for path, content in added.items():
                files[path] = content if isinstance(content, Entry) else self._regular(content)
            record = {
                "parent": head,
                "message": message,
                "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "files": {path: asdict(entry) for path, entry in sorted(files.items())},
            }
            text = json.dumps(record, sort_keys=True)
            oid = hashlib.sha1(text.encode()).hexdigest()
            (self.folder / "commits" / f"{oid}.json").write_text(text)
            refs["branches"][branch] = oid
            self._write_refs(refs)
        return oid

    def tag(self, name: str, revision: str) -> None:
        with self.storage.lock:
            refs = self.refs
            if name in refs["tags"]:
                raise Conflict(f"Tag {name} already exists")
            refs["tags"][name] = self.resolve(revision)
            self._write_refs(refs)

    def untag(self, name: str) -> None:
        with self.storage.lock:
            refs = self.refs
            if refs["tags"].pop(name, None) is None:
                raise Missing("RevisionNotFound")
            self._write_refs(refs)

    def large(self, sha256: str) -> Entry:
        """The entry of an uploaded large file."""
        size = self.storage.object(sha256).stat().st_size
        return Entry(sha256, size, git_oid(pointer(sha256, size)), True)

    def _regular(self, content):
        return Entry(self.storage.put(content), len(content), git_oid(content), False)

    def _write_refs(self, refs):
        part = self.folder / "refs.part"
        part.write_text(json.dumps(refs))
        part.replace(self.folder / "refs.json")


def git_oid(content: bytes) -> str:
    """The hash that git gives to a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def pointer(sha256: str, size: int) -> bytes:
    """What git keeps of a large file."""
    version = "version https://git-lfs.github.com/spec/v1"
    return f"{version}\noid sha256:{sha256}\nsize {size}\n".encode()
