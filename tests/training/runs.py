"""Small runs, what they leave, and listeners that remember or end them."""

import signal

from ingram.io.tensors import read_tensors
from ingram.training import Listener, train
from ingram.training.checkpoints import FORMAT, RunDirectory
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


class Interrupt(Listener):
    """Presses Ctrl-C at an epoch."""

    def __init__(self, at):
        self.at = at

    def epoch(self, number, loss):
        if number == self.at:
            signal.raise_signal(signal.SIGINT)


def traces(path):
    """Everything a run leaves, to the byte, but for the time it took."""

    def checkpoint(file):
        tensors, about = read_tensors(file, FORMAT)
        del about["progress"]["seconds"]
        return about, {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}

    records = RunDirectory(path).metrics()
    for record in records:
        del record["seconds"]
    last = checkpoint(RunDirectory(path).checkpoints()[0])
    return records, (path / "model.safetensors").read_bytes(), last
