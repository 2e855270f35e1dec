"""Translating: what decoding by hand gives, whatever else is in the batch, and exact odds."""

import copy
import json
import math
from itertools import pairwise

import pytest
import torch

from glassbox import weights
from glassbox.generation import beam_search, generate
from glassbox.masks import padding_mask
from glassbox.tokenization import BPE
from glassbox.transformer import Transformer, TransformerConfig
from glassbox.translation import Alternative, TranslationTokenizer, Translator
from glassbox.translation import translator as module
from tests.translation import toy

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

LONG = "We love the old house and the tree."


def by_hand(translator, text, to, **options):
    """Decode a text with `generate`, and what is needed for it."""
    tokenizer = translator.tokenizer
    source = torch.tensor([tokenizer.encode_source(text, to)], device=translator.device)
    model = copy.deepcopy(translator.model).eval()
    options = {"max_new_tokens": 20, **options}
    written = generate(model, source_ids=source, **options)[0].tolist()
    return tokenizer.decode(written[: (*written, 2).index(2)])


def sum_of_logs(translator, text, to, tokens):
    """Add up what the model gives each token, reading one prefix after another."""
    tokenizer = translator.tokenizer
    source = torch.tensor([tokenizer.encode_source(text, to)], device=translator.device)
    ids = [1, *(tokenizer.bpe.token_id(token) for token in tokens)]
    model = copy.deepcopy(translator.model).eval()
    total = 0.0
    with torch.no_grad():
        for length in range(1, len(ids)):
            prefix = torch.tensor([ids[:length]], device=translator.device)
            logits = model(source, prefix)[0, -1].double()
            total += float(logits.log_softmax(dim=-1)[ids[length]])
    return total


def test_it_has_learned_both_directions_by_heart(translator):
    assert translator.translate(toy.ENGLISH) == toy.FRENCH
    assert translator.translate(toy.FRENCH) == toy.ENGLISH


@pytest.mark.parametrize(
    "options",
    [{"n_beams": 1}, {"n_beams": 3, "length_penalty": 0.6}, {"n_beams": 2, "max_new_tokens": 4}],
)
def test_a_translation_is_what_generate_writes(options, translator, ignorant):
    for model in (translator, ignorant):
        for text in ("I see a dog.", LONG):
            ours = model.translate(text, "fr", **{"max_new_tokens": 20} | options)
            assert ours == by_hand(model, text, "fr", **options)


def test_five_beams_are_followed_unless_something_is_said(translator, monkeypatch):
    """And the room is twice the source, filled up to a multiple of eight, and ten."""
    configs = []

    def spy(model, *, config, **others):
        configs.append(config)
        return generate(model, config=config, **others)

    monkeypatch.setattr(module, "generate", spy)
    for text in ("I see a dog.", LONG):
        translator.translate(text)
    translator.translate(LONG, sample=True)
    assert [
        len(translator.tokenizer.encode_source(text, "fr")) for text in (toy.ENGLISH[0], LONG)
    ] == [8, 13]
    found = [(one.n_beams, one.max_new_tokens, one.sample) for one in configs]
    assert found == [(5, 26, False), (5, 42, False), (1, 42, True)]


@pytest.mark.usefixtures("as_a_reader")
def test_a_translation_does_not_depend_on_the_others(ignorant):
    """Texts that run to the end of their room: a batch's would show."""
    texts = [LONG, "I see.", "", toy.FRENCH[4], "x", "\t ", toy.ENGLISH[14], LONG + LONG, "y"]
    alone = [ignorant.translate(text, "fr") for text in texts]
    for batch_size in (1, 3, 64):
        assert ignorant.translate(texts, "fr", batch_size=batch_size) == alone
    assert alone[2] == alone[5] == ""
    assert len({*alone}) > 5


def test_texts_may_come_one_by_one(translator):
    assert translator.translate(iter(toy.ENGLISH[:3])) == toy.FRENCH[:3]
    assert translator.translate([]) == []
    assert translator.translate(["", " \n", "\u200b\u00ad\u00a0"]) == ["", "", ""]


