"""``glassbox translate``: sentences from the arguments, or from standard input line by line."""

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from glassbox.checks import check_at_least, need
from glassbox.cli.device import find_device
from glassbox.files import atomic_write

#: Characters that move the cursor, or ring the bell.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
#: The options that are fields of :class:`glassbox.generation.GenerationConfig`: the name of each
#: field, its type and its meaning.
OPTIONS = {
    "--beams": ("n_beams", int, "follow N beams (default: 5)"),
    "--length-penalty": ("length_penalty", float, "of beams: more prefers long translations"),
    "--max-tokens": (
        "max_new_tokens",
        int,
        "at most N tokens (default: a little over twice the text's)",
    ),
    "--temperature": ("temperature", float, "with --sample: above 1 is bolder"),
    "--top-k": ("top_k", int, "with --sample: draw from the N most probable tokens"),
    "--top-p": (
        "top_p",
        float,
        "with --sample: draw from the most probable tokens that together have probability X",
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add = parser.add_argument
    add("text", metavar="TEXT", nargs="*", help="sentences; without any, lines of standard input")
    add("--to", metavar="LANGUAGE", help="such as en; the other language if left out")
    add("--from", metavar="LANGUAGE", dest="source", help="of the text; detected if left out")
    name = "a translator in the package, or a folder such as runs/mine/model (default: %(default)s)"
    add("--model", metavar="NAME", default="tatoeba-en-fr", help=name)
    add("--device", default="cpu", help="where to compute, such as cuda (default: %(default)s)")
    add("--alternatives", metavar="N", type=int, help="several translations, with probabilities")
    looked = "write a page: where the model looked (needs pip install 'glassbox[book]')"
    add("--show-attention", metavar="FILE", type=Path, help=looked)
    add("--sample", action="store_true", help="draw each token")
    seed = "with --sample: the same N gives the same translation"
    add("--seed", metavar="N", type=int, help=seed)
    for option, (name, kind, meaning) in OPTIONS.items():
        add(option, dest=name, metavar="N" if kind is int else "X", type=kind, help=meaning)


def run(arguments: Namespace) -> int:
    """Translate the text given by ``arguments``, and return 0.

    A hint on standard error follows the translation of a text that is not
    :meth:`familiar <glassbox.translation.TranslationTokenizer.is_familiar>`.

    Raises
    ------
    ValueError
        If options contradict one another, or a line is not UTF-8.
    FileNotFoundError
        If there is no such translator, or no folder for the page.
    IsADirectoryError
        If a folder is in the place of the page.
    """
    for option, (name, kind, _) in {"--alternatives": ("alternatives", int, ""), **OPTIONS}.items():
        if kind is int and (number := getattr(arguments, name)) is not None:
            check_at_least(option, number, 1)
    for text in arguments.text:
        if re.search("[\udc80-\udcff]", text):  # what Python makes of other bytes
            raise ValueError(
                f"TEXT {text!r} is not UTF-8: convert it first, as with iconv -f LATIN1 -t UTF-8"
            )
    if arguments.show_attention is not None:
        check_folder(arguments.show_attention)
        if (texts := len(arguments.text)) != 1:
            raise ValueError(
                f"--show-attention with {texts} texts: the page shows one; give one TEXT"
            )
        need("matplotlib", "--show-attention", "book")
    for name in () if arguments.sample else ("temperature", "top_k", "top_p", "seed"):
        if (value := getattr(arguments, name)) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} {value} has no effect without sampling: add --sample")
    if arguments.seed is not None and not 0 <= arguments.seed < 2**64:
        raise ValueError(f"--seed={arguments.seed}: expected 0 to {2**64 - 1}")
    if arguments.sample and (arguments.n_beams or 1) > 1:
        raise ValueError(f"--beams {arguments.n_beams} contradicts --sample: leave one out")
    beams = 1 if arguments.sample else max(arguments.n_beams or 5, arguments.alternatives or 1)
    if arguments.length_penalty is not None and beams == 1:
        raise ValueError("--length-penalty is for beam search: leave out --sample or --beams 1")
    from glassbox.translation import Translator

    translator = Translator.from_pretrained(arguments.model)
    matching(translator.tokenizer.directions, arguments)  # refuses those that it lacks
    translator.model.to(find_device(arguments.device))
    options = {name: getattr(arguments, name) for name, _, _ in OPTIONS.values()}
    options = {name: value for name, value in options.items() if value is not None}
    options["sample"] = arguments.sample
    if arguments.seed is not None:
        options["generator"] = torch.Generator(translator.device).manual_seed(arguments.seed)
    several = arguments.alternatives is not None and len(arguments.text) != 1
    for text in arguments.text or lines():
        for line in answer(translator, text, arguments, options):
            print(line, flush=True)
        if several:
            print(flush=True)
        if not translator.tokenizer.is_familiar(text):
            known = ", ".join(translator.tokenizer.languages)
            print(
                f"glassbox: {beginning(text)!r} is unlike the text ({known}) that this "
                "translator has learned from: do not rely on the translation",
                file=sys.stderr,
            )
        elif spoken := translator.other_language(text, source=arguments.source, to=arguments.to):
            print(
                f"glassbox: {beginning(text)!r} looks like {spoken!r}, which the directions "
                "asked for do not start from: check --from and --to",
                file=sys.stderr,
            )
    return 0


def answer(
    translator: Any, text: str, arguments: Namespace, options: dict[str, Any]
) -> Iterator[str]:
    """Yield the lines of output for a text.

    Parameters
    ----------
    translator : Translator
        The translator.
    text : str
        One sentence; a blank one yields a blank line, and has no page.
    arguments : argparse.Namespace
        The options of the command.
    options : dict
        Options of :meth:`glassbox.translation.Translator.translate`.

    Yields
    ------
    str
        The translation; or each of several, preceded by its probability and a tab.
    """
    if arguments.show_attention is None and translator.tokenizer.is_blank(text):
        yield ""
        return
    to = translator.target_language(text, source=arguments.source, to=arguments.to)
    found = translator.alternatives(text, to, arguments.alternatives or 1, **options)
    if arguments.show_attention is not None:
        from glassbox_book.page import attention_page

        page = attention_page(translator, text, to, found[0])
        with atomic_write(arguments.show_attention) as part:
            part.write_text(page, encoding="utf-8")
    for one in found:
        chance = "" if arguments.alternatives is None else f"{one.probability:#.3g}\t"
        yield chance + one_line(one.text)


def one_line(text: str) -> str:
    """Return a ``text`` on one line, for a terminal or a pipe.

    A line break would look like the end of the translation, and a model should not write other
    characters that control a terminal.
    """
    return CONTROL.sub(" ", text)


def beginning(text: str) -> str:
    """Return what a message quotes of a ``text``: at most 40 characters, on one line."""
    return one_line(text if len(text) <= 40 else f"{text[:39]}…")


def lines() -> Iterator[str]:
    """Yield each line of standard input as soon as it arrives, in UTF-8 whatever the locale.

    Raises
    ------
    ValueError
        If a line is not UTF-8, naming it.
    """
    if sys.stdin is None:  # it was closed
        return
    if sys.stdin.isatty():
        print("One sentence on each line; Ctrl-D ends.", file=sys.stderr)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"line {number} of standard input is not UTF-8 text ({error}): convert it first, "
                "as with iconv -f LATIN1 -t UTF-8"
            ) from error


