"""Files that want to run code, take all memory, or lead elsewhere."""

import io
import json
import os
import pickle
import random
import struct
import zipfile

import pytest
import torch
from safetensors.torch import save
from written_gguf import gguf

from nar_plugin.checkpoints.reading import read_checkpoint
from nar_plugin.errors import NarError

MUTATIONS = int(os.environ.get("NAR_MUTATIONS", "30"))


def header(entries, length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text


def entry(start, stop, shape=(2,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, stop]}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "header would have 0 bytes"),
        (header(b"{}", 1 << 63), "header would have 9,223,372,036,854,775,808 bytes"),
        (header(b"[]"), "no object"),
        (header(b"{{"), "no JSON"),
        (header(b"[" * 5000 + b"]" * 5000), "no JSON"),
        (header(b'{"a": ' + b"9" * 5000 + b"}"), "too many digits"),
        (header({"a": entry(0, 8), "b": entry(4, 12)}) + bytes(12), "overlap"),
        (header({"a": entry(0, 8)}) + bytes(4), "lacks 4 bytes"),
        (header({"a": entry(0, 9)}) + bytes(9), "do not take 9 bytes"),
        (header({"a": entry(0, 8, [-2])}) + bytes(8), "no whole numbers"),
        (header({"a": entry(0, 8, [True] * 2)}) + bytes(8), "no whole numbers"),
        (header({"a": 5}), "of the tensor 'a'"),
        (header({"a": {"dtype": "F32"}}), "lacks 'shape'"),
    ],
)
def test_safetensors(tmp_path, content, reason):
    file = tmp_path / "a.safetensors"
    file.write_bytes(content)
    with pytest.raises(NarError, match=reason) as raised:
        read_checkpoint(file)
    assert str(file) in str(raised.value)


class Evil:
    def __reduce__(self):
        return os.mkdir, (os.environ["NAR_EVIL"],)


def test_no_pickle_runs_code(tmp_path, monkeypatch):
    target = tmp_path / "made"
    monkeypatch.setenv("NAR_EVIL", str(target))
    value = {"evil": Evil(), "w": torch.zeros(3, 4)}
    for old in (False, True):
        file = tmp_path / f"{old}.pth"
        torch.save(value, file, _use_new_zipfile_serialization=not old)
        assert [each.shape for each in read_checkpoint(file).tensors] == [(3, 4)]
    for protocol in range(6):
        file = tmp_path / f"{protocol}.pkl"
        file.write_bytes(pickle.dumps(Evil(), protocol))
        with pytest.raises(NarError, match="neither a zip nor a row of pickles"):
            read_checkpoint(file)
    assert not target.exists()


def archive(content, **options):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", **options) as out:
        out.writestr("archive/data.pkl", content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive(b""), "cannot be read"),
        (archive(b"\x80\x02}q\x00."), "holds no tensor"),
        (archive(bytes(100 << 20), compression=zipfile.ZIP_DEFLATED), "more than 67,108,864"),
        (archive(b"\x80\x02r\xff\xff\xff\x7f."), "nothing to work on"),  # LONG_BINPUT 2**31 - 1
        (archive(b"\x80\x02ctorch.nn\nModule\n(\x82\x01."), "no state_dict needs"),
        (archive(b"\x80\x02" + b"(" * 100_000 + b"."), "holds no tensor|no storage|work on"),
        (archive(b"\x80\x02(" + b"0" * 10 + b"."), "work on|cannot be read"),
        (archive(b"\x80\x02}")[:-30], "end of a zip"),
        (b"PK\x03\x04" + bytes(40), "end of a zip"),
    ],
)
def test_torch_files(tmp_path, content, reason):
    file = tmp_path / "a.pth"
    file.write_bytes(content)
    with pytest.raises(NarError, match=reason) as raised:
        read_checkpoint(file)
    assert str(file) in str(raised.value)


def test_a_tuple_of_tuples_costs_no_time(tmp_path):
    """Its hash, as a key of a dict, would take two to the power of sixty steps."""
    nested = b"K\x01" + b"".join(b"q%ch%c\x86" % (n, n) for n in range(60))
    file = tmp_path / "a.pth"
    file.write_bytes(archive(b"\x80\x02}" + nested + b"K\x01s."))
    with pytest.raises(NarError, match="holds no tensor"):
        read_checkpoint(file)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GGUF", "does not end"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "would have"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 1 << 63), "does not end"),
        (b"GGUF" + struct.pack("<IQQ", 9, 1, 1), "expected version"),
        (gguf([("a", (2, 2), 0)])[:-3], "does not end"),
        (gguf([("a", (1,) * 9, 0)]), "has 9 sides"),
    ],
)
def test_gguf(tmp_path, content, reason):
    file = tmp_path / "a.gguf"
    file.write_bytes(content)
    with pytest.raises(NarError, match=reason):
        read_checkpoint(file)


@pytest.mark.parametrize("name", ["../a.safetensors", "/etc/a.bin", "a\\b.bin", "a.py", 5, None])
def test_shards_lie_beside_their_index(tmp_path, name):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"w": name}}))
    with pytest.raises(NarError, match="an index of shards: it names"):
        read_checkpoint(index)


def files():
    """A real file of each format."""
    state = {"a.weight": torch.zeros(4, 3), "a.bias": torch.zeros(4), "b": torch.zeros(2, 2, 2)}
    new, old = io.BytesIO(), io.BytesIO()
    torch.save({"state_dict": state, "epoch": 1}, new)
    torch.save(torch.nn.Linear(2, 2), old, _use_new_zipfile_serialization=False)
    index = json.dumps({"weight_map": {"w": "1.safetensors"}}).encode()
    return {
        "a.safetensors": save(state),
        "b.pth": new.getvalue(),
        "c.pth": old.getvalue(),
        "d.gguf": gguf([("blk.0.w", (8, 4), 12), ("v", (8,), 0)], ["k"]),
        "e.safetensors.index.json": index,
    }


def mutated(content, draw):
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        place = draw.randrange(len(changed)) if changed else 0
        kind = draw.randrange(4)
        if kind == 0 and changed:
            changed[place] = draw.randrange(256)
        elif kind == 1:
            del changed[place : place + draw.choice((1, 4, 64))]
        elif kind == 2:
            changed[place:place] = draw.choice((b"\xff" * 8, b"\0" * 8, b"(", b"9" * 30))
        elif changed:
            changed[place : place + 8] = draw.randbytes(8)
    return bytes(changed)


@pytest.mark.parametrize("name", list(files()))
def test_a_mutated_file_is_answered_or_refused(tmp_path, name):
    """`NAR_MUTATIONS=1000 pytest tests/checkpoints/test_hostile.py` does it at length."""
    content = files()[name]
    draw = random.Random(name)
    file = tmp_path / name
    for _ in range(MUTATIONS):
        file.write_bytes(mutated(content, draw))
        try:
            read_checkpoint(file)
        except NarError as error:
            assert str(tmp_path) in str(error) or name in str(error)
