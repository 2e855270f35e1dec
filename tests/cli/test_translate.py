"""`glassbox translate`: arguments and lines in, translations out, in any locale."""

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest

from glassbox.cli import main
from glassbox.cli import translate as module
from glassbox.translation import Alternative, Translator
from tests.cli.conftest import started
from tests.translation import toy

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

HERE = {"I see a dog.": "Je vois un chien.", "Tu connais l'arbre.": "You know the tree."}
ACCENTS = ("Nous aimons un éléphant vert.", "We love a green elephant.")


def test_each_text_is_answered_with_a_line_in_the_other_language(folder, glassbox):
    answer = glassbox("translate", "--model", folder, *HERE)
    assert (answer.status, answer.out.splitlines(), answer.err) == (0, [*HERE.values()], "")


def test_without_texts_lines_are_read_and_blank_ones_stay(folder, glassbox):
    lines = f"I see a dog.\n\n \u200b \r\n{ACCENTS[0]}\r\nTu connais l'arbre."
    answer = glassbox("translate", "--model", folder, stdin=lines)
    expected = ["Je vois un chien.", "", "", ACCENTS[1], "You know the tree."]
    assert (answer.status, answer.out.splitlines(), answer.err) == (0, expected, "")
    assert glassbox("translate", "--model", folder).out == ""


def test_an_empty_text_is_a_text(folder, glassbox):
    assert glassbox("translate", "--model", folder, "", stdin="I see a dog.\n").out == "\n"


def test_the_languages_can_be_said(folder, glassbox):
    """The probability tells which language was asked for."""
    translator = Translator.from_pretrained(folder)
    for arguments, to in (
        ([], "fr"),
        (["--to", "fr"], "fr"),
        (["--from", "en"], "fr"),
        (["--to", "en"], "en"),
        (["--from", "fr"], "en"),
    ):
        (one,) = translator.alternatives("I see a dog.", to, 1)
        asked = ["--model", folder, "--alternatives", 1, *arguments, "I see a dog."]
        assert glassbox("translate", *asked).out == f"{one.probability:#.3g}\t{one.text}\n"
    odds = [translator.alternatives("I see a dog.", to, 1)[0].probability for to in ("en", "fr")]
    assert f"{odds[0]:#.3g}" != f"{odds[1]:#.3g}"


def test_options_are_those_of_the_translator(folder, glassbox):
    translator = Translator.from_pretrained(folder)
    text = "You know a red house and a dog and the old cat."
    for arguments, options in (
        (["--beams", "1"], {"n_beams": 1}),
        (["--beams", "8", "--length-penalty", "3.5"], {"n_beams": 8, "length_penalty": 3.5}),
        (["--beams", "8", "--length-penalty=-5"], {"n_beams": 8, "length_penalty": -5.0}),
        (["--max-tokens", "3"], {"max_new_tokens": 3}),
        ([], {"n_beams": 5}),
    ):
        answer = glassbox("translate", "--model", folder, *arguments, text)
        assert answer.out == translator.translate(text, **options) + "\n"


def test_samples_follow_the_seed(folder, glassbox):
    def out(seed, *more):
        drawn = ["--sample", "--temperature", "6", "--seed", seed]
        answer = glassbox("translate", "--model", folder, *drawn, *more, "I see a dog.")
        assert (answer.status, answer.err) == (0, "")
        return answer.out

    assert out(1) == out(1) != out(2)
    assert out(1, "--top-k", 1) == out(2, "--top-p", 0.000001) == "Je vois un chien.\n"


def test_alternatives_have_their_probabilities(folder, glassbox):
    text = "I see a dog."
    expected = Translator.from_pretrained(folder).alternatives(text, n=3)
    answer = glassbox("translate", "--model", folder, "--alternatives", 3, text)
    lines = [line.split("\t") for line in answer.out.splitlines()]
    assert [one.text for one in expected] == [found for _, found in lines]
    for one, (probability, _) in zip(expected, lines, strict=True):
        assert float(probability) == pytest.approx(one.probability, rel=0.005)


def test_a_blank_line_ends_the_alternatives_of_a_line(folder, glassbox):
    answer = glassbox("translate", "--model", folder, "--alternatives", 2, stdin="I see a dog.\n\n")
    lines = answer.out.splitlines()
    assert [bool(line) for line in lines] == [True, True, False, False, False]
    both = glassbox("translate", "--model", folder, "--alternatives", 2, *HERE)
    assert [bool(line) for line in both.out.splitlines()] == [True, True, False] * 2


def test_an_answer_is_one_line_whatever_the_model_writes(folder, glassbox, monkeypatch):
    said = Alternative("one\r\ntwo\x85three\u2028four\x07\x1b[31m five\tsix", 0.5, -0.69, ())
    monkeypatch.setattr(Translator, "alternatives", lambda *_, **__: [said])
    answer = glassbox("translate", "--model", folder, "x")
    assert answer.out == "one two three four [31m five six\n"


