"""More steps: trips to numpy, Python and other precisions, and writing to oneself; endings."""

import dataclasses
import random

import numpy as np
import torch
from fuzzed_layers import fit
from fuzzed_steps import step
from torch import nn
from torch.nn import functional as F

# -- leaving PyTorch -------------------------------------------------------------------------


@step
def through_numpy(self, x, n):
    return torch.from_numpy(np.sort(x.detach().cpu().numpy(), axis=-1))


@step
def through_lists(self, x, n):
    return torch.tensor(x.tolist()) + torch.tensor([float(x[0, 0, 0]), *range(15)])


@step
def literal(self, x, n):
    return x * torch.tensor([[1.0], [n]]).repeat(4, 1) + torch.as_tensor(np.ones(16, "float32"))


@step
def at_its_address(self, x, n):
    return x if x.data_ptr() % 2 == 0 else -x


@step
def gradient(self, x, n):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x.sin() * self.scale).sum(), x, create_graph=n > 1)[0]


@step
def backward(self, x, n):
    with torch.enable_grad():
        loss = (x * self.scale).sum()
        if loss.requires_grad:
            loss.backward()
    return x


@step
def seeded(self, x, n):
    torch.manual_seed(n)
    random.seed(n)
    np.random.seed(n)
    return x + torch.randn(16) + torch.randperm(16) + torch.bernoulli(x.sigmoid())


@step
def sampled(self, x, n):
    picked = torch.multinomial(x.flatten(1).softmax(1), 1 + n)
    return x + picked.sum() + torch.distributions.Normal(x, 1.0).rsample()


@step
def other_precision(self, x, n):
    kind = (torch.float16, torch.bfloat16, torch.float64, torch.complex64)[n]
    return fit(x.to(kind) * 2)


@step
def autocast(self, x, n):
    with torch.autocast("cpu", torch.bfloat16):
        return (x @ x.transpose(1, 2) @ x).float()


@step
def elsewhere(self, x, n):
    return x.to(("cpu", "meta", "cuda", x.device)[n]) + torch.ones(16, device=x.device)


@step
def settings(self, x, n):
    if n > 1:
        torch.set_grad_enabled(True)
    else:
        torch.set_default_dtype(torch.float64)
    return x + torch.ones(16)


@step
def fourier(self, x, n):
    if n > 1:
        return fit(torch.fft.rfft(x))
    return x + torch.stft(x[0], 8, return_complex=True).abs().sum()


@step
def algebra(self, x, n):
    square = x @ x.transpose(1, 2) + 8 * torch.eye(8)
    calls = (torch.linalg.inv, torch.linalg.cholesky, torch.linalg.eigvalsh, torch.linalg.svdvals)
    return x + calls[n](square).sum()


@step
def interpolated(self, x, n):
    size = (1 + n, int(x.shape[-1] * 1.5))
    return fit(F.interpolate(x[None], size, mode="bilinear", antialias=n > 1))


# -- writing to oneself ----------------------------------------------------------------------


@step
def remembered(self, x, n):
    self.cache[n] = x
    self.log.append(x.mean())
    self.calls += 1
    self.latest = x
    return x + sum(self.log[-2:])


@step
def from_the_cache(self, x, n):
    if "table" not in self.cache:
        self.cache["table"] = torch.arange(16.0)
    return x + self.cache["table"]


@step
def running_buffer(self, x, n):
    self.running.mul_(0.9).add_(x.detach().mean() * 0.1)
    self.seen += 1
    return x - self.running


@step
def replaced_buffer(self, x, n):
    self.running = self.running + x.mean()
    self.register_buffer("late", torch.zeros(n))
    return x


@step
def changed_weights(self, x, n):
    with torch.no_grad():
        self.scale.data = self.scale.data * 0.5
        nn.init.normal_(self.scale)
        self.scale.requires_grad_(n > 1)
    return x * self.scale


@step
def grown(self, x, n):
    if not hasattr(self, "grown"):
        self.grown = nn.Linear(16, 16)
    self.train()
    return self.grown(x)


@step
def hooked_while_running(self, x, n):
    self.register_forward_hook(lambda module, inputs, output: None)
    self.forward = self.forward
    return x


@step
def unhooked(self, x, n):
    self.handle.remove()
    return x


@dataclasses.dataclass
class Result:
    logits: object
    loss: object = None


ENDINGS = {
    "tensor": lambda x: x,
    "dict": lambda x: {"logits": x, "none": None, "deep": [{"x": x.mean()}]},
    "dataclass": lambda x: Result(x),
    "tuple": lambda x: (x, (x.sum(), None), "text"),
    "none": lambda x: None,
    "text": lambda x: "done",
    "number": lambda x: float(x.sum()),
    "list": lambda x: x.tolist(),
    "array": lambda x: x.detach().numpy(),
    "iterator": lambda x: iter(x.unbind(1)),
}
