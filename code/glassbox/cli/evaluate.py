"""``glassbox evaluate``: measure a model on a test set, in every way that applies."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassbox.checks import check_at_least, need
from glassbox.cli.device import find_device
from glassbox.cli.translate import check_folder
from glassbox.files import atomic_write

if TYPE_CHECKING:
    from torch import Tensor

    from glassbox.evaluation.corpora import ParallelTest
    from glassbox.models.character_model import CharacterModel
    from glassbox.models.fill_mask import FillMask
    from glassbox.translation import Translator

#: The measures of published runs on Multi30k, and their column headings.
PUBLISHED = {"spacy_bleu": "spaCy", "moses_bleu": "Moses"}
CORPORA = ("tatoeba", "multi30k", "shakespeare", "english")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that glassbox carries, or a folder")
    add("--data", choices=CORPORA, help="the corpus; what suits the model if left out")
    add("--split", help="such as test, valid, test_2017 (default: test, or valid of texts)")
    add("--from", metavar="LANGUAGE", dest="source", help="of the sentences; all if left out")
    add("--to", metavar="LANGUAGE", help="into which they are translated; all if left out")
    add(
        "--beams",
        metavar="N,N",
        type=parse_beams,
        default=[1, 5],
        help="beams of each way to decode; 1 is greedy (default: 1,5)",
    )
    add("--length-penalty", metavar="A", type=float, help="of beam search; more prefers long ones")
    add("--limit", metavar="N", type=int, help="the first N texts, or characters, alone")
    add("--batch-size", metavar="N", type=int, default=64, help="(default: %(default)s)")
    add("--device", default="cpu", help="where to compute, such as cuda (default: %(default)s)")
    add("--json", metavar="FILE", type=Path, help="write all figures there, too")


def run(arguments: argparse.Namespace) -> int:
    """Measure the model given by ``arguments``, print the figures, and return 0.

    Raises
    ------
    ValueError
        If options contradict one another or the model, or a library is not installed.
    FileNotFoundError
        If there is no such model, or no folder for the figures.
    """
    for option, number in (("--limit", arguments.limit), ("--batch-size", arguments.batch_size)):
        if number is not None:
            check_at_least(option, number, 1)
    if arguments.length_penalty is not None and max(arguments.beams) == 1:
        raise ValueError("--length-penalty is for beam search: name more than one of --beams")
    if arguments.json is not None:
        check_folder(arguments.json)
    from glassbox.evaluation import load_model
    from glassbox.models.character_model import CharacterModel
    from glassbox.models.fill_mask import FillMask

    device = find_device(arguments.device)
    loaded = load_model(arguments.model)
    loaded.model.to(device)
    parameters = sum(parameter.numel() for parameter in loaded.model.parameters())
    report = {
        "model": arguments.model,
        "parameters": parameters,
        "vocabulary": loaded.model.config.vocab_size,
        "device": str(device),
        "limit": arguments.limit,
    }
    print(
        f"{arguments.model}: {type(loaded.model).__name__}, {parameters:,} parameters, a "
        f"vocabulary of {report['vocabulary']:,} tokens; on {device}"
    )
    try:
        if isinstance(loaded, CharacterModel):
            report["texts"] = [measure_text(loaded, arguments)]
        elif isinstance(loaded, FillMask):
            report["blanks"] = [measure_blanks(loaded, arguments)]
        else:
            report["directions"] = [
                measure_direction(loaded, test, arguments) for test in find_tests(loaded, arguments)
            ]
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from error
    if arguments.json is not None:
        with atomic_write(arguments.json) as part:
            text = json.dumps(report, indent=1) + "\n"
            part.write_text(text, encoding="utf-8")
    return 0


def find_tests(translator: "Translator", arguments: argparse.Namespace) -> list["ParallelTest"]:
    """Return the test set of each direction of the ``translator`` that ``arguments`` request.

    Raises
    ------
    ValueError
        If there is none: the translator or the corpus lacks the direction.
    """
    from glassbox.evaluation import corpora

    if arguments.data in ("shakespeare", "english"):
        raise ValueError(f"--data {arguments.data} is a text; a translator needs translations")
    asked = [
        (source, to)
        for source, to in translator.tokenizer.directions
        if arguments.source in (None, source) and arguments.to in (None, to)
    ]
    candidates = [arguments.data] if arguments.data else [*corpora.CORPORA]
    for corpus in candidates:
        if found := [pair for pair in asked if {*pair} <= {*corpora.CORPORA[corpus]}]:
            split = arguments.split or "test"
            return [
                corpora.parallel_test(corpus, split, *pair).first(arguments.limit) for pair in found
            ]
    there = ", ".join(f"{source} to {to}" for source, to in translator.tokenizer.directions)
    texts = "; ".join(f"{name} is in {', '.join(corpora.CORPORA[name])}" for name in candidates)
    raise ValueError(
        f"nothing to measure from {arguments.source or 'any language'} to "
        f"{arguments.to or 'any other'}: {arguments.model} translates {there}; {texts}"
    )


def measure_direction(
    translator: "Translator", test: "ParallelTest", arguments: argparse.Namespace
) -> dict[str, Any]:
    """Measure a direction, print its figures and return them.

    Parameters
    ----------
    translator : Translator
        The translator.
    test : ParallelTest
        The sentences.
    arguments : argparse.Namespace
        How to decode.

    Returns
    -------
    dict
        The figures, and how they were measured.
    """
    from glassbox.evaluation import evaluate_translator
    from glassbox.evaluation.report import measure_translations

    measures = {"bleu": "BLEU", "chrf": "chrF"}
    if test.corpus == "multi30k":
        measures |= PUBLISHED
    for library in ("sacrebleu", *("spacy", "sacremoses")[: len(measures) - 2]):
        need(library, "glassbox evaluate")  # before spending an hour
    counts = [len(several) for several in test.references]
    among = f"{min(counts)} to {max(counts)} references" if max(counts) > 1 else "one reference"
    print(
        f"\n{test.corpus}, {test.split}, {test.source} to {test.to}: "
        f"{len(test.sources):,} sentences with {among} each"
    )
    print_files(test.files)
    print(row("", *measures.values(), "seconds"))
    ways = []
    for beams in arguments.beams:
        way = measure_translations(
            translator, test, beams, arguments.batch_size, arguments.length_penalty
        )
        figures = [f"{way[name]:.2f}" for name in measures]
        name = "greedy" if beams == 1 else f"{beams} beams"
        print(row(name, *figures, f"{way['seconds']:.1f}"), flush=True)
        ways.append(way)
    for measure in ("bleu", "chrf"):
        print(f"{measures[measure]}: {ways[0][f'{measure}_signature']}")
    if test.corpus == "multi30k":
        print("spaCy, Moses: BLEU as published, see glassbox.evaluation.published")
        written, wanted = way["moses_lengths"]
        print(
            f"Moses, {name}: {written:,} words for {wanted:,}, brevity penalty "
            f"{way['moses_brevity_penalty']:.3f}"
        )
    sources, targets = zip(*test.pairs, strict=True)
    likelihood = evaluate_translator(
        translator, sources, targets, test.to, batch_size=arguments.batch_size
    )
    print(
        f"perplexity {likelihood.perplexity:.3f} ({likelihood.loss:.4f} nats per token), "
        f"{likelihood.bits_per_byte:.4f} bits per byte: {len(targets):,} references, "
        f"{likelihood.n_tokens:,} tokens with the one that ends each, {likelihood.n_bytes:,} bytes"
    )
    counted = {"sources": len(test.sources), "references": len(targets)}
    return {**test._asdict(), **counted, "decoding": ways, **figures_of(likelihood)}


def measure_text(loaded: "CharacterModel", arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a language model, print its figures and return them.

    Parameters
    ----------
    loaded : CharacterModel
        The model.
    arguments : argparse.Namespace
        The corpus, its split and the batch size.

    Returns
    -------
    dict
        The figures, and how they were measured.

    Raises
    ------
    ValueError
        If the corpus or an option is for translators.
    """
    import torch

    from glassbox.evaluation import estimate_loss, evaluate_language_model
    from glassbox.evaluation.corpora import text_test

    check_options(arguments, "shakespeare")
    test = text_test(arguments.split or "valid")
    text = test.text[: arguments.limit]
    print(f"\n{test.corpus}, {test.split}: {len(text):,} characters")
    print_files(test.files)
    token_ids, n_bytes = loaded.encode(text), len(text[1:].encode())
    context = loaded.model.config.max_len
    windows = []
    print(row("", "nats per token", "perplexity", "bits per byte", name=28, figure=16))
    for stride in (context, max(1, context // 2)):
        likelihood = evaluate_language_model(
            loaded.model, token_ids, n_bytes, stride=stride, batch_size=arguments.batch_size
        )
        windows.append({"context": context, "stride": stride, **figures_of(likelihood)})
        numbers = [likelihood.loss, likelihood.perplexity, likelihood.bits_per_byte]
        first = f"windows of {context}, every {stride}"
        texts = [f"{number:.4f}" for number in numbers]
        print(row(first, *texts, name=28, figure=16), flush=True)
    draw = torch.Generator().manual_seed(0)
    estimate = estimate_loss(loaded.model, token_ids, generator=draw)
    figures = f"{estimate.loss:.4f}", f"± {estimate.standard_error:.4f}"
    print(row("nanoGPT's estimate", *figures, name=28, figure=16))
    counted = {"text": len(text), "windows": windows, "estimate": estimate._asdict()}
    return {**test._asdict(), **counted}


def measure_blanks(loaded: "FillMask", arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure how well a BERT fills blanks, print its figures and return them.

    Two baselines are measured on the same blanks: the most frequent tokens, and the counts of
    neighbours.

    Parameters
    ----------
    loaded : FillMask
        The BERT.
    arguments : argparse.Namespace
        The split.

    Returns
    -------
    dict
        The figures, and how they were measured.

    Raises
    ------
    ValueError
        If the corpus or an option is for translators.
    """
    from glassbox.data import english
    from glassbox.evaluation import Neighbours, evaluate_masked
    from glassbox.training.tasks.masked_language_model import encode_texts

    check_options(arguments, "english")
    tokenizer, split = loaded.tokenizer, arguments.split or "valid"
    test, train = (
        encode_texts(tokenizer, english(part), loaded.model.config.max_len)
        for part in (split, "train")
    )
    test = test[: arguments.limit]
    neighbours = Neighbours(train, len(tokenizer), loaded.mask_id)

    def most_frequent(_: "Tensor", at: "Tensor") -> "Tensor":
        return neighbours.frequency.log().expand(int(at.sum()), -1)

    ways = {"BERT": loaded.predict, "neighbours": neighbours.predict, "frequency": most_frequent}
    print(f"\nenglish, {split}: {len(test):,} texts")
    print(row("", "nats per token", "most probable", name=12, figure=16))
    guesses = {}
    for name, predict in ways.items():
        scores = evaluate_masked(
            predict,
            test,
            mask_id=loaded.mask_id,
            vocab_size=len(tokenizer),
            special_ids=tokenizer.special_ids,
        )
        right = f"{scores.accuracy:.1%}"
        print(row(name, f"{scores.loss:.4f}", right, name=12, figure=16), flush=True)
        guesses[name] = scores._asdict()
    return {"corpus": "english", "split": split, "texts": len(test), "guesses": guesses}


def check_options(arguments: argparse.Namespace, corpus: str) -> None:
    """Reject options for translators, and any other ``corpus``.

    Raises
    ------
    ValueError
        If one of the ``arguments`` is of that kind.
    """
    only = ("from", arguments.source), ("to", arguments.to)
    for option, given in (*only, ("length-penalty", arguments.length_penalty)):
        if given is not None:
            raise ValueError(f"--{option} {given}: {arguments.model} is no translator")
    if arguments.data not in (None, corpus):
        kinds = {"shakespeare": "a language model", "english": "a BERT"}
        needed, given = (kinds.get(name, "a translator") for name in (arguments.data, corpus))
        raise ValueError(f"--data {arguments.data} needs {needed}, not {given}")


def figures_of(likelihood: Any) -> dict[str, float]:
    """Return the figures of a ``likelihood`` and their components, by name."""
    names = ("loss", "perplexity", "bits_per_byte", "nats", "n_tokens", "n_bytes")
    return {name: getattr(likelihood, name) for name in names}


def row(first: str, *figures: str, name: int = 10, figure: int = 8) -> str:
    """Return a table row: ``first``, ``name`` wide, then ``figures``, right-aligned."""
    return f"{first:{name}}" + "".join(f"{text:>{figure}}" for text in figures)


def print_files(files: dict[str, str]) -> None:
    """Print the name and digest of each of the ``files`` of a test set."""
    for name, digest in files.items():
        print(f"  {name}  sha256 {digest}")


def parse_beams(text: str) -> list[int]:
    """Read numbers of beams from ``text``, such as ``1,5``.

    Raises
    ------
    argparse.ArgumentTypeError
        If one is not a whole number, or is less than 1.
    """
    try:
        beams = [int(number) for number in text.split(",")]
    except ValueError:
        beams = [0]
    if min(beams) < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected whole numbers from 1 on with commas between, such as 1,5"
        )
    return beams
