import numpy as np
import pytest
import torch
from hypothesis import given

from ingram.kernels import parallel
from ingram.kernels.rank_counts import rank_counts
from tests.strategies import seeds


def random_case(seed, queries=6, entities=9, levels=4):
    """Scores on few levels, so that most tie; each query leaves some columns out."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (queries, entities)).astype(np.float32)
    answers = rng.integers(0, entities, queries)
    left_out = [
        rng.choice(entities, rng.integers(0, entities + 1), replace=False) for _ in range(queries)
    ]
    pointers = np.cumsum([0, *map(len, left_out)])
    excluded = np.concatenate(left_out).astype(np.int64)
    return [torch.from_numpy(np.asarray(a)) for a in (scores, answers, pointers, excluded)]


def brute_force(scores, answers, pointers, excluded):
    higher, equal = [], []
    for q, answer in enumerate(answers.tolist()):
        out = set(excluded[pointers[q] : pointers[q + 1]].tolist())
        others = [i for i in range(scores.shape[1]) if i != answer and i not in out]
        higher.append(sum(bool(scores[q, i] > scores[q, answer]) for i in others))
        equal.append(sum(bool(scores[q, i] == scores[q, answer]) for i in others))
    return higher, equal


@pytest.mark.parametrize("backend", ["fused", "plain"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@given(seed=seeds)
def test_counts_are_those_of_a_loop(backend, dtype, seed):
    scores, *rest = random_case(seed)
    found = rank_counts(scores.to(dtype), *rest, backend=backend)
    assert tuple(f.tolist() for f in found) == brute_force(scores, *rest)


@pytest.mark.parametrize("backend", ["fused", "plain"])
def test_no_queries_have_no_counts(backend):
    none = torch.empty(0, dtype=torch.int64)
    found = rank_counts(
        torch.empty(0, 3), none, torch.zeros(1, dtype=torch.int64), none, backend=backend
    )
    assert [len(f) for f in found] == [0, 0]


def test_the_number_of_threads_changes_nothing(threads, monkeypatch):
    monkeypatch.setattr(parallel, "SMALLEST_SHARE", 1)
    case = random_case(0, queries=50, entities=60)
    threads(1)
    once = rank_counts(*case)
    threads(3)
    for one, other in zip(rank_counts(*case), once, strict=True):
        assert torch.equal(one, other)
