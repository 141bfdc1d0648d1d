"""Every error this package raises on purpose.

A message says where, what was wanted and what was found. The command line prints it as one line and
exits with status 2; anything else that reaches the user is a bug.
"""


class IngramError(Exception):
    """The root: catch this to catch every error below."""


class TriplesError(IngramError):
    """A triples file or table is malformed."""


class DatasetError(IngramError):
    """A dataset folder lacks a file, or its parts do not fit together."""


class DownloadError(IngramError):
    """A named dataset could not be fetched, or what came is not what was published."""


class MissingPackageError(IngramError):
    """A package that only this task needs is not installed."""


class UnknownLabelError(IngramError):
    """A label that the graph does not hold."""


class SplitError(IngramError):
    """A graph leaves nothing to predict once its spanning forest and relation cover are taken."""


class GeneratorError(IngramError):
    """A graph is too small or too sparse to cut the dataset asked for."""


class ConfigError(IngramError):
    """A configuration value is unknown, of the wrong type or out of range."""


class RunError(IngramError):
    """A run directory is missing, incomplete, in use, or of another version."""


class InUseError(RunError):
    """Another process works in a run directory."""


class WriteError(IngramError):
    """A file or folder cannot be written: a full disk, no permission, a folder that is gone."""


class MemoryNeedError(IngramError):
    """A task needs more memory than is free; nothing was begun."""


class EmbeddingsError(IngramError):
    """A file of embeddings cannot be read or written, or does not fit a graph."""


class DivergedError(IngramError):
    """Loss, weights or scores hold NaN or infinity."""


class QueryError(IngramError):
    """A question is malformed, or asks for what cannot be asked."""


class CalibrationError(IngramError):
    """A calibration cannot be made or read, or is of other weights."""
