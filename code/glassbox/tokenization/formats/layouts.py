"""What is in the folder of a tokenizer of each class, read and written (chapter 2)."""

import base64
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from glassbox.checks import check_kind
from glassbox.files import atomic_update, read_json, write_json
from glassbox.tokenization import unigram, wordpiece
from glassbox.tokenization.bpe import BPE, END_OF_TEXT
from glassbox.tokenization.formats import files, options, tokenizer_json
from glassbox.tokenization.formats.options import Config
from glassbox.tokenization.formats.spaces import read_prepend, spaces
from glassbox.tokenization.formats.tokenizer_json import TokenizerFile, read_parts, write_parts
from glassbox.tokenization.pre_tokenize import METASPACE
from glassbox.tokenization.sentencepiece_bpe import SentencePieceBPE
from glassbox.tokenization.tokenizer import Tokenizer
from glassbox.tokenization.unigram import Unigram
from glassbox.tokenization.wordpiece import WordPiece

#: Those of GPT-2 and BERT where no file names any.
OF_GPT2 = dict.fromkeys(("unk_token", "bos_token", "eos_token"), END_OF_TEXT)
OF_BERT = {
    "pad_token": wordpiece.PAD,
    "unk_token": wordpiece.UNKNOWN,
    "cls_token": wordpiece.CLASSIFY,
    "sep_token": wordpiece.SEPARATE,
}
#: Options of the reference library that these classes implement with one value only.
FIXED: dict[type[Tokenizer], Config] = {
    BPE: {"add_bos_token": False, "add_eos_token": False, "cls_token": None, "sep_token": None},
    WordPiece: OF_BERT | {"tokenize_chinese_chars": True},
}
#: How the reference library writes spaces as ``▁``.
SPACE = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always", "split": True}
#: How it first collapses any white space into one space.
COLLAPSE = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, SPACE]}


def _read_bpe_vocabulary(file: Path, config: Config) -> BPE:
    merges_file, settings = file.with_name(files.MERGES_TXT), file.with_name(files.CONFIG_JSON)
    added = options.added_ids(file.parent, config)
    tokenizer = BPE(
        added | read_json(file),
        files.read_merges(merges_file),
        special_tokens=options.special_tokens(file, config, OF_GPT2, normalizes=False),
        pad_token=options.content(config.get("pad_token")),
        add_prefix_space=options.flag(settings, config, "add_prefix_space", False),
    )
    _check_merges(merges_file, tokenizer, added)
    return tokenizer


def _check_merges(file: Path, tokenizer: BPE, added: Iterable[str] = ()) -> None:
    """Reject merges that do not build every token of several characters, special and added aside.

    A list of merges is a text file with one merge per line; truncated after any line, it is still
    valid. The vocabulary exposes the loss, because a merge built each of its longer tokens.
    """
    special, merges = {*tokenizer.special_tokens, *added}, tokenizer.merges
    longer = [token for token in tokenizer.tokens if len(token) > 1 and token not in special]
    built = {"".join(pair) for pair in merges}
    if missing := [token for token in longer if token not in built]:
        raise ValueError(
            f"{file}: the {len(merges)} merges build {len(longer) - len(missing)} of the "
            f"{len(longer)} tokens of several characters in the vocabulary; no merge builds "
            f"{missing[0]!r}. Is the list of merges truncated? If it is complete, name the tokens "
            "that no merge builds in special_tokens"
        )


def _read_bpe_json(file: Path, config: Config) -> BPE:
    parts = _bpe_parts(file, byte_fallback=False)
    parts.expect("normalizer", type=None)
    parts.expect("pre_tokenizer", type="ByteLevel", use_regex=True)
    parts.expect("post_processor", type=(None, "ByteLevel", "TemplateProcessing"))
    parts.expect_frame(None, None, again=False)
    parts.expect("decoder", type="ByteLevel")
    settings = file.with_name(files.CONFIG_JSON)
    space = options.flag(file, parts.part("pre_tokenizer"), "add_prefix_space", False)
    return BPE(
        parts.vocabulary,
        parts.merges,
        special_tokens=parts.special_tokens,
        pad_token=options.content(config.get("pad_token")),
        add_prefix_space=options.flag(settings, config, "add_prefix_space", space),
    )


