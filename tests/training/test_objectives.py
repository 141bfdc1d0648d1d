import math

import numpy as np
import pytest
import torch

from ingram.training.objectives import margin_loss, masked_cross_entropy
from ingram.training.questions import Questions, TrueAnswers
from tests.strategies import random_graph


def test_pairs_beyond_the_margin_neither_count_nor_pull():
    positive = torch.tensor([5.0, 0.0], requires_grad=True)
    negative = torch.tensor([[1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    loss = margin_loss(positive, negative, 2.0)
    loss.backward()
    # Pairs: -2, -1, 2, 3.
    assert loss.item() == 5 / 4
    assert positive.grad.tolist() == [0, -0.5]
    assert negative.grad.tolist() == [[0, 0], [0.25, 0.25]]


def questions(answers, others):
    """With the answers and pairs (row, other true answer) given; the rest does not count."""
    rows, entities = torch.tensor(others, dtype=torch.long).reshape(-1, 2).T
    answers = torch.tensor(answers)
    return Questions(torch.zeros_like(answers), torch.zeros_like(answers), answers, rows, entities)


def test_cross_entropy_leaves_the_other_true_answers_out_by_hand():
    scores = torch.log(torch.tensor([[1.0, 2.0, 5.0], [4.0, 4.0, 8.0]])).requires_grad_()
    loss = masked_cross_entropy(scores, questions([0, 2], [(0, 2)]))
    # 1 of 1 + 2, and 8 of 16.
    assert loss.item() == pytest.approx((math.log(3) + math.log(2)) / 2)
    loss.backward()
    # Shares, less one at the answer, halved; what is left out is not pulled.
    wanted = torch.tensor([[1 / 3 - 1, 2 / 3, 0], [1 / 4, 1 / 4, 1 / 2 - 1]]) / 2
    torch.testing.assert_close(scores.grad, wanted)


def test_a_power_makes_a_question_count_by_its_answers_probability_by_hand():
    scores = torch.log(torch.tensor([[1.0, 2.0, 5.0], [4.0, 4.0, 8.0]])).requires_grad_()
    loss = masked_cross_entropy(scores, questions([0, 2], [(0, 2)]), 0.5)
    # The answers' probabilities are 1/3 and 1/2.
    powers = [(1 / 3) ** 0.5, (1 / 2) ** 0.5]
    assert loss.item() == pytest.approx(sum((1 - p) / 0.5 for p in powers) / 2)
    loss.backward()
    wanted = torch.tensor([[1 / 3 - 1, 2 / 3, 0], [1 / 4, 1 / 4, 1 / 2 - 1]]) / 2
    torch.testing.assert_close(scores.grad, wanted * torch.tensor(powers).unsqueeze(1))


@pytest.mark.parametrize("power", [0.0, 0.3])
def test_an_answer_without_rivals_costs_nothing(power):
    scores = torch.tensor([[3.0, -2.0]], requires_grad=True)
    loss = masked_cross_entropy(scores, questions([1], [(0, 0)]), power)
    loss.backward()
    assert loss.item() == 0
    assert scores.grad.tolist() == [[0, 0]]


def test_cross_entropy_is_that_of_each_question_written_out():
    graph = random_graph(0, 8, 2, 40)
    facts = {tuple(triple) for triple in graph.triples.tolist()}
    asked = TrueAnswers(graph).ask(graph.triples[:7])
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(14, 8, generator=generator, dtype=torch.float64)
    losses = []
    for row, (h, r, t) in enumerate([*graph.triples[:7].tolist()] * 2):
        stated = [(h, r, e) in facts if row < 7 else (e, r, t) in facts for e in range(8)]
        answer = t if row < 7 else h
        rivals = [e for e in range(8) if e == answer or not stated[e]]
        total = sum(math.exp(scores[row, e]) for e in rivals)
        losses.append(math.log(total) - scores[row, answer].item())
    found = masked_cross_entropy(scores, asked)
    assert found.item() == pytest.approx(np.mean(losses), rel=1e-12)
    nearly = masked_cross_entropy(scores, asked, 1e-9)
    assert nearly.item() == pytest.approx(np.mean(losses), rel=1e-6)
    assert scores.isfinite().all()  # the scores themselves are left alone
