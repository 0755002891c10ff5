"""What a state_dict is found to be."""

import json
import random

import pytest
import torch
from checkpoint_designs import Attends, convolves, perceptron

import nar_plugin
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index import ArchitectureIndex


def ask(index, state, k=3, **options):
    return nar_plugin.find_similar(state, k, index=index, **options)


@pytest.mark.parametrize(
    ("model", "name", "loads"),
    [
        (convolves(4), "timm:deep", "timm.create_model('deep')"),
        (Attends(True), "transformers:attends/AttendsForWords", "transformers.AttendsForWords"),
        (perceptron(), "my:perceptron", "my:perceptron (Sequential)"),
    ],
)
def test_its_own_design_is_first_and_exact(index, model, name, loads):
    hit = ask(index, model.state_dict())[0]
    assert (hit.name, hit.score, hit.exact, hit.loads) == (name, 1.0, True, (loads,))
    assert hit.explained == hit.tensors
    assert not (hit.left_over or hit.missing or hit.resized or hit.direct)


def test_names_do_not_rank(index):
    state = list(convolves(4).state_dict().values())
    random.Random(0).shuffle(state)
    renamed = {str(place): value for place, value in enumerate(state)}
    asked, other = ask(index, renamed), ask(index, convolves(4).state_dict())
    assert [(hit.name, hit.score) for hit in asked] == [(hit.name, hit.score) for hit in other]


def test_three_layers_are_the_packed_one(index):
    hit = ask(index, Attends(False).state_dict())[0]
    assert (hit.name, hit.score, hit.exact) == ("transformers:attends/AttendsForWords", 1.0, True)


def test_other_classes_and_words(index):
    hit = ask(index, Attends(True, words=9000, classes=40).state_dict())[0]
    assert hit.name == "transformers:attends/AttendsForWords"
    assert set(hit.resized) == {((32, 9000), (32, 6000)), ((32, 40), (5, 32)), ((40,), (5,))}
    assert not (hit.left_over or hit.missing or hit.exact)


def test_what_is_left_over_and_missing(index):
    state = convolves(4).state_dict()
    del state["3.weight"]
    state["extra.\x1b[31m"] = torch.zeros(77, 13)
    similar = ask(index, state)
    hit = similar[0]
    assert hit.name == "timm:deep"
    assert [(each.shape, each.count) for each in hit.missing] == [((3, 3, 16, 16), 1)]
    assert [(each.shape, each.names) for each in hit.left_over] == [((77, 13), ("extra.\x1b[31m",))]
    told = repr(similar)
    assert "By tensor shapes only" in told
    assert "left over, not in timm:deep: 1 of [77, 13] (extra.)" in told
    assert "missing in the file: 1 of [3, 3, 16, 16]" in told
    assert "\x1b[31m" not in told


def test_a_quantized_file_and_a_half_one(index):
    state = Attends(True).state_dict()
    for block in ("0", "1"):
        weight = state.pop(f"blocks.{block}.qkv.weight")
        out, entering = weight.shape
        words = {
            "qweight": torch.zeros(entering // 8, out, dtype=torch.int32),
            "qzeros": torch.zeros(1, out // 8, dtype=torch.int32),
            "scales": torch.zeros(1, out, dtype=torch.float16),
        }
        state |= {f"blocks.{block}.qkv.{word}": value for word, value in words.items()}
    similar = ask(index, {name: value.half() if value.is_floating_point() else value
                          for name, value in state.items()})  # fmt: skip
    assert similar.query.packing == "GPTQ or AWQ"
    assert (similar[0].name, similar[0].exact) == ("transformers:attends/AttendsForWords", True)


def test_an_adapter(index):
    state = {}
    for block in (0, 1):
        for layer in ("q", "v"):
            state[f"m.{block}.{layer}.lora_A.weight"] = torch.zeros(4, 32)
            state[f"m.{block}.{layer}.lora_B.weight"] = torch.zeros(32, 4)
    similar = ask(index, state)
    assert similar.query.adapter
    assert similar[0].name == "transformers:attends/AttendsForWords"
    assert not similar[0].missing


def test_conditions_json_and_a_slice(index):
    similar = ask(index, convolves(4).state_dict(), where={"library": "my"})
    assert {hit.name for hit in similar} <= {"my:perceptron"}
    whole = ask(index, convolves(4).state_dict())
    told = json.loads(json.dumps(whole.to_dict()))
    assert told["hits"][0]["name"] == "timm:deep"
    assert told["hits"][0]["loads"] == ["timm.create_model('deep')"]
    assert told["notes"][0].startswith("By tensor shapes only")
    assert len(whole[:1]) == 1


def test_what_a_checkpoint_cannot_be_asked(index, tmp_path):
    state = perceptron().state_dict()
    with pytest.raises(NarError, match="a checkpoint: it has tensors and no modules"):
        ask(index, state, at="0")
    file = tmp_path / "weights.pth"
    torch.save(state, file)
    for question in (nar_plugin.trace, nar_plugin.motifs, nar_plugin.embed):
        with pytest.raises(NarError, match=r"it holds weights, and no forward: find_similar"):
            question(file)
    with pytest.raises(NarError, match="without a forward; find_similar says"):
        nar_plugin.compare(state, state)
    empty = {"steps": torch.zeros((), dtype=torch.long)}
    with pytest.raises(NarError, match="has no tensor of weights"):
        ask(index, empty)


def test_an_index_without_graphs_says_so(index):
    rows, vectors = [index.contents.row(0)], index.contents.vectors[:1]
    bare = ArchitectureIndex.from_rows(rows, vectors, "e", "0" * 64, tracer="1", fingerprint="1")
    with pytest.raises(IndexUnavailable, match="came without graphs"):
        ask(bare, perceptron().state_dict())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "loads"),
    [
        ("timm:resnet50", "timm.create_model('resnet50')"),
        ("transformers:bert/BertForMaskedLM", "transformers.BertForMaskedLM"),
        ("transformers:gpt2", "transformers.GPT2Model"),
    ],
)
def test_the_index_that_ships_knows_well_known_weights(name, loads):
    from nar_plugin.references import as_model

    pytest.importorskip(name.partition(":")[0])
    similar = nar_plugin.find_similar(as_model(name).state_dict(), 3)
    assert loads in similar[0].loads
    assert similar[0].exact
