"""Settings that every test runs under."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("ingram", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("ingram")


@pytest.fixture
def threads():
    """Set torch's number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
