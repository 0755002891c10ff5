import pytest

from nar_plugin import api
from nar_plugin.errors import NarError
from nar_plugin.web.uploads import LARGEST_CONFIG, Uploads
from nar_plugin.web.visitors import asked


@pytest.fixture(scope="module")
def index():
    return api.load_index()


@pytest.fixture
def uploads():
    made = Uploads(largest=4 << 20, room=4 << 20)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["timm:resnet50", "transformers:bert/BertForMaskedLM"])
def test_names_of_built_in_libraries_get_through(name, index, uploads):
    assert asked(f" {name} ", index, uploads, hub=False) == name


@pytest.mark.parametrize(
    "text",
    [
        *("os:system", "builtins:eval", "nar_plugin.cli:main", "my_module:Net", "lucidrains:os"),
        *("/etc/passwd", "./", "../x", "~", "~root", "C:\\x", "config.json", "model.onnx"),
        *("timm:../../etc", "timm:/etc/passwd\x00", "timm:__class__", "timm:a/.b", "file:///etc"),
        *("hub:a/../b", "upload:../../etc", "upload:", "", "x" * 10_000, "timm:resnet50\nos:x"),
    ],
)
def test_no_code_and_no_path_gets_through(text, index, uploads):
    with pytest.raises(NarError):
        asked(text, index, uploads, hub=True)


def test_the_hub_is_asked_only_if_the_operator_allows_it(index, uploads):
    with pytest.raises(NarError, match="does not ask"):
        asked("hub:owner/name", index, uploads, hub=False)
    assert asked("hub:owner/name@v1", index, uploads, hub=True) == "hub:owner/name@v1"
    assert asked("owner/name", index, uploads, hub=True) == "hub:owner/name"


def test_an_upload_is_found_again_and_its_name_is_harmless(tmp_path, uploads, index):
    file = tmp_path / "gradio.onnx"
    file.write_bytes(b"content")
    reference = uploads.keep(file, "<script>alert(1)</script>.onnx")
    found = asked(reference, index, uploads, hub=False)
    assert found.read_bytes() == b"content"
    assert found.name == "script.onnx"
    assert uploads.keep(file, "again.onnx") == reference
    assert uploads.without_folders(f"{found}: bad") == "script.onnx: bad"


@pytest.mark.parametrize("name", ["x.py", "x.pt", "x.pkl", "x", "x.onnx.exe"])
def test_other_kinds_of_files_are_refused(name, tmp_path, uploads):
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(NarError, match="another kind"):
        uploads.keep(tmp_path / "x", name)


def test_uploads_are_bounded(tmp_path, uploads):
    with pytest.raises(NarError, match="at most"):
        uploads.keep_config("{" + " " * LARGEST_CONFIG)
    references = []
    for number in range(3):
        file = tmp_path / f"{number}.onnx"
        file.write_bytes(bytes([number]) * (2 << 20))
        references.append(uploads.keep(file, file.name))
    with pytest.raises(NarError, match="not here any more"):
        uploads.find(references[0])  # the oldest had to go
    assert uploads.find(references[2]).exists()
    assert sum(each.stat().st_size for each in uploads.folder.rglob("*.onnx")) <= 4 << 20
