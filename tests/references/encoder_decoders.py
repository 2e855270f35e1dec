"""Run an encoder–decoder of ours and the reference library's on the same texts; compare all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassbox import padding_mask, record
from glassbox.transformer import Transformer

Pair = tuple[str, Tensor, Tensor]


def randomize(model: nn.Module, std: float = 0.2) -> Any:
    """Draw all that is learned, so that no bias is 0 and no norm's weight 1 by construction."""
    with torch.no_grad():
        learned = [(name, x) for name, x in model.named_parameters() if x.requires_grad]
        for name, x in [*learned, *model.named_buffers()]:
            x.normal_(1.0 if "norm" in name and name.endswith("weight") else 0.0, std)
    return model.eval()


def some_texts(vocab_size: int, pad: int, lengths: tuple[int, int] = (13, 8)) -> tuple[Any, Any]:
    """Return three sources and targets: whole, padded on the right, padded on the left."""
    texts = []
    for length in lengths:
        ids = torch.randint(1, vocab_size - 1, (3, length))
        ids[ids == pad] = 1
        ids[1, length // 2 + 1 :] = pad
        ids[2, : length // 2] = pad
        texts.append(ids)
    return texts[0], texts[1]


def look_into_both(
    model: Transformer, reference: nn.Module, source: Tensor, target: Tensor
) -> Iterator[Pair]:
    """Yield logits, hidden states and maps at real tokens by name, ours and the reference's."""
    pad = model.config.pad_id
    read, written = source != pad, target != pad
    with torch.no_grad(), record(model) as tape:
        logits = model(source, target, padding_mask(source, pad), padding_mask(target, pad))
    with torch.no_grad():
        theirs = reference(
            input_ids=source,
            attention_mask=read.long(),
            decoder_input_ids=target,
            decoder_attention_mask=written.long(),
            output_hidden_states=True,
            output_attentions=True,
        )
    yield "logits", logits[written], theirs.logits[written]
    yield "embeddings", tape.outputs["dropout"][written], theirs.decoder_hidden_states[0][written]
    for side, real in (("encoder", read), ("decoder", written)):
        states = theirs[f"{side}_hidden_states"]
        last = len(states) - 1
        for i, state in enumerate(states[1:], 1):
            name = side if i == last else f"{side}.layers.{i - 1}"
            yield name, tape.outputs[name][real], state[real]
    maps = {
        ("encoder", "self"): (theirs.encoder_attentions, read),
        ("decoder", "self"): (theirs.decoder_attentions, written),
        ("decoder", "cross"): (theirs.cross_attentions, written),
    }
    for (side, kind), (weights, real) in maps.items():
        for i, expected in enumerate(weights):
            name = f"{side}.layers.{i}.{kind}_attention"
            ours = tape[name].weights
            yield name, ours.transpose(1, 2)[real], expected.transpose(1, 2)[real]  # query in front


def assert_equal(
    model: Transformer, reference: nn.Module, source: Tensor, target: Tensor, atol: float = 1e-5
) -> None:
    """Compare by the absolute difference alone."""
    for name, ours, theirs in look_into_both(model, reference, source, target):
        torch.testing.assert_close(ours, theirs, atol=atol, rtol=0, msg=f"{name}: {{}}".format)


def gradients(model: nn.Module) -> dict[str, Tensor]:
    """Return the gradients of all that is learned, by name; each must be there."""
    learned = {name: x.grad for name, x in model.named_parameters() if x.requires_grad}
    assert all(x is not None for x in learned.values())
    return {name: x for name, x in learned.items() if x is not None}


def assert_gradients_equal(
    model: Transformer, reference: nn.Module, source: Tensor, target: Tensor, atol: float = 1e-5
) -> None:
    """Compare the gradients of all parameters, each relative to the largest number in it."""
    logits = model(source, target)
    direction = torch.randn_like(logits)
    (logits * direction).sum().backward()
    (reference(input_ids=source, decoder_input_ids=target).logits * direction).sum().backward()
    ours = model.to_reference(gradients(model))
    theirs = gradients(reference)
    assert theirs.keys() <= ours.keys()
    for name, expected in theirs.items():
        largest = expected.abs().max()
        if name.endswith("k_proj.bias"):  # moves all scores of a row alike: 0 but for rounding
            largest = torch.ones(())
        assert largest > 0, name
        torch.testing.assert_close(
            ours[name] / largest, expected / largest, atol=atol, rtol=0, msg=f"{name}: {{}}".format
        )


def assert_loads_without_complaint(model: Transformer, reference_class: Any, folder: Path) -> None:
    """Save ours; the reference must find every parameter and no other, and compute the same."""
    model.save_pretrained(folder)
    loaded, found = reference_class.from_pretrained(
        folder, output_loading_info=True, attn_implementation="eager"
    )
    assert not any(found.values()), found
    texts = some_texts(model.config.written_vocab_size, model.config.pad_id)
    assert_equal(model, loaded, *texts)