def test_no_more_texts_are_in_a_batch_than_allowed(translator, monkeypatch):
    sizes = []
    inner = Transformer.encode

    def encode(self, source_ids, mask=None):
        sizes.append(source_ids.shape)
        return inner(self, source_ids, mask)

    monkeypatch.setattr(Transformer, "encode", encode)
    translator.translate(toy.ENGLISH, batch_size=4)
    assert max(rows for rows, _ in sizes) == 4
    assert sum(rows for rows, _ in sizes) == len(toy.ENGLISH)
    lengths = [width for _, width in sizes]
    assert lengths == sorted(lengths), "texts of like lengths belong together"


@pytest.mark.parametrize("training", [True, False])
def test_the_model_stays_as_it_was_and_does_without_dropout(training, translator):
    model = translator.model.train(training)
    before = copy.deepcopy(model.state_dict())
    found = {translator.alternatives(LONG)[0].log_probability for _ in range(3)}
    assert len(found) == 1
    assert model.training is training
    assert all(module.training is training for module in model.modules())
    after = model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(parameter.grad is None for parameter in model.parameters())
    with pytest.raises(ValueError, match="temperature"):
        translator.translate(LONG, sample=True, temperature=-1.0)
    assert model.training is training


def test_the_model_is_trained_on_after_it_has_translated():
    fresh = toy.blank()
    fresh.alternatives(LONG, "fr", n=2)
    ids = torch.tensor([[1, 2]])
    fresh.model(ids, ids).sum().backward()
    assert fresh.model.output.weight.grad is not None


# Alternatives.


@pytest.mark.usefixtures("as_a_reader")  # which takes a third of the time
@pytest.mark.parametrize(
    "options",
    [{}, {"n_beams": 12}, {"sample": True, "temperature": 3.0, "max_new_tokens": 20}],
)
@pytest.mark.parametrize("text", ["I see a dog.", "Nous aimons la vieille maison et l'arbre."])
def test_probabilities_are_those_of_the_finished_sequence(options, text, translator):
    to = translator.target_language(text)
    torch.manual_seed(0)
    found = translator.alternatives(text, to, 6, **options)
    assert len(found) > 1
    for one in found:
        expected = sum_of_logs(translator, text, to, one.tokens)
        assert one.log_probability == pytest.approx(expected, abs=2e-4)
        assert one.probability == pytest.approx(math.exp(expected), rel=2e-4)
        ids = [translator.tokenizer.bpe.token_id(token) for token in one.tokens]
        assert one.text == translator.tokenizer.decode(ids)
    assert all(one.probability >= other.probability for one, other in pairwise(found))
    assert sum(one.probability for one in found) <= 1
    assert len({one.text for one in found}) == len(found)


def test_sequences_without_an_end_have_probabilities_too(ignorant):
    for options in ({"max_new_tokens": 5}, {"sample": True, "max_new_tokens": 5}):
        for one in ignorant.alternatives(LONG, "fr", 4, **options):
            assert len(one.tokens) == 5
            assert "</s>" not in one.tokens
            expected = sum_of_logs(ignorant, LONG, "fr", one.tokens)
            assert one.log_probability == pytest.approx(expected, abs=2e-4)


def test_the_most_probable_alternative_is_the_translation(translator):
    found = translator.alternatives("I see a red cat.")
    assert isinstance(found[0], Alternative)
    assert found[0].text == "Je vois un chat rouge."
    assert found[0].tokens[-1] == "</s>"
    assert found[0].probability > 0.8


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("n_beams", [1, 5])
def test_one_alternative_is_the_translation(n_beams, ignorant):
    for text in (LONG, "I see a dog."):
        (one,) = ignorant.alternatives(text, "fr", 1, n_beams=n_beams)
        assert one.text == ignorant.translate(text, "fr", n_beams=n_beams)


def test_alternatives_are_the_beams_that_ended(translator):
    source = torch.tensor([translator.tokenizer.encode_source(LONG, "fr")]).to(translator.device)
    model = copy.deepcopy(translator.model).eval()
    beams = beam_search(model, source_ids=source, n_beams=7, n_best=7, max_new_tokens=42)
    texts = {
        translator.tokenizer.decode(row[: row.index(2)]) for row in beams.token_ids[0].tolist()
    }
    assert {one.text for one in translator.alternatives(LONG, "fr", 7)} == texts


