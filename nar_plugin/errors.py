"""The errors that a user sees: what was wrong with the input, and what mends it."""

from reprlib import repr as short_repr


class NarError(Exception):
    """Base of every error that nar-plugin raises on purpose.

    The text says what your input was, what was expected, and which argument or command mends it.
    """


class UnknownReference(NarError):
    """A text is no model reference.

    Attributes:
        reference: The text.
        problem: What is wrong with it.
    """

    def __init__(self, reference: str, problem: str, otherwise: str = "") -> None:
        """Make the error.

        Args:
            reference: See the class.
            problem: See the class.
            otherwise: What else to say where nothing comes near.
        """
        super().__init__(f"{problem}{otherwise}")
        self.reference = reference
        self.problem = problem
        self._otherwise = otherwise

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """It crosses from a forked process to its parent, pickled."""
        return type(self), (self.reference, self.problem, self._otherwise)


class TraceError(NarError):
    """The forward pass of a model could not be followed."""


class IndexUnavailable(NarError):
    """There is no such index, or it cannot be read."""


class IndexIncompatible(NarError):
    """The index has another format, or another encoder made its vectors."""


class PluginError(NarError):
    """A plugin is missing, broken, or was asked for something that it cannot do."""


def in_words(value: object) -> str:
    """A value as an error quotes it: short, or its type alone where its own `repr` raises."""
    try:
        return short_repr(value)
    except (Exception, SystemExit):  # also of a number with more digits than Python prints
        return f"a {type(value).__name__}"
