"""What SpeechBrain's plugin builds from the examples in its docstrings."""

from importlib.util import find_spec

import pytest
from nar_plugin.hooks import speechbrain as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

# Importing it here would import torchaudio, which may refuse; the plugin sees to that.
pytestmark = pytest.mark.skipif(
    find_spec("speechbrain") is None, reason="speechbrain is not installed"
)


def test_names_and_families():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 100
    assert listed["speechbrain:ECAPA_TDNN"].task == "audio-classification"


def test_the_example_gives_sizes_and_inputs():
    graph = trace(resolve("speechbrain:VanillaNN"))
    # Two layers of 512 behind the 60 bands of `torch.rand([10, 120, 60])`.
    assert graph.params == 60 * 512 + 512 + 512 * 512 + 512
    assert graph.method == "meta"
