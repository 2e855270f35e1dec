"""``glassbox evaluate``: measure a model on a test set, in every way that applies."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from glassbox.checks import check_at_least, check_number, need
from glassbox.cli.device import find_device
from glassbox.cli.translate import check_folder, matching
from glassbox.files import atomic_write, write_json

if TYPE_CHECKING:
    from glassbox.evaluation.corpora import ParallelTest
    from glassbox.models.character_model import CharacterModel
    from glassbox.models.fill_mask import FillMask
    from glassbox.translation import Translator

#: The corpora, and the kind of model that each is for.
CORPORA = {
    "tatoeba": "a translator",
    "multi30k": "a translator",
    "shakespeare": "a language model",
    "english": "a BERT",
}

#: How many beams to measure with by default.
DEFAULT_BEAMS = [1, 5]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model in the package, or a folder: runs/mine/model")
    corpora = "tatoeba or multi30k for a translator, shakespeare for a language model, english for "
    corpora += "a BERT (default: the first that suits the model)"
    add("--data", choices=CORPORA, help=corpora)
    splits = "such as test, valid, test_2017 (default: test for pairs, valid for other texts)"
    add("--split", help=splits)
    add("--from", metavar="LANGUAGE", dest="source", help="of the sentences; all if left out")
    add("--to", metavar="LANGUAGE", help="into which they are translated; all if left out")
    beams = "beams of each way to decode; 1 is greedy (default: 1,5)"
    add("--beams", metavar="N,N", type=parse_beams, help=beams)
    add("--length-penalty", metavar="A", type=float, help="of beam search; more prefers long ones")
    add("--limit", metavar="N", type=int, help="only the first N texts, or characters")
    add("--batch-size", metavar="N", type=int, default=64, help="(default: %(default)s)")
    add("--device", default="cpu", help="where to compute, such as cuda (default: %(default)s)")
    add("--json", metavar="FILE", type=Path, help="also write all scores to this file")


def run(arguments: Namespace) -> int:
    """Measure the model given by ``arguments``, print the figures, and return 0.

    Raises
    ------
    ValueError
        If options contradict one another or the model.
    FileNotFoundError
        If there is no such model, or no folder for the figures.
    IsADirectoryError
        If a folder is in the place of the file for them.
    ModuleNotFoundError
        If a library that measures is not installed.
    """
    for option, number in (("--limit", arguments.limit), ("--batch-size", arguments.batch_size)):
        if number is not None:
            check_at_least(option, number, 1)
    if arguments.length_penalty is not None:
        check_number("--length-penalty", arguments.length_penalty, "from -10 to 10")
        if max(arguments.beams or DEFAULT_BEAMS) == 1:
            raise ValueError("--length-penalty is for beam search: name more than one of --beams")
    if arguments.json is not None:
        check_folder(arguments.json)
    from glassbox.evaluation import load_model
    from glassbox.models.character_model import CharacterModel
    from glassbox.models.fill_mask import FillMask

    device = find_device(arguments.device)
    loaded = load_model(arguments.model)
    loaded.model.to(device)
    measure: Any
    kind, name, measure = "a translator", "directions", measure_directions
    if isinstance(loaded, CharacterModel):
        kind, name, measure = "a language model", "texts", measure_text
    elif isinstance(loaded, FillMask):
        kind, name, measure = "a BERT", "blanks", measure_blanks
    if CORPORA.get(arguments.data, kind) != kind:
        raise ValueError(f"--data {arguments.data} needs {CORPORA[arguments.data]}, not {kind}")
    for only in ("source", "to", "beams", "length_penalty"):
        if kind != "a translator" and getattr(arguments, only) is not None:
            option = "from" if only == "source" else only.replace("_", "-")
            raise ValueError(f"--{option}: {arguments.model} is {kind}, no translator")
    report = {
        "model": arguments.model,
        "parameters": sum(parameter.numel() for parameter in loaded.model.parameters()),
        "vocabulary": loaded.model.config.vocab_size,
        "device": str(device),
        "limit": arguments.limit,
    }
    print(
        f"{arguments.model}: {type(loaded.model).__name__}, {report['parameters']:,} parameters, a "
        f"vocabulary of {report['vocabulary']:,} tokens; on {device}"
    )
    report[name] = list(measure(loaded, arguments))
    if arguments.json is not None:
        with atomic_write(arguments.json) as part:
            write_json(part, report, indent=1)
    return 0


def measure_directions(translator: "Translator", arguments: Namespace) -> Iterator[dict[str, Any]]:
    """Measure each direction of a translator that a corpus has, and print its figures.

    Parameters
    ----------
    translator : Translator
        The translator.
    arguments : argparse.Namespace
        The corpus, its split, the languages, and how to decode.

    Yields
    ------
    dict
        The figures of a direction, and how they were measured.

    Raises
    ------
    ValueError
        If no corpus has a direction of the translator that is asked for.
    """
    from glassbox.evaluation import corpora

    asked = matching(translator.tokenizer.directions, arguments)
    candidates = [arguments.data] if arguments.data else [*corpora.CORPORA]
    for corpus in candidates:
        if found := [pair for pair in asked if {*pair} <= {*corpora.CORPORA[corpus]}]:
            for pair in found:
                test = corpora.parallel_test(corpus, arguments.split or "test", *pair)
                yield _measure_direction(translator, test.first(arguments.limit), arguments)
            return
    asked_for = ", ".join(f"{one} to {other}" for one, other in asked)
    texts = "; ".join(f"{name} has {', '.join(corpora.CORPORA[name])}" for name in candidates)
    where = f"{arguments.data} does not have" if arguments.data else "no corpus of the book has"
    raise ValueError(
        f"{arguments.model} translates {asked_for}, and {where} such a direction: {texts}"
    )


def _measure_direction(
    translator: "Translator", test: "ParallelTest", arguments: Namespace
) -> dict[str, Any]:
    from glassbox.evaluation import evaluate_translator
    from glassbox.evaluation.report import measure_translations

    published = test.corpus == "multi30k"
    measures = {"bleu": "BLEU", "chrf": "chrF"}
    if published:
        measures |= {"spacy_bleu": "spaCy", "moses_bleu": "Moses"}
    for library in ("sacrebleu", "spacy", "sacremoses") if published else ("sacrebleu",):
        need(library, "glassbox evaluate")  # before spending an hour
    counts = [len(several) for several in test.references]
    among = f"{min(counts)} to {max(counts)} references" if max(counts) > 1 else "one reference"
    print(
        f"\n{test.corpus}, {test.split}, {test.source} to {test.to}: "
        f"{len(test.sources):,} sentences with {among} each"
    )
    print_files(test.files)
    print_row("", *measures.values(), "seconds")
    ways = []
    size, penalty = arguments.batch_size, arguments.length_penalty
    for n_beams in arguments.beams or DEFAULT_BEAMS:
        way = measure_translations(translator, test, n_beams, size, penalty)
        name = "greedy" if n_beams == 1 else f"{n_beams} beams"
        print_row(name, *(f"{way[measure]:.2f}" for measure in measures), f"{way['seconds']:.1f}")
        ways.append(way)
    print(f"BLEU: {way['bleu_signature']}\nchrF: {way['chrf_signature']}")
    if published:
        print("spaCy, Moses: BLEU as published, see glassbox.evaluation.published")
        written, wanted = way["moses_lengths"]
        print(
            f"Moses, {name}: {written:,} words for {wanted:,}, brevity penalty "
            f"{way['moses_brevity_penalty']:.3f}"
        )
    sources, targets = zip(*test.pairs, strict=True)
    likelihood = evaluate_translator(translator, sources, targets, test.to, batch_size=size)
    print(
        f"perplexity {likelihood.perplexity:.3f} ({likelihood.loss:.4f} nats per token), "
        f"{likelihood.bits_per_byte:.4f} bits per byte: {len(targets):,} references, "
        f"{likelihood.n_tokens:,} tokens with the one that ends each, {likelihood.n_bytes:,} bytes"
    )
    counted = {"sources": len(test.sources), "references": len(targets)}
    return {**test._asdict(), **counted, "decoding": ways, **likelihood.figures()}


def measure_text(loaded: "CharacterModel", arguments: Namespace) -> Iterator[dict[str, Any]]:
    """Measure a language model on Shakespeare, and print its figures.

    Parameters
    ----------
    loaded : CharacterModel
        The model.
    arguments : argparse.Namespace
        The split, how much of it, and the batch size.

    Yields
    ------
    dict
        The figures, and how they were measured.
    """
    from glassbox.data import FILES, tiny_shakespeare
    from glassbox.evaluation import estimate_loss, evaluate_language_model

    split, name = arguments.split or "valid", "tinyshakespeare/input.txt"
    text = tiny_shakespeare(split)[: arguments.limit]
    print(f"\nshakespeare, {split}: {len(text):,} characters")
    files = {name: FILES[name].sha256}
    print_files(files)
    token_ids, n_bytes = loaded.encode(text), len(text[1:].encode())
    context = loaded.model.config.max_len
    draw = torch.Generator().manual_seed(0)
    estimate = estimate_loss(loaded.model, token_ids, generator=draw)  # refuses too short a text
    windows = []
    wide = {"name": 28, "figure": 19}
    print_row("", "nats per character", "perplexity", "bits per byte", **wide)
    for stride in (context, max(1, context // 2)):
        likelihood = evaluate_language_model(
            loaded.model, token_ids, n_bytes, stride=stride, batch_size=arguments.batch_size
        )
        windows.append({"context": context, "stride": stride, **likelihood.figures()})
        numbers = [likelihood.loss, likelihood.perplexity, likelihood.bits_per_byte]
        first = f"windows of {context}, every {stride}"
        print_row(first, *(f"{number:.4f}" for number in numbers), **wide)
    figures = f"{estimate.loss:.4f}", f"± {estimate.standard_error:.4f}"
    print_row("nanoGPT's estimate", *figures, **wide)
    measured = {"text": len(text), "windows": windows, "estimate": estimate._asdict()}
    yield {"corpus": "shakespeare", "split": split, "files": files, **measured}


def measure_blanks(loaded: "FillMask", arguments: Namespace) -> Iterator[dict[str, Any]]:
    """Measure a BERT and two baselines on blanks in English texts, and print the figures.

    Parameters
    ----------
    loaded : FillMask
        The BERT.
    arguments : argparse.Namespace
        The split, how many of its texts, and the batch size.

    Yields
    ------
    dict
        The figures, and how they were measured.
    """
    from glassbox.data import english
    from glassbox.evaluation import Neighbours, evaluate_masked
    from glassbox.training.tasks.masked_language_model import encode_texts

    tokenizer, mask_id, split = loaded.tokenizer, loaded.mask_id, arguments.split or "valid"
    max_len = loaded.model.config.max_len
    test = encode_texts(tokenizer, english(split), max_len)[: arguments.limit]
    train = encode_texts(tokenizer, english("train"), max_len)
    neighbours = Neighbours(train, len(tokenizer), mask_id)

    def most_frequent(_: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return neighbours.frequency.log().expand(int(at.sum()), -1)

    ways = {"BERT": loaded.predict, "neighbours": neighbours.predict, "frequency": most_frequent}
    print(f"\nenglish, {split}: {len(test):,} texts")
    wide = {"name": 12, "figure": 16}
    print_row("", "nats per token", "most probable", **wide)
    guesses, special_ids = {}, tokenizer.special_ids
    given = {"mask_id": mask_id, "vocab_size": len(tokenizer), "batch_size": arguments.batch_size}
    for name, predict in ways.items():
        scores = evaluate_masked(predict, test, special_ids=special_ids, **given)
        print_row(name, f"{scores.loss:.4f}", f"{scores.accuracy:.1%}", **wide)
        guesses[name] = scores._asdict()
    yield {"corpus": "english", "split": split, "texts": len(test), "guesses": guesses}


def print_row(first: str, *figures: str, name: int = 10, figure: int = 8) -> None:
    """Print a row of a table at once: ``name`` and ``figure`` are the widths of its columns."""
    print(f"{first:{name}}" + "".join(f"{text:>{figure}}" for text in figures), flush=True)


def print_files(files: dict[str, str]) -> None:
    """Print each file's name and digest."""
    for name, digest in files.items():
        print(f"  {name}  sha256 {digest}")


def parse_beams(text: str) -> list[int]:
    """Read numbers of beams from ``text``, such as ``1,5``.

    Raises
    ------
    ArgumentTypeError
        If one is not a whole number, or is less than 1.
    """
    beams = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if min(beams) < 1:
        raise ArgumentTypeError(
            f"{text!r}: expected whole numbers from 1 on with commas between, such as 1,5"
        )
    return beams