def test_the_page_shows_the_translation_that_is_printed(folder, glassbox, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    drawn = ["--sample", "--temperature", 8, "--top-k", 3, "--seed", 1]
    said = []
    for more in ([], drawn):
        arguments = ["translate", "--model", folder, "--show-attention", page, *more]
        answer = glassbox(*arguments, "I see a dog.")
        assert answer.status == 0
        assert f"<bdi>{answer.out.strip()}</bdi>" in page.read_text(encoding="utf-8")
        assert "<bdi>I see a dog.</bdi>" in page.read_text(encoding="utf-8")
        said.append(answer.out)
    assert said[0] != said[1]
    assert [*tmp_path.iterdir()] == [page]


def test_a_page_that_cannot_be_written_leaves_the_old_one(folder, glassbox, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("old")

    def full(self, *_, **__):
        self.write_bytes(b"<!DOC")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    answer = glassbox("translate", "--model", folder, "--show-attention", page, "I see a dog.")
    assert (answer.status, answer.err) == (2, "glassbox: [Errno 28] No space left on device\n")
    assert ([*tmp_path.iterdir()], page.read_text()) == ([page], "old")


BAD = {
    "no translator": (["--model", "nowhere", "x"], "no model 'nowhere' (no such folder)"),
    "a language": (
        ["--to", "de", "x"],
        "--to de: this translator writes only fr (from en) and en (from fr)",
    ),
    "a language to itself": (["--from", "en", "--to", "en", "x"], "--from en --to en: this"),
    "a device": (["--device", "abacus", "x"], "--device abacus: expected cpu"),
    "beams": (["--beams", "0", "x"], "--beams=0: expected an int, at least 1"),
    "tokens": (["--max-tokens", "0", "x"], "--max-tokens=0: expected an int, at least 1"),
    "more tokens than can be counted": (
        ["--max-tokens", "9" * 23, "x"],
        f"--max-tokens={'9' * 23}: expected an int, at most 10**18",
    ),
    "more tokens than memory": (["--max-tokens", "9" * 18, "x"], "not enough memory ([enforce fai"),
    "a large seed": (
        ["--sample", "--seed", "9" * 20, "x"],
        f"--seed={'9' * 20}: expected 0 to 18446744073709551615",
    ),
    "draws": (["--top-k", "0", "--sample", "x"], "--top-k=0: expected an int, at least 1"),
    "alternatives": (
        ["--alternatives", "0", "x"],
        "--alternatives=0: expected an int, at least 1",
    ),
    "temperature": (["--temperature", "2.0", "x"], "--temperature 2.0 has no effect"),
    "top-k": (["--top-k", "2", "x"], "--top-k 2 has no effect"),
    "seed": (["--seed", "0", "x"], "--seed 0 has no effect without sampling: add --sample"),
    "beams and samples": (["--beams", "2", "--sample", "x"], "--beams 2 contradicts --sample"),
    "length of one beam": (
        ["--length-penalty", "1", "--beams", "1", "x"],
        "--length-penalty is for beam search: leave out --sample or --beams 1",
    ),
    "length of samples": (["--length-penalty", "1", "--sample", "x"], "is for beam search"),
    "a page of several": (["--show-attention", "p", "x", "y"], "with 2 texts: the page shows one"),
    "a page of lines": (["--show-attention", "p"], "with 0 texts: the page shows one"),
    "a page of nothing": (["--show-attention", "p", " "], "text=' ' is blank: there is nothing to"),
    "a page nowhere": (["--show-attention", "no/p", "x"], "no folder 'no' to write p in: make it"),
    "half a character": (["a\udc80"], "TEXT 'a\\udc80' is not UTF-8: convert it"),
    "a long text": (["dog " * 600], "has 1202 tokens"),
}


@pytest.mark.parametrize(("arguments", "says"), BAD.values(), ids=BAD)
def test_what_a_user_can_mend_is_said(arguments, says, folder, glassbox, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = glassbox("translate", "--model", folder, *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert says in answer.err
    assert answer.err.startswith("glassbox: ")
    assert answer.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_a_hint_follows_the_translation_of_an_unfamiliar_text(folder, glassbox):
    lines = ["I see a dog.", "Straße, Übermut, Käse und Ärger", "You know the tree."]
    answer = glassbox("translate", "--model", folder, stdin="\n".join(lines))
    assert answer.status == 0
    assert len(answer.out.splitlines()) == 3
    assert answer.err == (
        "glassbox: 'Straße, Übermut, Käse und Ärger' is unlike the text (en, fr) that this "
        "translator has learned from: do not rely on the translation\n"
    )


def test_what_a_hint_leaves_out_of_a_text_is_marked(folder, glassbox):
    text = "Straße, Übermut, Käse und Ärger über Bücher und Flüsse"
    answer = glassbox("translate", "--model", folder, text)
    assert answer.err.startswith("glassbox: 'Straße, Übermut, Käse und Ärger über Bü…' is unlike")


def test_the_page_without_its_libraries_names_the_extra_that_brings_them(
    folder, glassbox, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = tmp_path / "page.html"
    answer = glassbox("translate", "--model", folder, "--show-attention", page, "I see a dog.")
    assert (answer.status, answer.out, [*tmp_path.iterdir()]) == (2, "", [])
    assert answer.err.startswith("glassbox: --show-attention needs matplotlib, which is not insta")
    assert answer.err.endswith("pip install 'glassbox[book]'\n")


def test_the_folder_of_a_run_leads_to_its_model(folder, glassbox, tmp_path):
    shutil.copytree(folder, tmp_path / "es" / "model")
    answer = glassbox("translate", "--model", tmp_path / "es", "x")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.endswith(f". Did you mean {tmp_path / 'es' / 'model'}?\n")
    answer = glassbox("translate", "--model", tmp_path, "x")
    assert (answer.status, "Did you mean" in answer.err) == (2, False)


def test_help_says_what_each_option_does_and_what_it_needs(glassbox):
    said = " ".join(glassbox("translate", "--help").out.split())
    for meaning in (
        "--max-tokens N at most N tokens (default: a little over twice the text's)",
        "--top-p X with --sample: draw from the most probable tokens that together have",
        "--seed N with --sample: the same N gives the same translation",
        "--model NAME a translator in the package, or a folder such as runs/mine/model (default",
        "where the model looked (needs pip install 'glassbox[book]')",
    ):
        assert meaning in said


def test_a_folder_with_half_of_its_merges_is_refused_in_a_line(folder, glassbox, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "broken")
    lines = (broken / "merges.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (broken / "merges.txt").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    answer = glassbox("translate", "--model", broken, "I see a dog.")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"glassbox: {broken} holds no translator's tokenizer: ")
    assert "Is the list of merges truncated?" in answer.err
    assert answer.err.count("\n") == 1
    assert answer.err.count("\n") == 1


def test_what_is_not_utf_8_is_refused_by_its_line(folder, glassbox):
    lines = "I see a dog.\nNous aimons la forêt.\n".encode() + "forêt\n".encode("latin-1")
    answer = glassbox("translate", "--model", folder, stdin=lines)
    assert answer.status == 2
    assert answer.out.startswith("Je vois un chien.\n")
    assert "line 3 of standard input is not UTF-8 text" in answer.err


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("[" * 100_000, "is not JSON"),
        ({"vocab_size": 10**30}, f"vocab_size={10**30}"),
        ({"n_layers": 10**9}, "n_layers=1000000000"),
    ],
    ids=["lists in lists", "a vocabulary", "layers"],
)
def test_a_hostile_configuration_is_answered_in_one_line(config, says, folder, glassbox, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    file = copy / "config.json"
    file.write_text(
        config if isinstance(config, str) else json.dumps(json.loads(file.read_text()) | config)
    )
    answer = glassbox("translate", "--model", copy, "I see a dog.")
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert says in answer.err


def test_a_terminal_is_told_what_is_waited_for(folder, glassbox, monkeypatch):
    class Terminal:
        buffer = iter([b"I see a dog.\n"])

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(module, "sys", sys)
    assert [*module.lines()] == ["I see a dog."]


def test_a_pipe_is_answered_line_by_line_in_utf_8_until_ctrl_c(folder):
    """In a locale that knows nothing but ASCII; the second line comes after the first answer."""
    with started("translate", "--model", folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for line, expected in (ACCENTS, ("", ""), ACCENTS[::-1]):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline() == f"{expected}\n".encode()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""


def test_a_reader_that_leaves_ends_it_without_a_word(folder):
    with started("translate", "--model", folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"I see a dog.\n" * 3)
        process.stdin.close()
        assert process.wait() == 141
        assert process.stderr.read() == b""


def test_the_toy_is_what_the_tests_take_it_for(folder):
    assert [Translator.from_pretrained(folder).translate(text) for text in HERE] == [*HERE.values()]
    assert ACCENTS[1] in toy.ENGLISH


@pytest.mark.parametrize("arguments", [["--to", "fr"], ["--from", "en"]])
def test_a_hint_follows_a_text_in_another_language_than_was_asked_for(arguments, glassbox):
    """The book's own translator, which has seen both languages."""
    answer = glassbox("translate", *arguments, "J'aime les chiens.", "I like dogs.", "Paris.", "")
    assert answer.status == 0
    assert len(answer.out.split("\n")) > 4
    assert answer.err == (
        """glassbox: "J'aime les chiens." looks like 'fr', which the directions asked for do not """
        "start from: check --from and --to\n"
    )
    assert glassbox("translate", "J'aime les chiens.", "I like dogs.").err == ""


def test_closed_streams_are_empty(folder, glassbox, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert [*module.lines()] == []
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["translate", "--model", folder, "I see a dog."]) == 0
