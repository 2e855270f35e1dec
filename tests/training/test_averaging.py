"""The mean of checkpoints is the mean, read piece by piece; what does not belong is refused."""

from fractions import Fraction

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.optim.swa_utils import AveragedModel

from glassbox.training.averaging import average


class Tied(nn.Module):
    """A model with a tied weight, a half-precision one, and a counter."""

    def __init__(self, dtype=torch.float32, width=5):
        super().__init__()
        self.embedding = nn.Embedding(7, width, dtype=dtype)
        self.output = nn.Linear(width, 7, dtype=dtype)
        self.output.weight = self.embedding.weight
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("allowed", torch.tensor([True, False]))


def states(number=4, **options):
    """State dicts of differently trained models."""
    found = []
    for i in range(number):
        model = Tied(**options)
        assert isinstance(model.steps, torch.Tensor)
        model.steps += i
        found.append({name: x.clone() for name, x in model.state_dict().items()})
    return found


def written(states, folder):
    """The same as files in folders of their own."""
    folders = []
    for i, state in enumerate(states):
        folders.append(folder / f"step-{i}")
        folders[-1].mkdir()
        save_file(state, folders[-1] / "model.safetensors")
    return folders


def test_it_is_pytorch_s_average(device):
    models = [Tied().to(device) for _ in range(5)]
    reference = AveragedModel(models[0])
    for model in models:
        reference.update_parameters(model)
    mean = average([model.state_dict() for model in models])
    for name, parameter in reference.module.named_parameters():
        assert mean[name].device == parameter.device
        torch.testing.assert_close(mean[name], parameter, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_each_number_is_the_exact_mean_rounded_once(dtype):
    found = states(7, dtype=dtype)
    mean = average(found)
    for name in ("output.bias", "embedding.weight"):
        exact = [
            sum(map(Fraction, column)) / len(found)
            for column in zip(*(x[name].flatten().tolist() for x in found), strict=True)
        ]
        expected = torch.tensor([float(x) for x in exact], dtype=torch.float64).to(dtype)
        assert mean[name].dtype == dtype
        assert torch.equal(mean[name].flatten(), expected)


@pytest.mark.parametrize("how", ["folders", "files", "names", "state dicts", "one by one"])
def test_files_folders_and_state_dicts_give_the_same(tmp_path, how):
    found = states()
    folders = written(found, tmp_path)
    given = {
        "folders": folders,
        "files": [folder / "model.safetensors" for folder in folders],
        "names": [str(folder) for folder in folders],
        "state dicts": found,
        "one by one": (state for state in found),
    }[how]
    mean, expected = average(given), average(found)
    assert mean.keys() == expected.keys()
    for name, tensor in mean.items():
        assert torch.equal(tensor, expected[name])


@pytest.mark.parametrize("number", [1, 3, 7])
def test_what_is_the_same_in_all_checkpoints_keeps_every_bit(number):
    (state,) = states(1)
    mean = average([state] * number)
    for name, tensor in mean.items():
        assert torch.equal(tensor, state[name])
        assert tensor.dtype == state[name].dtype


def test_tied_weights_stay_equal_and_the_model_takes_the_mean(tmp_path):
    mean = average(written(states(), tmp_path))
    assert torch.equal(mean["embedding.weight"], mean["output.weight"])
    model = Tied()
    model.load_state_dict(mean)
    assert model.output.weight is model.embedding.weight
    save_file(mean, tmp_path / "mean.safetensors")  # which refuses tensors that share memory


def test_what_is_no_real_number_is_the_last_checkpoint_s():
    found = states(4)
    found[-1]["allowed"] = torch.tensor([False, False])
    mean = average(found)
    assert mean["steps"] == 3
    assert mean["steps"].dtype == torch.int64
    assert mean["allowed"].tolist() == [False, False]


def test_the_mean_is_new_and_the_checkpoints_stay_as_they_are():
    found = states(2)
    before = [{name: x.clone() for name, x in state.items()} for state in found]
    mean = average(found)
    for tensor in mean.values():
        tensor.zero_()
    for state, kept in zip(found, before, strict=True):
        assert all(torch.equal(state[name], kept[name]) for name in kept)


def test_of_parameters_that_learn_only_numbers_are_taken():
    mean = average([dict(Tied().named_parameters()) for _ in range(2)])
    assert not any(tensor.requires_grad for tensor in mean.values())


def without(state, name):
    return {other: x for other, x in state.items() if other != name}


FIRST, SECOND = states(2)
BAD = {
    "nothing": ([], ValueError, ["there is no checkpoint to average"]),
    "one that is not in a list": (FIRST, TypeError, ["a single dict", "put them into a list"]),
    "a name that is not in a list": ("here", TypeError, ["a single str"]),
    "a missing tensor": (
        [FIRST, without(SECOND, "steps")],
        ValueError,
        ["in state dict 1, and missing in state dict 2", "steps is"],
    ),
    "a tensor too many": (
        [without(FIRST, "steps"), SECOND],
        ValueError,
        ["steps is missing in state dict 1"],
    ),
    "nothing at first": ([{}, FIRST], ValueError, ["is missing in state dict 1"]),
    "another shape": (
        [FIRST, FIRST, states(1, width=6)[0]],
        ValueError,
        [
            "embedding.weight is ((7, 5), torch.float32) in state dict 1",
            "((7, 6), torch.float32) in state dict 3",
        ],
    ),
    "a shape that would broadcast": (
        [FIRST, SECOND | {"output.bias": torch.zeros(1)}],
        ValueError,
        ["output.bias is ((7,), ", "((1,), "],
    ),
    "another precision": (
        [FIRST, SECOND | {"output.bias": SECOND["output.bias"].half()}],
        ValueError,
        ["torch.float32) in state dict 1, and ((7,), torch.float16) in state dict 2"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("given", "error", "says"), BAD.values(), ids=BAD)
def test_what_does_not_belong_together_is_refused(given, error, says):
    with pytest.raises(error) as caught:
        average(given)
    for part in says:
        assert part in str(caught.value)


def test_of_files_both_are_named(tmp_path):
    folders = written([FIRST, without(SECOND, "steps")], tmp_path)
    with pytest.raises(ValueError, match="of one") as caught:
        average(folders)
    for folder in folders:
        assert str(folder) in str(caught.value)


def test_a_missing_and_a_damaged_file_are_named(tmp_path):
    (folder,) = written([FIRST], tmp_path)
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"step-0/model\.safetensors cannot be read"):
        average([folder])
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"step-0/model\.safetensors"):
        average([folder])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        average([tmp_path / "nowhere"])
