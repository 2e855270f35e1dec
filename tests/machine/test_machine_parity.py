"""The machine in the page computes what the package computes, number by number."""

import os

import pytest
import torch

from glassbox import record
from glassbox.data.parallel import tatoeba
from glassbox.generation import beam_search, generate
from glassbox.looking.ablation import without_heads
from glassbox.modes import evaluating

#: None of them has two tokens that are about as probable: the test asserts that.
SENTENCES = [
    "time flies like an arrow",
    "I love machine learning.",
    "Dogs are great.",
    "Where is the train station?",
    "He doesn't know what to do.",
    "I have never seen such a beautiful house.",
    "Tom said that he would come back tomorrow.",
    "It's raining, so we'll stay at home today!",
    "My father bought a new car last week.",
    "Could you tell me how to get to the museum?",
    "Thank you",
    "She is 25 years old, and her brother is 30.",
    "J'aime les chiens.",
    "Où est la gare ?",
    "Je n'ai jamais vu une si belle maison.",
    "Il fait froid aujourd'hui.",
    "Elle m'a dit qu'elle était fatiguée.",
    "Qu'est-ce que tu veux manger ce soir ?",
    "Nous avons passé nos vacances à la mer.",
    "Le garçon a mangé une pomme rouge.",
    "Merci beaucoup",
    "Tom et Marie sont allés au cinéma hier.",
    "Peux-tu m'aider à porter ce sac, s'il te plaît ?",
    "L'été dernier, j'ai lu trois livres.",
]
MAPS = 72
GAP = 1e-3  # between the two most probable tokens: far more than any rounding
HEADS = [
    ("encoder.layers.0.self_attention", 3),
    ("encoder.layers.2.self_attention", 0),
    ("decoder.layers.0.self_attention", 5),
    ("decoder.layers.1.cross_attention", 1),
    ("decoder.layers.1.cross_attention", 6),
    ("decoder.layers.2.cross_attention", 2),
]


def read_again(translator, source, target):
    """What the package computes for a source and what was written."""
    ids = torch.tensor([source]), torch.tensor([[translator.tokenizer.bos_id, *target[:-1]]])
    with evaluating(translator.model), torch.inference_mode(), record(translator.model) as tape:
        logits = translator.model(*ids)[0]
    return logits, tape


def written(translator, source, prompt=()):
    """What the package writes greedily, after a prompt."""
    tokenizer = translator.tokenizer
    with evaluating(translator.model):
        ids = generate(
            translator.model,
            torch.tensor([[tokenizer.bos_id, *prompt]]),
            source_ids=torch.tensor([source]),
            max_new_tokens=translator._configure(len(source), {}).max_new_tokens,
        )
    return ids[0, 1:].tolist()


@pytest.fixture(scope="module", params=SENTENCES)
def pair(request, machine, translator):
    """A sentence as the page translated it, and as the package does."""
    found = machine.translate(request.param)
    return request.param, found, *read_again(translator, found.source, found.target)


def test_the_source_is_the_same_and_the_tokens_are_written_greedily(pair, translator):
    text, found, logits, _ = pair
    to = translator.target_language(text)
    assert found.source == translator.tokenizer.encode_source(text, to)
    best = logits.topk(2).values
    assert (best[:, 0] - best[:, 1]).min() > GAP
    assert found.target == written(translator, found.source)
    assert found.text == translator.translate(text, n_beams=1)


def test_every_logit_is_the_same(pair):
    _, found, logits, _ = pair
    torch.testing.assert_close(found.tensors["logits"][0], logits, atol=1e-4, rtol=0)


