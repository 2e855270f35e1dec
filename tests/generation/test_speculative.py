"""Speculative decoding writes what the target would, whatever the draft proposes."""

import pytest
import torch

from glassbox.generation import accept, generate, speculative
from tests.generation.conftest import EOS
from tests.generation.stub import TableModel

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

P = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0])
Q = torch.tensor([0.1, 0.2, 0.3, 0.0, 0.4])


def chi_square(counts, probabilities):
    """The statistic and the 99.9th percentile of its distribution (Wilson and Hilferty)."""
    possible = probabilities > 0
    assert not counts[~possible].any()
    expected = counts.sum(dim=-1, keepdim=True) * probabilities
    statistic = ((counts - expected) ** 2 / expected)[possible].sum().item()
    freedom = int(possible.sum() - possible.any(dim=-1).sum())
    limit = freedom * (1 - 2 / (9 * freedom) + 3.09 * (2 / (9 * freedom)) ** 0.5) ** 3
    return statistic, limit


@pytest.mark.usefixtures("as_a_reader")
def test_the_first_token_is_the_target_s_and_what_is_accepted_is_as_the_paper_says(device):
    """Leviathan et al. (2023), corollary 3.6: a token is accepted with probability min(p, q)."""
    generator = torch.Generator(device).manual_seed(0)
    p, q = P.to(device).expand(2, -1), Q.to(device)[None]
    counts, n, n_accepted = torch.zeros(5), 4000, 0
    for _ in range(n):
        proposed = q[0].multinomial(1, generator=generator)
        accepted, token = accept(p, q, proposed, generator)
        n_accepted += accepted
        counts[int(proposed) if accepted else int(token)] += 1
    statistic, limit = chi_square(counts, P)
    assert statistic < limit
    assert n_accepted / n == pytest.approx(torch.minimum(P, Q).sum().item(), abs=0.025)


def test_everything_is_accepted_where_the_two_agree():
    p = torch.rand(4, 6).softmax(dim=-1)
    accepted, token = accept(p, p[:3], torch.tensor([0, 3, 5]))
    assert accepted == 3
    assert 0 <= token < 6


def test_nothing_behind_the_first_refusal_is_accepted():
    p = torch.tensor([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    q = torch.tensor([[1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])
    accepted, token = accept(p, q, torch.tensor([0, 0, 2]))
    assert (accepted, token.item()) == (1, 1)


def test_without_a_proposal_the_token_is_the_target_s():
    accepted, token = accept(
        torch.tensor([[0.0, 1.0]]), torch.zeros(0, 2), torch.zeros(0, dtype=torch.int64)
    )
    assert (accepted, token.item()) == (0, 1)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("n_draft", [1, 3])
@pytest.mark.parametrize("options", [{}, {"temperature": 1.5, "top_k": 3}], ids=["plain", "cut"])
def test_every_pair_of_tokens_is_as_frequent_as_the_target_says(n_draft, options, device):
    """One long text: given a token, the next must have the target's distribution, jointly."""
    target, draft = (TableModel(4, sharpness=0.4, max_len=None).to(device) for _ in range(2))
    n = 2500
    result = speculative(
        target,
        draft,
        torch.tensor([[0]], device=device),
        n_draft=n_draft,
        max_new_tokens=n,
        sample=True,
        generator=torch.Generator(device).manual_seed(0),
        **options,
    )
    ids = result.token_ids[0].cpu()
    table = target.log_table().cpu() / options.get("temperature", 1.0)
    if options:
        table[table < table.topk(3).values[:, -1:]] = -torch.inf
    pairs = torch.zeros(4, 4).index_put_((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
    statistic, limit = chi_square(pairs, table.softmax(dim=-1))
    assert statistic < limit
    # What comes next depends on the last token alone, not on how far into a proposal it stands.
    triples = torch.zeros(16, 4).index_put_(
        (4 * ids[:-2] + ids[1:-1], ids[2:]), torch.tensor(1.0), accumulate=True
    )
    often = triples.sum(dim=-1) > 50
    statistic, limit = chi_square(triples[often], table.softmax(dim=-1).repeat(4, 1)[often])
    assert statistic < limit
    assert 0.1 < result.accepted / result.proposed < 0.95


ENDS = (EOS, 4, 29, 7)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("n_draft", "options"),
    [
        (1, {"max_new_tokens": 12, "eos_id": ()}),
        (4, {"max_new_tokens": 20, "eos_id": ()}),
        (4, {"max_new_tokens": 20, "eos_id": ENDS}),
        (4, {"max_new_tokens": 12, "repetition_penalty": 1.7, "no_repeat_ngram": 2}),
        (4, {"max_new_tokens": 12, "min_new_tokens": 9, "eos_id": ENDS}),
        (9, {"max_new_tokens": 9, "use_cache": False}),
    ],
)
def test_greedy_tokens_are_the_target_s_own(pair, other, n_draft, options):
    inputs = {name: x[:1] for name, x in pair.inputs().items() if "mask" not in name}
    result = speculative(pair.ours, other, **inputs, n_draft=n_draft, **options)
    assert torch.equal(result.token_ids, generate(pair.ours, **inputs, **options))


def test_a_draft_that_agrees_is_always_accepted_and_saves_passes():
    model = TableModel(7)
    for sample in (False, True):
        model.passes = 0
        result = speculative(
            model, model, torch.tensor([[1]]), n_draft=4, max_new_tokens=20, sample=sample
        )
        assert (result.proposed, result.accepted) == (16, 16)
        assert result.passes == 4
        assert model.passes == 4 + 16  # as the target, and as the draft


def test_a_draft_that_never_agrees_costs_passes_and_nothing_else():
    target, draft = TableModel(3), TableModel(3)
    for model, token in ((target, 1), (draft, 2)):
        model.vectors.data, model.weight.data = torch.ones(3, 1), torch.zeros(3, 1)
        model.weight.data[token] = 9.0
    result = speculative(target, draft, torch.tensor([[0]]), n_draft=2, max_new_tokens=6)
    assert result.token_ids.tolist() == [[0, 1, 1, 1, 1, 1, 1]]
    assert (result.accepted, result.passes) == (0, 6)
    assert result.proposed == 2 + 2 + 2 + 2 + 1  # never more than the text has room for


def test_nothing_is_proposed_before_the_last_token():
    result = speculative(TableModel(5), TableModel(5), torch.tensor([[0]]), max_new_tokens=1)
    assert (result.proposed, result.accepted, result.passes) == (0, 0, 1)


@pytest.mark.parametrize("n_draft", [1, 2, 4, 9])
@pytest.mark.parametrize("options", [{}, {"sample": True}], ids=["greedy", "sampled"])
def test_where_n_grams_leave_no_token_it_refuses_as_generate_does(n_draft, options):
    model, prompt = TableModel(9), torch.tensor([[1, 2]])
    options |= {"no_repeat_ngram": 1, "eos_id": (), "n_draft": n_draft}
    found = speculative(model, model, prompt, max_new_tokens=7, **options)
    assert sorted(found.token_ids[0].tolist()) == list(range(9))
    for n in (8, 9):  # with 9, it is the draft that has none left
        with pytest.raises(ValueError, match="no_repeat_ngram=1 rules out every token"):
            speculative(model, TableModel(9), prompt, max_new_tokens=n, **options)
