"""Translators on the device of a test, and real sentences."""

import copy
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from glassbox.data import plain_spaces
from glassbox.translation import Translator
from tests.translation import toy


@pytest.fixture(scope="session")
def translator(device: str) -> Translator:
    """One that has learned the toy language."""
    known = toy.trained()
    return Translator(copy.deepcopy(known.model).to(device), known.tokenizer)


@pytest.fixture(scope="session")
def ignorant(device: str) -> Translator:
    """One with random weights: it writes anything, and as much as there is room for."""
    unknown = toy.blank()
    unknown.model.to(device)
    return unknown


@pytest.fixture(scope="session")
def sentences(data: Callable[[str], Path]) -> list[tuple[str, str]]:
    """Two thousand pairs of Tatoeba, English and French, short and long, in any order."""
    with ZipFile(data("tatoeba_eng_fra/fra-eng.zip")) as archive:
        lines = archive.read("fra.txt").decode().splitlines()[::71]
    pairs = [plain_spaces(line).split("\t") for line in lines]
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0))
    return [(pairs[place][0], pairs[place][1]) for place in order.tolist()]
