"""Run a language model of ours and the reference library's on the same texts, and compare all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from glassbox import padding_mask, record
from glassbox.models.language_model import LanguageModel

PAD = 0
#: Which of a batch's tokens are real: none missing, missing on the right, missing on the left.
PADDINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "no padding": lambda place: place >= 0,
    "right padding": lambda place: place < torch.tensor([[place.size(-1)], [4], [1]]),
    "left padding": lambda place: place >= place.size(-1) - torch.tensor([[1], [4], [9]]),
}


def randomize(model: nn.Module, std: float = 0.2) -> Any:
    """Draw all parameters, so that no bias is 0 and no norm's weight 1 by construction."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_norm = parameter.dim() == 1 and name.endswith("weight")
            parameter.normal_(1.0 if is_norm else 0.0, 0.2 if parameter.dim() == 1 else std)
    return model.eval()


def some_texts(vocab_size: int, length: int, padding: str = "no padding") -> tuple[Tensor, Tensor]:
    """Return random ids, (3, length), and which of them are real."""
    real = PADDINGS[padding](torch.arange(length).expand(3, -1))
    return torch.randint(1, vocab_size, (3, length)).where(real, PAD), real


def read(model: LanguageModel, ids: Tensor, real: Tensor) -> Tensor:
    """Return our logits of texts that are padded anywhere."""
    return model(ids, padding_mask(ids, PAD), positions=count(real))


def count(real: Tensor) -> Tensor:
    """Return the positions of texts that begin at their first real token."""
    return (real.cumsum(dim=-1) - 1).clamp(min=0)


def look_into_both(
    model: LanguageModel, reference: nn.Module, ids: Tensor, real: Tensor
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return logits, hidden states and maps of the real tokens, ours beside the reference's."""
    with torch.no_grad(), record(model) as tape:
        logits = read(model, ids, real)
    with torch.no_grad():
        expected = reference(
            ids,
            attention_mask=real.long(),
            position_ids=count(real),
            output_hidden_states=True,
            output_attentions=True,
        )
    n_layers = model.config.n_layers
    layers = ["dropout", *(f"decoder.layers.{i}" for i in range(n_layers - 1)), "decoder"]
    seen = {"logits": (logits, expected.logits)}
    for name, theirs in zip(layers, expected.hidden_states, strict=True):
        seen[name] = tape.outputs[name], theirs
    for name, theirs in zip(tape, expected.attentions, strict=True):
        seen[name] = tape[name].weights.transpose(1, 2), theirs.transpose(1, 2)  # query in front
    return {name: (ours[real], theirs[real]) for name, (ours, theirs) in seen.items()}


def assert_equal(
    model: LanguageModel, reference: nn.Module, ids: Tensor, real: Tensor, atol: float = 1e-5
) -> None:
    """Compare logits, every hidden state and every map with the reference's."""
    for name, (ours, theirs) in look_into_both(model, reference, ids, real).items():
        close(ours, theirs, atol, name)


def close(ours: Tensor, theirs: Tensor, atol: float, name: str) -> None:
    """Compare by the absolute difference alone."""
    torch.testing.assert_close(ours, theirs, atol=atol, rtol=0, msg=f"{name}: {{}}".format)


def gradients(
    model: LanguageModel, reference: nn.Module, ids: Tensor, real: Tensor
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return the gradients of all parameters by the reference's names, ours beside its own."""
    for each in (model, reference):
        each.zero_grad()
    weights = torch.randn(*ids.shape, model.config.vocab_size, dtype=next(model.parameters()).dtype)
    (read(model, ids, real) * weights)[real].sum().backward()
    theirs = reference(ids, attention_mask=real.long(), position_ids=count(real)).logits
    (theirs * weights)[real].sum().backward()
    ours = model.to_reference(gradient_of_each(model))
    expected = gradient_of_each(reference)
    assert ours.keys() == expected.keys()
    return {name: (ours[name], expected[name]) for name in expected}


def gradient_of_each(model: nn.Module) -> dict[str, Tensor]:
    """Return the gradients by the names of the parameters; all must have one."""
    found = {name: x.grad for name, x in model.named_parameters()}
    assert not [name for name, gradient in found.items() if gradient is None]
    return {name: gradient for name, gradient in found.items() if gradient is not None}


def assert_gradients_equal(*inputs: Any, tolerance: float = 1e-5) -> None:
    """Compare the gradients of all parameters, each by its largest number."""
    for name, (ours, theirs) in gradients(*inputs).items():
        largest = theirs.abs().max()
        assert largest > 0, name
        difference = (ours - theirs).abs().max() / largest
        close(difference, torch.zeros_like(difference), tolerance, name)


def rounding_errors(
    model: LanguageModel, reference: nn.Module, exact: nn.Module, ids: Tensor, real: Tensor
) -> tuple[float, float]:
    """Return how far our logits and the reference's are from the exact ones, on average."""
    with torch.no_grad():
        inputs = {"attention_mask": real.long(), "position_ids": count(real)}
        ours = read(model, ids, real)
        theirs, truth = (m(ids, **inputs).logits for m in (reference, exact))
    assert ours.dtype == theirs.dtype
    assert truth.dtype == torch.float64
    errors = [(x.double() - truth)[real].square().mean().sqrt().item() for x in (ours, theirs)]
    return errors[0], errors[1]


def assert_loads_without_complaint(model: LanguageModel, folder: Path) -> None:
    """Save our model; the reference library must find every parameter, and no other, and agree."""
    model.save_pretrained(folder)
    load: Any = AutoModelForCausalLM.from_pretrained
    loaded, found = load(
        folder, output_loading_info=True, dtype="auto", attn_implementation="eager"
    )
    assert not any(found.values()), found
    assert {x.dtype for x in loaded.parameters()} == {x.dtype for x in model.parameters()}
    ids, real = some_texts(model.config.vocab_size, 9)
    assert_equal(model, loaded, ids, real)


def assert_files_go_both_ways(model_class: Any, reference: Any, folder: Path) -> None:
    """Save the reference, load it, save ours: the same tensors, and no other configuration."""
    theirs, ours = folder / "theirs", folder / "ours"
    reference.save_pretrained(theirs)
    model_class.from_pretrained(theirs).save_pretrained(ours)
    expected, written = (load_file(path / "model.safetensors") for path in (theirs, ours))
    assert written.keys() == expected.keys()
    for name, tensor in expected.items():
        assert tensor.dtype == written[name].dtype
        assert torch.equal(written[name], tensor), name
    expected, written = (json.loads((path / "config.json").read_text()) for path in (theirs, ours))
    differing = {name: (x, expected.get(name)) for name, x in written.items()}
    assert not {name: both for name, both in differing.items() if both[0] != both[1]}
