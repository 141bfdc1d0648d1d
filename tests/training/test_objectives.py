import torch

from ingram.training.objectives import margin_loss


def test_pairs_beyond_the_margin_neither_count_nor_pull():
    positive = torch.tensor([5.0, 0.0], requires_grad=True)
    negative = torch.tensor([[1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    loss = margin_loss(positive, negative, 2.0)
    loss.backward()
    # Pairs: -2, -1, 2, 3.
    assert loss.item() == 5 / 4
    assert positive.grad.tolist() == [0, -0.5]
    assert negative.grad.tolist() == [[0, 0], [0.25, 0.25]]
