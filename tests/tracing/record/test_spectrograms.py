"""Short-time Fourier transforms and their inverses, which check values below the dispatcher."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.record.escapes import _inverse_spectrogram


class Denoiser(nn.Module):
    """Scales a spectrogram and goes back to samples, as source separation does."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        window = torch.hann_window(64).to(x)
        z = torch.stft(x, 64, 16, window=window, return_complex=True)
        y = self.scale(torch.view_as_real(z).movedim(-1, 1))
        back = torch.view_as_complex(y.movedim(1, -1).contiguous())
        return torch.istft(back, 64, 16, window=window, length=x.shape[-1])


def test_a_model_between_two_transforms_traces_on_meta():
    graph = trace(Denoiser(), torch.empty(1, 1024))
    assert graph.method == "meta"
    assert "conv" in [op.kind for op in graph.ops]
    # torch.stft transposes its result in place, also where the answer is a remembered one.
    again = trace(Denoiser(), torch.empty(1, 1024))
    assert (again.method, again.fingerprint) == ("meta", graph.fingerprint)


@pytest.mark.parametrize("length", [None, 1000, 1024])
def test_as_many_samples_as_torch_gives(length):
    window = torch.hann_window(64)
    z = torch.stft(torch.rand(3, 1024), 64, 16, window=window, return_complex=True)
    ours = _inverse_spectrogram(z, 64, 16, window=window, length=length)
    assert ours.shape == torch.istft(z, 64, 16, window=window, length=length).shape