def _bpe_parts(file: Path, *, byte_fallback: bool) -> TokenizerFile:
    """Read the file of a byte-pair encoding, either byte-level or with byte fallback."""
    parts = read_parts(file, "BPE")
    given = bool(parts.part("model").get("byte_fallback"))
    if given != byte_fallback:
        loader = "SentencePieceBPE.load" if given else "BPE.load"
        raise ValueError(f"{file}: the model has byte_fallback={given}: load it with {loader}")
    parts.expect("model", dropout=None, ignore_merges=False)
    parts.expect("model", continuing_subword_prefix="", end_of_word_suffix="")
    return parts


def _write_bpe(tokenizer: BPE, path: Path) -> dict[str, Any]:
    files.write_merges(path / files.MERGES_TXT, tokenizer.merges)
    write_json(path / files.VOCAB_JSON, tokenizer.vocabulary)
    _check_merges(Path(files.MERGES_TXT), tokenizer)
    end = END_OF_TEXT if END_OF_TEXT in tokenizer.special_tokens else None
    config = {"add_prefix_space": tokenizer.add_prefix_space, "tokenizer_class": "GPT2Tokenizer"}
    return config | dict.fromkeys(("unk_token", "bos_token", "eos_token"), end)


def _read_wordpiece_txt(file: Path, config: Config) -> WordPiece:
    settings, named = file.with_name(files.CONFIG_JSON), OF_BERT | {"mask_token": wordpiece.MASK}
    return WordPiece(
        options.added_ids(file.parent, config) | files.read_vocab_txt(file),
        lowercase=options.flag(settings, config, "do_lower_case", True),
        strip_accents=options.flag(settings, config, "strip_accents", None),
        special_tokens=options.special_tokens(file, config, named, normalizes=True),
    )


def _read_wordpiece_json(file: Path, config: Config) -> WordPiece:
    parts = read_parts(file, "WordPiece")
    parts.expect("model", unk_token=wordpiece.UNKNOWN, continuing_subword_prefix=wordpiece.PREFIX)
    parts.expect("model", max_input_chars_per_word=wordpiece.MAX_WORD_LENGTH)
    parts.expect("normalizer", type="BertNormalizer", clean_text=True, handle_chinese_chars=True)
    parts.expect("pre_tokenizer", type="BertPreTokenizer")
    parts.expect("post_processor", type=("TemplateProcessing", "BertProcessing"))
    parts.expect_frame(wordpiece.CLASSIFY, wordpiece.SEPARATE, again=False)
    parts.expect("decoder", type="WordPiece", prefix=wordpiece.PREFIX, cleanup=True)
    for name, expected in (("single", [0, 0, 0]), ("pair", [0, 0, 0, 1, 1])):
        steps = parts.part("post_processor").get(name, [])
        types = [part.get("type_id") for step in steps for part in step.values()]
        if steps and types != expected:
            raise ValueError(
                f"{file}: the post_processor has the type_ids {types} in {name!r}; this package "
                f"implements {expected} only"
            )
    settings, normalizer = file.with_name(files.CONFIG_JSON), parts.part("normalizer")
    given = {
        "do_lower_case": options.flag(file, normalizer, "lowercase", True),
        "strip_accents": options.flag(file, normalizer, "strip_accents", None),
        **config,
    }
    return WordPiece(
        parts.vocabulary,
        lowercase=options.flag(settings, given, "do_lower_case", True),
        strip_accents=options.flag(settings, given, "strip_accents", None),
        special_tokens=parts.special_tokens,
    )


def _write_wordpiece(tokenizer: WordPiece, path: Path) -> dict[str, Any]:
    files.write_vocab_txt(path / files.VOCAB_TXT, tokenizer.tokens)
    return {
        "do_lower_case": tokenizer.lowercase,
        "strip_accents": tokenizer.strip_accents,
        "tokenizer_class": "BertTokenizer",
    }