def test_every_map_is_the_same(pair):
    _, found, _, tape = pair
    compared = 0
    for name, attention in tape.items():
        weights = found.tensors[f"{name}/weights"]
        torch.testing.assert_close(weights, attention.weights[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(
            weights.sum(-1), torch.ones(weights.shape[:2]), atol=1e-5, rtol=0
        )
        compared += len(weights)
    assert compared == MAPS


def test_so_is_every_number_on_the_way_to_a_map(pair):
    _, found, _, tape = pair
    for name, attention in tape.items():
        for kind in ("query", "key", "value", "context", "scores"):
            ours = found.tensors[f"{name}/{kind}"]
            expected = getattr(attention, kind)[0]
            if kind == "scores" and attention.mask is not None:
                expected = expected.masked_fill(~attention.mask, 0)  # the page has written no more
            torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-5)


def test_so_is_what_every_part_returns(pair):
    _, found, _, tape = pair
    # The embedding and the projection of the memory run in another order there, or not as parts.
    ours = {name: rows for name, rows in found.tensors.items() if name in tape.outputs}
    del ours["source_embedding"]
    assert len(ours) > 80
    for name, rows in ours.items():
        torch.testing.assert_close(rows, tape.outputs[name], atol=1e-4, rtol=1e-5)
    stream = tape.outputs["dropout"]  # which leaves the target's embeddings as they are
    torch.testing.assert_close(found.tensors["target_positions"], stream, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("text", [*SENTENCES[:3], *SENTENCES[12:15]])
def test_five_beams_write_what_the_package_writes(machine, translator, text):
    (best,) = translator.alternatives(text, n=1)
    found = machine.translate(text, beams=5)
    assert translator.tokenizer.tokens(found.target) == best.tokens
    assert found.text == best.text


@pytest.mark.parametrize("text", [SENTENCES[5], SENTENCES[19]])
def test_all_five_that_end_are_those_of_the_package_with_their_scores(machine, translator, text):
    call = """async ([text, options]) => {
      const { beamSearch } = await import("./machine/beam_search.js");
      return beamSearch(translator.model, translator.encode(text), options);
    }"""
    source = translator.tokenizer.encode_source(text, translator.target_language(text))
    for n_beams, room in ((5, 20), (3, 4)):
        found = machine.page.evaluate(call, [text, {"nBeams": n_beams, "maxNewTokens": room}])
        with evaluating(translator.model):
            beams = beam_search(
                translator.model,
                source_ids=torch.tensor([source]),
                n_beams=n_beams,
                n_best=n_beams,
                max_new_tokens=room,
            )
        scores = torch.tensor([one["score"] for one in found])
        torch.testing.assert_close(scores, beams.scores[0], atol=1e-5, rtol=0)
        for one, ids, length in zip(found, beams.token_ids[0], beams.lengths[0], strict=True):
            assert one["tokens"] == ids[1 : 1 + length].tolist()


def test_a_token_that_the_reader_chooses_is_followed_by_what_the_package_writes(
    machine, translator
):
    changed = 0
    for text in (SENTENCES[0], SENTENCES[2], SENTENCES[12], SENTENCES[17]):
        before = machine.translate(text)
        prompt = before.tensors["logits"][0][0].topk(2).indices[1:].tolist()
        found = machine.translate(text, prompt=prompt)
        assert found.target == written(translator, found.source, prompt)
        logits, _ = read_again(translator, found.source, found.target)
        torch.testing.assert_close(found.tensors["logits"][0], logits, atol=1e-4, rtol=0)
        changed += found.target[1:] != before.target[1:]
    assert changed > 0


@pytest.mark.parametrize("heads", [HEADS[:1], HEADS[3:4], HEADS], ids=["encoder", "cross", "six"])
def test_heads_that_are_switched_off_are_missed_as_in_the_package(machine, translator, heads):
    for text in (SENTENCES[0], SENTENCES[18]):
        found = machine.translate(text, off=heads)
        with without_heads(translator.model, heads):
            assert found.target == written(translator, found.source)
            logits, tape = read_again(translator, found.source, found.target)
        torch.testing.assert_close(found.tensors["logits"][0], logits, atol=1e-4, rtol=0)
        for name, attention in tape.items():
            weights = found.tensors[f"{name}/weights"]
            torch.testing.assert_close(weights, attention.weights[0], atol=1e-5, rtol=0)
        again = machine.translate(text)
        assert not torch.equal(again.tensors["logits"][0][0], found.tensors["logits"][0][0])


def test_a_whole_translation_at_once_gives_the_logits_of_one_token_at_a_time(machine, translator):
    found = machine.translate(SENTENCES[3])
    call = "([source, target]) => translator.model.call(source, target).map((row) => [...row])"
    before = [translator.tokenizer.bos_id, *found.target[:-1]]
    at_once = torch.tensor(machine.page.evaluate(call, [found.source, before]))
    torch.testing.assert_close(at_once, found.tensors["logits"][0], atol=1e-4, rtol=0)


def test_a_transformer_of_another_kind_is_refused(machine):
    call = """async (changes) => {
      const { Transformer } = await import("./machine/transformer.js");
      try { new Transformer({ ...translator.model.config, ...changes }, {}); }
      catch (error) { return error.message; }
    }"""
    changes = {"norm_first": False, "positions": "rotary"}
    said = machine.page.evaluate(call, changes)
    assert "norm_first=false" in said
    assert "positions=rotary" in said


def test_a_translation_may_be_as_long_as_in_the_package(machine, translator):
    lengths = list(range(3, 65))
    room = machine.page.evaluate("(lengths) => lengths.map((n) => translator.room(n))", lengths)
    assert room == [translator._configure(n, {}).max_new_tokens for n in lengths]


@pytest.mark.slow
def test_sentences_of_the_test_part_are_translated_alike(machine, translator, data):
    data("tatoeba_eng_fra/fra-eng.zip")
    number = int(os.environ.get("GLASSBOX_SENTENCES", "40"))
    texts = [text for pair in tatoeba("test")[:: 4000 // number] for text in pair][:number]
    call = """(texts) => texts.map((text) => {
      const { text: translation, logits } = translator.translate(text);
      const best = logits.map((row) => row.toSorted().slice(-2));
      return [translation, Math.min(...best.map(([second, first]) => first - second))];
    })"""
    found = machine.page.evaluate(call, texts)
    clear = [place for place, (_, gap) in enumerate(found) if gap > GAP]
    assert len(texts) == number
    assert len(clear) > 0.95 * number
    expected = translator.translate(texts, n_beams=1)
    assert [found[place][0] for place in clear] == [expected[place] for place in clear]
