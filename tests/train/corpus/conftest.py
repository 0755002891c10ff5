"""Builds that trace in this process: a worker imports torch and the libraries anew."""

import pytest

from nar_plugin import isolation


@pytest.fixture(scope="session")
def trace_here():
    """Patches a build so that it starts no worker: `trace_here(monkeypatch)`."""

    def patched(monkeypatch):
        from nar_plugin.train.corpus import workers

        monkeypatch.setattr(isolation._State, "stays", True)
        monkeypatch.setattr(workers, "_traced", lambda todo, _: map(workers.trace_named, todo))

    return patched
