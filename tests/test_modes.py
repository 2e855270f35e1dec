"""Evaluation mode for a while."""

from torch import nn

from glassbox.modes import evaluating


def test_afterwards_every_part_is_in_the_mode_that_it_was_in() -> None:
    inner = nn.Sequential(nn.Dropout(), nn.Dropout())
    model = nn.Sequential(nn.Dropout(), inner)
    inner[1].eval()
    inner.training = False
    before = [module.training for module in model.modules()]
    with evaluating(model):
        assert not any(module.training for module in model.modules())
    assert [module.training for module in model.modules()] == before
    assert before == [True, True, False, True, False]