def _read_sentencepiece_json(file: Path, config: Config) -> SentencePieceBPE:
    parts = _bpe_parts(file, byte_fallback=True)
    parts.expect("post_processor", type=(None, "TemplateProcessing"))
    start, end = parts.frame(again=True)
    prepend, settings = read_prepend(parts), file.with_name(files.CONFIG_JSON)
    if not options.flag(settings, config, "add_prefix_space", True):
        prepend = "never"
    inner = next((token for token in map("".join, parts.merges) if METASPACE in token[1:]), None)
    pre_tokenizer = parts.part("pre_tokenizer")
    if inner and pre_tokenizer and pre_tokenizer.get("split", True):
        raise ValueError(
            f"{file}: the pre_tokenizer has split=True, but a merge builds {inner!r}, which spans "
            "two words; this package implements split=False only"
        )
    return SentencePieceBPE(
        parts.vocabulary,
        parts.merges,
        special_tokens=parts.special_tokens,
        unknown_token=parts.part("model").get("unk_token"),
        pad_token=options.content(config.get("pad_token")),
        start=start,
        end=end,
        prepend=prepend,
    )


def _read_sentencepiece_model(file: Path, config: Config) -> SentencePieceBPE:
    settings = TokenizerFile(str(file.parent), {files.CONFIG_JSON: dict(config)})
    settings.expect(files.CONFIG_JSON, add_bos_token=True, add_eos_token=False)
    return SentencePieceBPE.from_model(file, pad_token=options.content(config.get("pad_token")))


def _write_sentencepiece(tokenizer: SentencePieceBPE, path: Path) -> dict[str, Any]:
    model = {
        "type": "BPE",
        "unk_token": tokenizer.unknown_token,
        "fuse_unk": True,
        "byte_fallback": True,
        "vocab": tokenizer.vocabulary,
        "merges": tokenizer.merges,
    }
    return write_parts(path, tokenizer, second_type=1, model=model, **spaces(tokenizer.prepend))


def _read_unigram_json(file: Path, config: Config) -> Unigram:
    parts = read_parts(file, "Unigram")
    parts.expect("model", byte_fallback=False)
    parts.expect("normalizer", type=(None, "Precompiled"))
    parts.expect("post_processor", type=(None, "TemplateProcessing"))
    parts.expect("decoder", type="Metaspace", prepend_scheme=("always", "first"))
    parts.expect("decoder", replacement=METASPACE, add_prefix_space=True)
    space = parts.part("pre_tokenizer")
    steps = space.get("pretokenizers", [space])
    types, known = [step.get("type") for step in steps], ["WhitespaceSplit", "Metaspace"]
    if types not in (known, known[1:]):
        raise ValueError(
            f"{file}: the pre_tokenizer's steps are {types}; this package implements {known} and "
            f"{known[1:]} only"
        )
    last = TokenizerFile(str(file), {"pre_tokenizer": steps[-1]})
    last.expect("pre_tokenizer", replacement=METASPACE, prepend_scheme="always")
    last.expect("pre_tokenizer", add_prefix_space=True, split=True)
    pieces = [(token, score) for token, score in parts.part("model")["vocab"]]
    unknown = parts.part("model").get("unk_id")
    if unknown is None or not 0 <= unknown < len(pieces):
        raise ValueError(
            f"{file}: unk_id is {unknown} with {len(pieces)} pieces; without an unknown token, "
            "text with a new character could not be encoded"
        )
    _, end = parts.frame(again=True)
    parts.expect_frame(None, end, again=True)
    eos = options.content(config.get("eos_token"))
    if end and eos and end != eos:
        raise ValueError(
            f"{file}: the post_processor puts {end!r} after a text, but the options beside it name "
            f"{eos!r} as eos_token: make the two the same"
        )
    scores = dict(pieces)
    pieces += [(token, 0.0) for token in parts.special_tokens if token not in scores]
    default = {"pad_token": unigram.PAD} if unigram.PAD in scores else {}
    table = parts.part("normalizer").get("precompiled_charsmap")
    return Unigram(
        pieces,
        special_tokens=parts.special_tokens,
        unknown_token=pieces[unknown][0],
        pad_token=options.content({**default, **config}.get("pad_token")),
        end=end,
        collapse=types == known,
        character_map=base64.b64decode(table) if table else None,
    )