def matching(known: Iterable[tuple[str, str]], arguments: Namespace) -> list[tuple[str, str]]:
    """Return the ``known`` directions of a translator that fit ``--from`` and ``--to``.

    Raises
    ------
    ValueError
        If there is none.
    """
    source, to = arguments.source, arguments.to
    asked = [(one, other) for one, other in known if source in (None, one) and to in (None, other)]
    if not asked:
        given = {"--from": source, "--to": to}.items()
        options = " ".join(f"{option} {name}" for option, name in given if name is not None)
        written = " and ".join(f"{other} (from {one})" for one, other in known)
        raise ValueError(f"{options}: this translator writes only {written}")
    return asked


def check_folder(file: Path) -> None:
    """Reject a ``file`` that cannot be replaced by a new one, before anything is computed.

    Raises
    ------
    FileNotFoundError
        If there is no folder to write it in.
    IsADirectoryError
        If it is a folder itself.
    PermissionError
        If the folder does not admit new files.
    ValueError
        If it exists and is not a regular file, such as a pipe.
    """
    file = file.expanduser()  # a shell leaves the tilde of --json=~/figures.json
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; expected the name of a file in one")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"no folder {str(file.parent)!r} to write {file.name} in: make it")
    if file.exists() and not file.is_file():
        raise ValueError(f"{str(file)!r} is a device or a pipe; expected the name of a file")
    if not os.access(file.parent, os.W_OK):
        raise PermissionError(f"no files can be written to the folder {str(file.parent)!r}")
