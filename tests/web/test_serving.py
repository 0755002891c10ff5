import sys

import pytest

from nar_plugin.errors import NarError
from nar_plugin.web import serve


def test_without_gradio_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.delitem(sys.modules, "nar_plugin.web.page", raising=False)
    with pytest.raises(NarError, match=r"pip install 'nar-plugin\[ui\]'"):
        serve()