@pytest.mark.parametrize("options", [{}, {"sample": True}, {"n_beams": 1}])
def test_a_translation_ends_where_it_is_told_to(options, translator):
    dot, letter = map(translator.tokenizer.bpe.token_id, ".a")
    ends = {"eos_id": [dot, translator.tokenizer.eos_id], **options}
    generator = torch.Generator().manual_seed(0)
    texts = ["Je vois un chien.", "Nous aimons la vieille maison et l'arbre."]
    found = translator.translate(texts, "en", pad_id=letter, generator=generator, **ends)
    assert found == ["I see a dog.", "We love the old house and the tree."]
    first = translator.alternatives(texts[0], generator=generator, **ends)[0]
    assert first.tokens[-1] == "."
    assert first.log_probability > -1


def test_samples_are_those_of_the_seed(translator):
    def draw(seed, function=translator.alternatives, **options):
        generator = torch.Generator(translator.device).manual_seed(seed)
        options = {"sample": True, "temperature": 4.0, **options}
        return function(LONG, "fr", generator=generator, **options)

    assert draw(1) == draw(1) != draw(2)
    assert draw(1, translator.translate) == draw(1, translator.translate)
    assert draw(1, translator.translate) != draw(2, translator.translate)
    assert len(draw(1, top_k=1)) == 1, "the same one, drawn five times"


def test_of_two_spellings_of_a_text_the_more_probable_stays(translator, monkeypatch):
    tokenizer = translator.tokenizer
    whole = [1, *tokenizer.encode_text("Je vois."), 2]
    first = tokenizer.tokens(whole)[1]
    letters = [tokenizer.bpe.token_id(letter) for letter in first]
    assert len(letters) > 1
    longest = len(whole) + len(letters) - 1
    rows = [[1, *letters, *whole[2:]], whole + [0] * (longest - len(whole))]
    monkeypatch.setattr(module, "generate", lambda *_, **__: torch.tensor(rows))
    (one,) = translator.alternatives("I see.", "fr", 2, sample=True)
    assert one.tokens == tokenizer.tokens(whole[1:])


# Languages.


def test_the_language_is_told_from_the_text_unless_it_is_said(translator):
    assert translator.target_language("Je vois un chien.") == "en"
    assert translator.target_language("I see a dog.") == "fr"
    assert translator.target_language("I see a dog.", to="en") == "en"
    assert translator.target_language("I see a dog.", source="fr") == "en"
    assert translator.translate([toy.ENGLISH[3], toy.FRENCH[5]]) == [toy.FRENCH[3], toy.ENGLISH[5]]
    assert translator.translate(toy.ENGLISH[3], source="en") == toy.FRENCH[3]


def three(directions, *, classified=True):
    texts = {"de": ["Ich sehe einen Hund."], "en": ["I see a dog."], "fr": ["Je vois un chien."]}
    tokenizer = TranslationTokenizer.train(texts, 300, directions=directions)
    if not classified:
        tokenizer = module.replace(tokenizer, classifier=None)
    return Translator(Transformer(TransformerConfig.tiny(vocab_size=len(tokenizer))), tokenizer)


def test_where_one_language_is_written_nothing_is_asked():
    one = three([("fr", "en"), ("de", "en")], classified=False)
    assert one.target_language("I see a dog.") == one.target_language("Je vois.") == "en"


def test_where_several_are_possible_the_reader_is_asked():
    both = three([("en", "fr"), ("en", "de"), ("de", "en")])
    assert both.target_language("Ich sehe einen Hund.") == "en"
    with pytest.raises(ValueError, match=r"into which language\? Give to=..., one of \['de', 'fr'"):
        both.target_language("I see a dog.")
    assert both.target_language("I see a dog.", to="de") == "de"
    blind = three([("en", "fr"), ("fr", "en")], classified=False)
    with pytest.raises(ValueError, match=r"one of \['en', 'fr'\]"):
        blind.translate("I see a dog.")
    assert blind.target_language("I see a dog.", source="en") == "fr"


