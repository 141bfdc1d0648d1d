"""The process that compiles the loops and those that find them on the disk compute the same."""

import os
import subprocess
import sys

EPOCHS = """
import torch
torch.set_num_threads(1)
from ingram.models import InGram
from ingram.training.learners import learner_of
from ingram.training.optimizer import ClippedAdamW
from ingram.training.presets import PAPER
from tests.strategies import random_graph

model = InGram(PAPER.model, seed=0)
optimizer = ClippedAdamW(model.parameters(), lr=1e-3)
learner = learner_of([random_graph(0, 200, 9, 1_500)], PAPER)
for epoch in (1, 2):
    for loss in learner.losses(model, epoch):
        optimizer.zero_grad()
        loss.backward()
        optimizer.clipped_step(0.5)
        print(loss.item().hex(), sum(p.double().sum().item() for p in model.parameters()).hex())
"""


def test_the_first_process_computes_the_same_bits_as_the_next(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", EPOCHS],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        ).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbc"))  # the second had something to find
    assert first == second != ""
