"""The same work in two processes: the same bits, and no word to the network."""

import os
import re
import subprocess
import sys

import pytest

from tests.torture.kills import SMALL, SMALL_QUERY
from tests.training.runs import traces
from tests.verbs import write_dataset

SCRIPT = """
import os, sys

asked = []


def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        asked.append((event, arguments[1:]))
        raise ConnectionRefusedError(event)


sys.addaudithook(refuse)
import ingram
from ingram.cli import app

os.chdir(sys.argv[1])
train = ["train", "../data", "--epochs", "3", "--allow-leaks", "--threads", "1", "--json"]
app([*train, "-o", "embedding", *sys.argv[2].split()], standalone_mode=False)
app([*train, "-o", "query", "--preset", "ingram-q", *sys.argv[3].split()], standalone_mode=False)
for words in (
    ["evaluate", "embedding", "../data", "--allow-leaks"],
    ["predict", "query", "../data/msg.txt", "--head", "i0", "--relation", "r"],
    ["embed", "embedding", "../data/msg.txt", "-o", "vectors.safetensors"],
):
    print("answer:", flush=True)
    app([*words, "--json"], standalone_mode=False)
if asked:
    sys.exit(f"asked the network: {asked}")
"""


def settings(changes):
    words = {**changes, "training.validate_every": 1}
    return " ".join(f"--set {name}={value}".replace(", ", ",") for name, value in words.items())


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """What two processes print and leave, with other seeds for the hashes of texts."""
    place = tmp_path_factory.mktemp("processes")
    write_dataset(place / "data")
    ends = {}
    for seed in ("1", "2"):
        folder = place / seed
        folder.mkdir()
        words = [sys.executable, "-c", SCRIPT, str(folder), settings(SMALL), settings(SMALL_QUERY)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ends[folder] = subprocess.run(
            words, check=False, capture_output=True, text=True, env=environment
        )
    return ends


def test_nothing_asks_the_network_to_import_train_answer_or_embed(processes):
    for end in processes.values():
        assert end.returncode == 0, end.stderr[-2000:]


def test_another_process_trains_answers_and_embeds_to_the_same_bits(processes):
    one, other = processes
    for run in ("embedding", "query"):
        assert traces(one / run) == traces(other / run)
    vectors = "vectors.safetensors"
    assert (one / vectors).read_bytes() == (other / vectors).read_bytes()
    said = (end.stdout.split("answer:", 1)[1] for end in processes.values())
    answers = [re.sub(r'"seconds": [\d.]+', "", text) for text in said]
    assert answers[0] == answers[1]
    assert "i0" in answers[0]
