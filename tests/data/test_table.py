"""The table says of every file where it is, what it must be, and whose."""

import re
from urllib.parse import urlsplit

import pytest

from glassbox.data import FILES
from glassbox.data.store import parse


@pytest.mark.parametrize("name", FILES)
def test_the_file_at_hand_is_the_published_one(name, data):
    assert data(name).stat().st_size == FILES[name].bytes


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_every_address_is_that_of_one_revision(file):
    parts = urlsplit(file.address)
    assert parts.scheme == "https"
    assert re.search(r"/[0-9a-f]{40}/", parts.path)
    assert parts.query == parts.fragment == ""


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_every_file_has_a_size_a_digest_a_licence_and_a_credit(file):
    assert file.bytes > 0
    assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
    assert file.licence
    assert file.credit


def test_no_two_files_are_the_same():
    assert len({file.sha256 for file in FILES.values()}) == len(FILES)
    assert len({file.address for file in FILES.values()}) == len(FILES)


def test_a_file_may_have_another_name_where_it_is_published():
    table = """
        [[collection]]
        folder = "here"
        source = "https://example.org/1/"
        licence = "none"
        credit = "nobody"
        files = [
            { name = "a.txt", bytes = 1, sha256 = "00" },
            { name = "b.txt", there = "c.txt", bytes = 2, sha256 = "01" },
        ]
    """
    files = parse(table)
    assert {name: file.address for name, file in files.items()} == {
        "here/a.txt": "https://example.org/1/a.txt",
        "here/b.txt": "https://example.org/1/c.txt",
    }


@pytest.mark.parametrize(
    ("name", "licence", "credit"),
    [
        ("tatoeba_eng_fra/fra-eng.zip", "CC BY 2.0", "tatoeba.org and manythings.org/anki"),
        ("multi30k/train.de.gz", "terms of Flickr30k", "Elliott"),
        ("tinyshakespeare/input.txt", "public domain", "Karpathy"),
        ("classification_sst2/train.tsv", "none stated", "Socher"),
        ("ner_wnut17/wnut17train.conll", "CC BY 4.0", "Derczynski"),
        ("pos_ud_english_ewt/en_ewt-ud-dev.conllu", "CC BY-SA 4.0", "Universal Dependencies"),
    ],
)
def test_the_table_says_on_what_terms_a_corpus_may_be_used_and_whom_to_name(name, licence, credit):
    assert FILES[name].licence.startswith(licence)
    assert credit in FILES[name].credit
