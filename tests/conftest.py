"""Settings that every test runs under."""

import signal

import pytest
import torch
from hypothesis import settings

settings.register_profile("ingram", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("ingram")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def threads():
    """Set torch's number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
