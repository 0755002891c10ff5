"""Models as people have them in hand: adapted, quantized, offloaded, compiled, wrapped.

Each must trace as its plain origin does, or be refused with the way round.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from models import ConvNet
from torch import nn

from nar_plugin.tracing import trace

transformers = pytest.importorskip("transformers")

IDS = torch.arange(16)[None]


def llama():
    config = transformers.LlamaConfig(
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        vocab_size=200,
    )
    return transformers.LlamaForCausalLM(config)


@pytest.fixture(scope="module")
def plain():
    return trace(llama(), {"input_ids": IDS}).fingerprint


def lora():
    peft = pytest.importorskip("peft")
    return peft.get_peft_model(
        llama(), peft.LoraConfig(target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    )


def lora_merged():
    return lora().merge_and_unload()


def bitsandbytes_4bit():
    bnb = pytest.importorskip("bitsandbytes")
    model = llama()
    for layer in model.model.layers:
        old = layer.mlp.gate_proj
        layer.mlp.gate_proj = bnb.nn.Linear4bit(old.in_features, old.out_features, bias=False)
        layer.mlp.gate_proj.weight = bnb.nn.Params4bit(old.weight.data, requires_grad=False)
    return model.to("cpu")  # this is what packs the weights


def bitsandbytes_8bit():
    bnb = pytest.importorskip("bitsandbytes")
    model = llama()
    for layer in model.model.layers:
        old = layer.mlp.up_proj
        layer.mlp.up_proj = bnb.nn.Linear8bitLt(
            old.in_features, old.out_features, bias=False, has_fp16_weights=False
        )
    return model


def torchao_int8():
    quantization = pytest.importorskip("torchao.quantization")
    model = llama()
    quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
    return model


def torch_dynamic_int8():
    return torch.ao.quantization.quantize_dynamic(llama(), {nn.Linear})


def offloaded(tmp_path):
    accelerate = pytest.importorskip("accelerate")
    names = ["embed_tokens", "layers.0", "layers.1", "norm", "rotary_emb"]
    places = {f"model.{name}": "cpu" for name in names} | {"lm_head": "cpu"}
    places["model.layers.1"] = "disk"
    return accelerate.dispatch_model(
        llama(), device_map=places, offload_dir=str(tmp_path), main_device="cpu"
    )


def checkpointed():
    model = llama()
    model.gradient_checkpointing_enable()
    return model.train()


def compiled_in_place():
    model = llama()
    model.compile(backend="aot_eager")
    return model


def lightning_module():
    lightning = pytest.importorskip("lightning")

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = llama()

        def forward(self, input_ids):
            return self.net(input_ids=input_ids).logits

        def training_step(self, batch, _):
            return self(batch).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    model = Lit()
    trainer = lightning.Trainer(
        max_steps=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, torch.utils.data.DataLoader([IDS[0]]))
    return model


@pytest.fixture
def process_group():
    import torch.distributed as dist

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize(
    "build",
    [
        lora,
        lora_merged,
        bitsandbytes_4bit,
        bitsandbytes_8bit,
        torchao_int8,
        torch_dynamic_int8,
        checkpointed,
        compiled_in_place,
        lightning_module,
    ],
    ids=lambda build: build.__name__,
)
def test_it_traces_as_its_plain_origin(build, plain):
    assert trace(build(), {"input_ids": IDS}).fingerprint == plain


def test_offloaded_by_accelerate(plain, tmp_path):
    assert trace(offloaded(tmp_path), {"input_ids": IDS}).fingerprint == plain


def test_distributed_data_parallel(plain, process_group):
    model = nn.parallel.DistributedDataParallel(llama())
    assert trace(model, {"input_ids": IDS}).fingerprint == plain


def test_fully_sharded(plain, process_group):
    fsdp = pytest.importorskip("torch.distributed.fsdp")
    model = llama()
    for layer in model.model.layers:
        fsdp.fully_shard(layer)
    fsdp.fully_shard(model)
    assert trace(model, {"input_ids": IDS}).fingerprint == plain


def test_the_guessed_inputs_give_the_same_graph(plain):
    assert trace(llama()).fingerprint == plain


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224", "efficientnet_b0"])
@pytest.mark.parametrize("settings", [{"features_only": True}, {"num_classes": 0}], ids=str)
def test_timm_without_its_head(name, settings):
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        whole, body = timm.create_model(name), timm.create_model(name, **settings)
    whole, body = trace(whole), trace(body)
    assert 0.8 * len(whole) < len(body) < len(whole)
    assert set(body.ops) <= set(whole.ops)


def test_the_parts_of_a_diffusers_pipeline():
    diffusers = pytest.importorskip("diffusers")
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64),
        layers_per_block=1,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=32,
        norm_num_groups=8,
    )
    inputs = {
        "sample": torch.empty(1, 4, 16, 16),
        "timestep": torch.tensor([1]),
        "encoder_hidden_states": torch.empty(1, 7, 32),
    }
    kinds = {op.kind for op in trace(unet, inputs).ops}
    assert {"conv", "attention", "group_norm", "silu", "upsample"} <= kinds
    vae = diffusers.AutoencoderKL(block_out_channels=(32,), norm_num_groups=8)
    assert "conv" in {op.kind for op in trace(vae, torch.empty(1, 3, 32, 32)).ops}


def test_a_default_device_is_nothing_of_the_design(plain):
    with torch.device("meta"):
        there = llama()
        inside = [trace(there), trace(llama())]
    assert {graph.fingerprint for graph in inside} == {plain}
    assert {graph.inputs for graph in inside} == {trace(there).inputs}


def test_checkpointed_timm_models():
    timm = pytest.importorskip("timm")
    model = timm.create_model("vit_tiny_patch16_224")
    before = trace(model).fingerprint
    model.set_grad_checkpointing(True)
    assert trace(model).fingerprint == before


def test_a_forward_replaced_on_the_instance():
    model = ConvNet()
    model.forward = lambda x: ConvNet.forward(model, x) * 2
    assert len(trace(model, torch.empty(1, 3, 16, 16))) == 6


def gelu_of_product(x, weight):
    return nn.functional.gelu(x @ weight) + x


class CallsFunction(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))
        self.function = function

    def forward(self, x):
        return self.function(x, self.weight)


@pytest.mark.parametrize("ran", [False, True])
def test_a_forward_may_call_compiled_functions(ran):
    x = torch.randn(2, 8)
    model = CallsFunction(torch.compile(gelu_of_product, backend="aot_eager"))
    if ran:
        model(x)
    assert trace(model, x).fingerprint == trace(CallsFunction(gelu_of_product), x).fingerprint


def test_a_compiled_function_is_not_compiled_for_a_trace():
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph.forward

    model = CallsFunction(torch.compile(gelu_of_product, backend=backend))
    x = torch.randn(2, 8)
    with ThreadPoolExecutor(4) as threads:
        graphs = list(threads.map(lambda _: trace(model, x), range(8)))
    assert not compiled
    assert len({graph.fingerprint for graph in graphs}) == 1
    model(x)
    assert len(compiled) == 1  # and is, after that, for its own sake
