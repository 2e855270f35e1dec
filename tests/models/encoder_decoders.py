"""What holds for every encoder–decoder, whatever its wiring."""

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call

from glassbox import padding_mask, record
from glassbox.transformer import Transformer

VOCAB, PAD = 40, 0


def spread(model: nn.Module) -> Any:
    """Draw all parameters, so that no bias is 0, no norm's weight 1, and maps are not flat."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "norm" in name and name.endswith("weight") else 0.0, 0.3)
    return model.eval()


def close(actual: Any, expected: Any, atol: float = 1e-5) -> None:
    torch.testing.assert_close(actual, expected, atol=atol, rtol=1e-5)


def assert_compiled_and_exported_it_gives_the_same(model: Transformer) -> None:
    """Compile the whole model, and export it, with a mask."""
    ids = torch.randint(1, VOCAB, (2, 5))
    inputs = (ids, ids[:, :4], padding_mask(ids, PAD), None)
    expected = spread(model)(*inputs)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    close(compiled(*inputs), expected)
    close(torch.export.export(model, inputs).module()(*inputs), expected)


class EncoderDecoderProperties:
    """Inherited by a class of tests that says how to make a small model of ``VOCAB`` words."""

    @staticmethod
    def make(**sizes: Any) -> Transformer:
        raise NotImplementedError

    @pytest.fixture
    def model(self, device):
        return spread(self.make()).to(device)

    @pytest.fixture
    def source(self, device):
        return torch.randint(1, VOCAB, (3, 9), device=device)

    @pytest.fixture
    def target(self, device):
        return torch.randint(1, VOCAB, (3, 7), device=device)

    def test_the_whole_is_reading_then_writing(self, model, source, target):
        memory = model.encode(source)
        assert memory.shape == (3, 9, model.config.d_model)
        expected = model.logits(model.hidden(target, memory=memory))
        assert expected.shape == (3, 7, VOCAB)
        close(model.decode(target, memory), expected)
        close(model(source, target), expected)

    @pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
    def test_changing_the_future_changes_nothing_before_it(self, model, source, target, train):
        model.train(train)
        changed = target.clone()
        changed[:, 4:] = (changed[:, 4:] + 1) % VOCAB
        outputs = []
        for ids in (target, changed):
            torch.manual_seed(7)  # the same values are dropped
            outputs.append(model(source, ids))
        close(outputs[0][:, :4], outputs[1][:, :4])
        assert not torch.isclose(outputs[0][:, 4:], outputs[1][:, 4:]).all(dim=-1).any()

    def test_every_word_of_the_source_matters_to_every_word_of_the_target(
        self, model, source, target
    ):
        every_token = torch.ones(len(source), 1, 1, source.size(1), dtype=torch.bool)
        every_token = every_token.to(source.device)  # also one that becomes the padding's
        logits = model(source, target, every_token)
        for place in range(source.size(1)):
            changed = source.clone()
            changed[:, place] = (changed[:, place] + 1) % VOCAB
            read = model(changed, target, every_token)
            assert not torch.isclose(read, logits).all(dim=-1).any()

    def test_the_order_of_the_words_matters_on_both_sides(self, model, source, target):
        memory = model.encode(source)
        assert not torch.isclose(model.encode(source.flip(1)).flip(1), memory).all(dim=-1).any()
        swapped = target[:, [1, 0, 2, 3, 4, 5, 6]]  # the last position has the same words behind it
        a, b = model.decode(target, memory)[:, -1], model.decode(swapped, memory)[:, -1]
        assert not torch.isclose(a, b).all(dim=-1).any()

    @pytest.mark.parametrize("step", [1, 2, 3])
    def test_a_cache_gives_what_recomputing_gives(self, model, source, target, step):
        source[1, 5:] = PAD
        mask = padding_mask(source, PAD)
        memory, cache = model.encode(source, mask), model.new_cache(7)
        expected = model.decode(target, memory, memory_mask=mask)
        pieces = [
            model.decode(piece, memory, memory_mask=mask, cache=cache)
            for piece in target.split(step, dim=1)
        ]
        close(torch.cat(pieces, dim=1), expected)
        assert cache.length == 7

    def test_a_cache_follows_its_rows_and_forgets_what_is_cut_off(self, model, source, target):
        memory, cache = model.encode(source), model.new_cache(7)
        model.decode(target[:, :5], memory, cache=cache)
        rows = torch.tensor([2, 0, 0], device=source.device)
        cache.reorder(rows)
        cache.crop(3)
        out = model.decode(target[:, 3:], memory[rows], cache=cache)
        whole = torch.cat([target[rows, :3], target[:, 3:]], dim=1)
        close(out, model.decode(whole, memory[rows])[:, 3:])

    def test_a_text_gives_the_same_alone_and_in_a_batch(self, model, source, target):
        together = model(source, target)
        for row in range(3):
            here = slice(row, row + 1)
            close(model(source[here], target[here]), together[here])

    def test_padding_changes_nothing_on_either_side(self, model, source, target):
        alone = model(source[:1, :6], target[:1, :4])
        source[0, 6:], target[0, 4:] = PAD, PAD
        out = model(source, target, padding_mask(source, PAD), padding_mask(target, PAD))
        close(out[:1, :4], alone)

    def test_a_source_that_is_masked_wholly_gives_numbers_and_no_gradient(
        self, model, source, target
    ):
        nobody = torch.zeros(3, 1, 1, 9, dtype=torch.bool, device=source.device)
        memory = model.encode(source).detach().requires_grad_()
        model.decode(target, memory, memory_mask=nobody).square().sum().backward()
        assert (memory.grad == 0).all()
        assert model(source, target, nobody).isfinite().all()

    def test_the_gradient_reaches_every_parameter(self, model, source, target):
        direction = torch.randn(3, 7, VOCAB, device=source.device)
        (model(source, target) * direction).sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            if not name.endswith("key.bias"):  # moves all scores of a row alike
                assert parameter.grad.abs().max() > 1e-6, name

    def test_looking_changes_nothing_and_shows_every_attention(self, model, source, target):
        expected = model(source, target)
        with record(model) as tape:
            looked = model(source, target)
        # Both round; with scores this large by up to as much as single precision allows.
        assert (looked - expected).abs().max() <= 5e-6 * expected.abs().max()
        n = model.config.n_layers
        stacks = [f"encoder.layers.{i}.self_attention" for i in range(n)]
        for i in range(model.config.decoder.n_layers):
            stacks += [f"decoder.layers.{i}.{kind}_attention" for kind in ("self", "cross")]
        assert list(tape) == stacks
        assert tape[stacks[-1]].weights.shape[-2:] == (7, 9)
        for look in tape.values():
            close(look.weights.sum(dim=-1), torch.ones_like(look.weights[..., 0]))

    def test_no_input_is_modified(self, model, source, target):
        masks = padding_mask(source, PAD), padding_mask(target, PAD)
        inputs = (source, target, *masks)
        before = [x.clone() for x in inputs]
        model(*inputs)
        model.decode(target, model.encode(source), cache=model.new_cache(7))
        assert all(torch.equal(x, y) for x, y in zip(inputs, before, strict=True))

    def test_copied_or_loaded_it_is_the_same(self, model, source, target, tmp_path):
        expected = model(source, target)
        torch.save(model.state_dict(), tmp_path / "model.pt")
        loaded = self.make().to(source.device).eval()
        assert not torch.equal(loaded(source, target), expected)
        loaded.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
        model.save_pretrained(tmp_path)
        from_files = type(model).from_pretrained(tmp_path).to(source.device)
        assert from_files.config == model.config
        for other in (copy.deepcopy(model), loaded, from_files, type(model).from_pretrained(model)):
            other.to(source.device)
            close(other(source, target), expected)
            tied = other.output.weight is other.target_embedding.weight
            assert tied == model.config.tie_embeddings

    def test_called_with_other_weights_it_keeps_its_own(self, model, source, target):
        before = dict(model.named_parameters(remove_duplicate=False))
        others = {name: torch.zeros_like(x) for name, x in model.named_parameters()}
        functional_call(model, others, (source, target))
        after = dict(model.named_parameters(remove_duplicate=False))
        assert after.keys() == before.keys()
        assert all(after[name] is x for name, x in before.items())

    def test_one_word_on_each_side_is_enough(self, model, device):
        one = torch.ones(1, 1, dtype=torch.int64, device=device)
        assert model(one, one).shape == (1, 1, VOCAB)
        assert model(one.int(), one.int()).isfinite().all()

    @pytest.mark.slow
    @pytest.mark.usefixtures("as_a_reader")  # hundreds of calls
    def test_one_batch_can_be_learned_by_heart(self, source, target, device):
        model = self.make(dropout=0.0).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(80):
            loss = nn.functional.cross_entropy(model(source, target[:, :-1]).mT, target[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert loss < 0.05
