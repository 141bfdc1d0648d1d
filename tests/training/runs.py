"""Small runs, and a listener that remembers them."""

from ingram.training import Listener, train
from ingram.training.checkpoints import RunDirectory
from tests.tiny import tiny_dataset, tiny_run_config

DATASET = tiny_dataset()


def run_in(path, config=None, **arguments):
    return train(DATASET, config or tiny_run_config(), RunDirectory(path), **arguments)


class Diary(Listener):
    """Writes down everything it is told."""

    def __init__(self):
        self.started_at, self.losses, self.records, self.collapses = None, {}, [], []

    def started(self, epoch, epochs):
        self.started_at = (epoch, epochs)

    def epoch(self, number, loss):
        self.losses[number] = loss

    def validated(self, record):
        self.records.append(record)

    def collapsed(self, record):
        self.collapses.append(record)
