"""What people write between layers: loops, branches, values that decide shapes, writes in place.

Each step takes the module that it stands in, a value of `SHAPE` and a number from 0 to 3. All of
them end on real values; none of them knows that it is traced.
"""

import random

import numpy as np
import torch
from fuzzed_layers import fit

STEPS = {}


def step(function):
    STEPS[function.__name__] = function
    return function


class Odd(Exception):
    """An exception that cannot even be printed."""

    def __str__(self):
        raise ValueError("no text")


# -- loops -----------------------------------------------------------------------------------


@step
def counted_loop(self, x, n):
    for _ in range(n):
        x = torch.tanh(x) + self.scale
    return x


@step
def loop_over_a_sum(self, x, n):
    for _ in range(int(x.abs().mean()) % 4 + n):
        x = x * 0.5 + self.scale
    return x


@step
def while_positive(self, x, n):
    while x.mean() > 0:
        x = x - 0.1 * (n + 1)
    return x


@step
def while_large(self, x, n):
    while x.norm().item() > 0.1:
        x = x * 0.5
    return x


@step
def while_above_a_negative_number(self, x, n):
    x = x.clamp(-5, 5)
    while x.sum().item() > -100:
        x = x - 0.5
    return x


@step
def until_any(self, x, n):
    for _ in range(1000):
        if (x.abs() < 0.5).any():
            break
        x = x * 0.5
    return x


@step
def while_nonzero(self, x, n):
    x = torch.relu(x.clamp(-1, 1))
    while len(x.nonzero()) > 0:
        x = torch.relu(x - 0.1)
    return x


@step
def while_shrinking(self, x, n):
    values = x.flatten()
    while values.numel() > 3 and values.std() > 0:
        values = values[values > values.mean()]
    return x + values.sum()


@step
def while_rows_are_left(self, x, n):
    left = torch.ones(2, dtype=torch.bool)
    while left.any():
        x = torch.tanh(x) * 0.5
        left = left & (x.flatten(1).norm(dim=1) > 0.1)
    return x


@step
def while_in_a_list(self, x, n):
    x = x.clamp(-2, 2)
    while max(x.flatten().tolist()) > 0.1:
        x = x - 0.2
    return x


@step
def while_in_numpy(self, x, n):
    while float(np.abs(x.detach().cpu().numpy()).max()) > 0.1:
        x = x * 0.5
    return x


@step
def counted_down_by_a_tensor(self, x, n):
    left = torch.tensor(3 + n)
    while left > 0:
        x, left = torch.relu(x + left), left - 1
    return x


@step
def over_rows(self, x, n):
    return torch.stack([row.sin() if row.sum() > 0 else row.cos() for row in x])


@step
def recursive(self, x, n):
    def halves(part):
        if part.shape[-1] <= n + 1:
            return part
        return torch.cat([halves(half) for half in part.chunk(2, -1)], -1)

    return halves(x)


# -- branches and exceptions -----------------------------------------------------------------


@step
def branch_on_a_value(self, x, n):
    return torch.sigmoid(x) if x.max() > n - 1 else x.exp().clamp(max=9)


@step
def branch_on_randomness(self, x, n):
    return x * 2 if random.random() < 0.5 else x + torch.rand_like(x) + np.random.rand()


@step
def tried(self, x, n):
    try:
        return x @ x
    except RuntimeError:
        return x.clamp(-1, 1)


@step
def tried_until_it_works(self, x, n):
    for size in (3, 5, 16):
        try:
            return x.view(2, 8, size)
        except Exception:
            continue


@step
def early_return(self, x, n):
    if self.training:
        return x
    if bool(torch.isfinite(x).all()) and n:
        return x.abs()
    return x.neg()


@step
def checked(self, x, n):
    assert x.shape[0] == 2 and not torch.isnan(x).any(), f"odd values {x.sum():.1f}"
    return x


@step
def refused(self, x, n):
    error = (ValueError("not today"), RuntimeError(), NotImplementedError(x), Odd())[n]
    raise error


@step
def ends_the_program(self, x, n):
    raise SystemExit(n)


@step
def endless_recursion(self, x, n):
    return endless_recursion(self, x + 1, n)


@step
def conditional(self, x, n):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


# -- values that decide shapes ---------------------------------------------------------------


@step
def selected(self, x, n):
    return fit(torch.cat([x[x > 0], x.flatten()[:1]]))


@step
def positions(self, x, n):
    rows, columns, _ = torch.where(x > 0.1 * n)
    return x + rows.sum() + columns.float().mean().nan_to_num()


@step
def distinct(self, x, n):
    values, inverse, counts = torch.unique(x.round(), return_inverse=True, return_counts=True)
    return values[inverse] * counts.sum()


@step
def repeated(self, x, n):
    return fit(x.flatten().repeat_interleave((x.flatten() > 0).long() + 1))


@step
def histogram(self, x, n):
    return x + torch.bincount((x.abs() * 3).long().clamp(max=5).flatten()).float().mean()


@step
def cut_at_a_value(self, x, n):
    return fit(x[..., : int(x.argmax()) % 15 + 1])


# -- ordering, scattering, in place ----------------------------------------------------------


@step
def largest(self, x, n):
    values, places = x.topk(2 + n, dim=-1)
    return torch.zeros_like(x).scatter(-1, places, values)


@step
def ordered(self, x, n):
    return x.sort(dim=n % 3, stable=n > 1)[0].cumsum(-1).gather(1, x.argsort(1))


@step
def put(self, x, n):
    x = x.clone()
    x[x < 0] = 0.0
    x[:, n] = x.mean(1)
    x[torch.tensor([0, 1]), torch.tensor([n, n])] += 1
    return x.index_add(1, torch.tensor([0, n]), torch.ones(2, 2, 16))


@step
def in_place_on_views(self, x, n):
    x = x + 0
    x[0].mul_(2)
    x.view(2, -1)[:, ::2].add_(self.scale.flatten()[0])
    x.transpose(1, 2).select(1, n).zero_()
    return x.relu_()


@step
def in_place_on_the_input(self, x, n):
    return x.add_(1).clamp_(-3, 3)


@step
def strided(self, x, n):
    return fit(x.contiguous().as_strided((4, 4 + n), (16, 2), n))
