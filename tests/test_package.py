"""What `import glassbox` brings."""

import pytest

import glassbox
from glassbox.models import Bert
from glassbox.transformer import Transformer


def test_every_name_it_offers_is_there():
    assert all(callable(getattr(glassbox, name)) for name in glassbox.__all__)
    assert glassbox.Transformer is Transformer


def test_its_modules_are_attributes_without_an_import_of_their_own(monkeypatch):
    monkeypatch.delattr(glassbox, "models")
    assert glassbox.models.Bert is Bert


@pytest.mark.parametrize("name", ["modles", "__main__"])
def test_a_name_that_is_not_there_is_refused(name, monkeypatch):
    monkeypatch.delattr(glassbox, name, raising=False)
    with pytest.raises(AttributeError, match=f"'glassbox' has no attribute '{name}'"):
        getattr(glassbox, name)