# Folders.


@pytest.mark.parametrize("dtype", [None, torch.bfloat16, torch.float16])
def test_what_is_saved_translates_as_before(dtype, translator, tmp_path):
    weights = copy.deepcopy(translator.model.state_dict())
    translator.save_pretrained(tmp_path, dtype)
    read = Translator.from_pretrained(tmp_path)
    assert {*(file.name for file in tmp_path.iterdir())} == {
        *("config.json", "merges.txt", "model.safetensors", "token_counts.json"),
        *("tokenizer_config.json", "translator.json", "vocab.json"),
    }
    stored = json.loads((tmp_path / "config.json").read_text())["dtype"]
    assert stored == str(dtype or torch.float32).removeprefix("torch.")
    for name, ours in read.model.state_dict().items():
        assert ours.dtype == torch.float32
        assert torch.equal(ours, weights[name].to(dtype).float().cpu())
        assert torch.equal(translator.model.state_dict()[name], weights[name])
    assert not read.model.training
    assert read.model.output.weight is read.model.target_embedding.weight
    assert read.translate(toy.ENGLISH) == toy.FRENCH


def test_half_precision_takes_half_the_room(translator, tmp_path):
    sizes = []
    for dtype in (torch.float32, torch.bfloat16):
        translator.save_pretrained(tmp_path / str(dtype), dtype)
        sizes.append((tmp_path / str(dtype) / "model.safetensors").stat().st_size)
    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    assert sizes[0] - sizes[1] == pytest.approx(2 * parameters, rel=0.001)


def test_a_translator_computes_in_the_precision_of_its_model(translator):
    half = Translator(copy.deepcopy(translator.model).bfloat16(), translator.tokenizer)
    assert half.translate(toy.ENGLISH[:3]) == toy.FRENCH[:3]
    assert half.alternatives(toy.ENGLISH[0])[0].probability > 0.5


def test_what_cannot_be_written_leaves_what_was_there(translator, tmp_path, monkeypatch):
    translator.save_pretrained(tmp_path)
    (tmp_path / "CARD.md").write_text("A card.")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Transformer, "save_pretrained", full)
    with pytest.raises(OSError, match="No space"):
        toy.blank().save_pretrained(tmp_path, torch.bfloat16)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_packaged_translator_is_found_by_its_name(translator, tmp_path, monkeypatch):
    folder = tmp_path / "pretrained_weights"
    monkeypatch.setattr(weights, "PACKAGED", folder)
    translator.save_pretrained(folder / "toy-en-fr")
    (folder / "another-kind").mkdir()
    assert Translator.from_pretrained("toy-en-fr").translate(toy.ENGLISH[0]) == toy.FRENCH[0]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        Translator.from_pretrained("toy-en-de")
    assert str(caught.value) == (
        "no model 'toy-en-de' (no such folder): expected a folder with translator.json, or one "
        "that this package carries: toy-en-fr"
    )
    with pytest.raises(FileNotFoundError, match=r"another-kind holds no translator\.json"):
        Translator.from_pretrained(folder / "another-kind")


def test_a_home_folder_is_written_short(translator, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    translator.save_pretrained("~/mine")
    assert (tmp_path / "mine" / "model.safetensors").is_file()
    assert Translator.from_pretrained("~/mine").translate(toy.ENGLISH[0]) == toy.FRENCH[0]


# What is refused.

TOKENIZER = toy.tokenizer()


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"vocab_size": 341}, "vocab_size=341, the tokenizer 340"),
        ({"target_vocab_size": 400}, "written_vocab_size=400, the tokenizer 340"),
        ({"eos_id": 3}, "eos_id=3, the tokenizer 2"),
        ({"bos_id": 0}, "bos_id=0, the tokenizer 1"),
        ({"pad_id": 2}, "pad_id=2, the tokenizer 0"),
    ],
)
def test_a_tokenizer_of_another_model_is_refused(sizes, says):
    with pytest.raises(ValueError, match=f"the model has {says}"):
        toy.blank(**sizes)