def _write_unigram(tokenizer: Unigram, path: Path) -> dict[str, Any]:
    normalizer = None
    if tokenizer.character_map is not None:
        table = base64.b64encode(tokenizer.character_map.table).decode()
        normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    model = {
        "type": "Unigram",
        "unk_id": tokenizer.token_id(str(tokenizer.unknown_token)),
        "vocab": list(tokenizer.pieces.scores.items()),
        "byte_fallback": False,
    }
    marks = {"pre_tokenizer": COLLAPSE if tokenizer.collapse else SPACE, "decoder": SPACE}
    return write_parts(path, tokenizer, second_type=0, model=model, normalizer=normalizer, **marks)


#: The functions that read each class, by file; the first file that exists is read.
READERS: dict[type[Tokenizer], dict[str, Callable[[Path, Config], Any]]] = {
    BPE: {files.TOKENIZER_JSON: _read_bpe_json, files.VOCAB_JSON: _read_bpe_vocabulary},
    SentencePieceBPE: {
        files.TOKENIZER_JSON: _read_sentencepiece_json,
        files.TOKENIZER_MODEL: _read_sentencepiece_model,
    },
    Unigram: {files.TOKENIZER_JSON: _read_unigram_json},
    WordPiece: {files.TOKENIZER_JSON: _read_wordpiece_json, files.VOCAB_TXT: _read_wordpiece_txt},
}
#: The functions that write a tokenizer of each class and return its options.
WRITERS: dict[type[Tokenizer], Callable[[Any, Path], dict[str, Any]]] = {
    BPE: _write_bpe,
    SentencePieceBPE: _write_sentencepiece,
    Unigram: _write_unigram,
    WordPiece: _write_wordpiece,
}
#: The names of the classes.
KINDS = tuple(kind.__name__ for kind in READERS)


def save(tokenizer: Tokenizer, folder: str | os.PathLike[str]) -> None:
    """Write a tokenizer into a folder, whose old files stay until all new ones are written.

    Parameters
    ----------
    tokenizer : Tokenizer
        One of this package.
    folder : str or path
        Created if it is missing.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    ValueError
        If a file holds one token per line and a token does not fit on a line, or if the class of
        the tokenizer is not in :data:`WRITERS`.
    """
    check_kind("the class", type(tokenizer).__name__, KINDS)
    added = tokenizer_json.added_tokens(tokenizer)
    with atomic_update(folder) as beside:
        config = WRITERS[type(tokenizer)](tokenizer, beside)
        config |= {"pad_token": tokenizer.pad_token, options.ADDED: added}
        write_json(beside / files.CONFIG_JSON, config, indent=2)


def load(kind: type[Tokenizer], folder: str | os.PathLike[str]) -> Any:
    """Read a tokenizer from a folder.

    Parameters
    ----------
    kind : type
        The class of the tokenizer.
    folder : str or path
        Holds at least one of the files in :data:`READERS`, of which the first found is read.

    Returns
    -------
    Tokenizer
        An instance of ``kind``.

    Raises
    ------
    FileNotFoundError
        If the folder or a file is missing.
    ValueError
        If a file is truncated or belongs to another kind of tokenizer, or if ``kind`` is not in
        :data:`READERS`.
    """
    check_kind("the class", kind.__name__, KINDS)
    readers = READERS[kind]
    path = files.find_folder(folder, *readers)
    name = next(name for name in readers if (path / name).is_file())
    try:
        config = options.read_options(path, FIXED.get(kind, {}))
        tokenizer = readers[name](path / name, config)
        options.check_added(path, config, tokenizer)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        if str(path) not in what:
            what = f"{path / name}, or a file beside it, is damaged: {what}"
        raise ValueError(what) from error
    return tokenizer
