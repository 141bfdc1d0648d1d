"""Two forms of one computation, held against each other: outputs and gradients."""

import torch

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


def forward_and_gradients(form, tensors):
    """The form's output and the gradient of each tensor, for a fixed direction; None is left out.

    form: takes the tensors, in their order.
    """
    inputs = [None if t is None else t.detach().clone().requires_grad_() for t in tensors]
    out = form(*inputs)
    direction = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    present = [t for t in inputs if t is not None]
    return [out.detach(), *torch.autograd.grad((out * direction).sum(), present)]


def assert_agree(found, wanted, tolerance):
    """Relative to the largest number of each array: a sum of terms is as good as its terms."""
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        scale = max([1.0, *other.abs().flatten().tolist()])
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * scale)