def test_files_that_do_not_go_together_are_refused(translator, tmp_path):
    translator.save_pretrained(tmp_path)
    texts = {"en": ["I see a dog."], "fr": ["Je vois un chien."]}
    TranslationTokenizer.train(texts, 280).save(tmp_path)
    with pytest.raises(ValueError, match="vocab_size=340, the tokenizer 280"):
        Translator.from_pretrained(tmp_path)


BAD = {
    "an unknown language": (LONG, {"to": "de"}, ValueError, "to='de': .* only en to fr, fr to en"),
    "a blank text too": ("", {"to": "de"}, ValueError, "source=None, to='de'"),
    "the same language": (LONG, {"source": "en", "to": "en"}, ValueError, "no such direction"),
    "no text": (None, {}, TypeError, "text is of type NoneType, None; expected a string, or sev"),
    "one number": (3, {}, TypeError, "text is of type int, 3; expected a string, or several"),
    "bytes": (b"I see.", {}, TypeError, "texts is of type bytes, b'I see.'; expected several str"),
    "a number": (["I see.", 7], {}, TypeError, "text is of type int, 7"),
    "half a character": ("a\udc80", {"to": "fr"}, ValueError, "surrogate"),
    "batches of none": (LONG, {"batch_size": 0}, ValueError, "batch_size=0"),
    "a blank text and no beams": ("", {"n_beams": 0}, ValueError, "n_beams=0"),
    "several": (LONG, {"n_best": 2, "n_beams": 2}, ValueError, "alternatives gives more"),
    "an unknown option": (
        LONG,
        {"beams": 2},
        TypeError,
        "called beams; expected n_beams",
    ),
    "beams and samples": (LONG, {"n_beams": 2, "sample": True}, ValueError, "n_beams=2"),
    "a temperature of nothing": (LONG, {"temperature": 2.0}, ValueError, "nothing is drawn"),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("text", "options", "error", "says"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(text, options, error, says, translator):
    with pytest.raises(error, match=says):
        translator.translate(text, **options)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("text", "options", "error", "says"),
    [
        (" ", {}, ValueError, "text=' ' is blank: there is nothing to translate"),
        (LONG, {"n": 0}, ValueError, "n=0: expected an int, at least 1"),
        (LONG, {"n": 2.5}, ValueError, "n=2.5"),
        (LONG, {"to": "de"}, ValueError, "to='de'"),
        ([LONG], {}, TypeError, "text is of type list"),
    ],
)
def test_alternatives_to_nothing_are_refused(text, options, error, says, translator):
    with pytest.raises(error, match=says):
        translator.alternatives(text, **options)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_text_longer_than_the_model_reads_is_refused(positions):
    short = toy.blank(max_len=20, positions=positions)
    assert short.translate("a " * 18, "fr")
    with pytest.raises(ValueError, match=r"'a a a .*'\.\.\. has 21 tokens.*reads 20 at most"):
        short.translate(["I see.", "a " * 19], "fr")


def test_no_more_is_written_than_there_are_positions_for():
    short = toy.blank(max_len=20, positions="learned")
    (one,) = short.alternatives("a " * 12, "fr", 1)
    assert len(one.tokens) == 20


@pytest.mark.parametrize("dtype", [torch.int8, torch.bool, "bfloat16"])
def test_weights_are_stored_as_floating_point_numbers(dtype, tmp_path):
    with pytest.raises(ValueError, match=f"dtype={dtype!r}: expected floating-point"):
        toy.blank().save_pretrained(tmp_path, dtype)
    assert [*tmp_path.iterdir()] == []


def test_padding_hides_nothing_of_a_short_source(translator):
    """The mask that the batch is read with is that of its padding."""
    rows = [TOKENIZER.encode_source(text, "fr") for text in (LONG, "I see a dog.")]
    ids = toy.fill(rows).to(translator.device)
    with translator._reading(rows) as inputs:
        assert torch.equal(inputs["source_ids"], ids)
        assert torch.equal(inputs["source_mask"], padding_mask(ids, 0))


def test_other_tokenizers_are_no_translators(tmp_path):
    BPE.train(["I see."], 300).save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"holds no translator\.json"):
        Translator.from_pretrained(tmp_path)
