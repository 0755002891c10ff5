"""A plugin that works, and what the installed plugins say."""

from nar_plugin.manager import call_each, list_plugins

GOOD = """
@hookimpl
def nar_provenance(model):
    return Provenance("good:net", "good")

@hookimpl
def nar_example_inputs(model):
    yield ExampleInputs((1,))
    yield ExampleInputs((2,))

@hookimpl
def nar_architectures():
    return [NamedArchitecture("good:net", "good", "net", "task", "MIT")]
"""


def info(name):
    (found,) = (plugin for plugin in list_plugins() if plugin.name == name)
    return found


def answers(hook_name, **arguments):
    return dict(call_each(hook_name, **arguments))
