"""What `import glassbox` brings."""

import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files, requires
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

import glassbox
from glassbox.models import Bert
from glassbox.transformer import Transformer

ROOT = Path(__file__).parents[1]


def test_it_offers_these_classes_and_functions_and_its_modules():
    needed_here = {"ModuleType", "find_spec", "import_module"}
    offered = {
        name: thing
        for name, thing in vars(glassbox).items()
        if not name.startswith("__") and not isinstance(thing, ModuleType)
    }
    assert offered.keys() - needed_here == {
        *("Decoder", "Encoder", "MultiHeadAttention", "Transformer", "TransformerConfig"),
        *("additive_attention", "causal_mask", "dot_product_scores", "formulas", "masked_softmax"),
        *("padding_mask", "record", "scaled_dot_product_attention", "simple_self_attention"),
    }
    assert all(map(callable, offered.values()))
    assert glassbox.Transformer is Transformer


def test_its_modules_are_attributes_without_an_import_of_their_own(monkeypatch):
    monkeypatch.delattr(glassbox, "models")
    assert glassbox.models.Bert is Bert


@pytest.mark.parametrize("name", ["modles", "__main__"])
def test_a_name_that_is_not_there_is_refused(name, monkeypatch):
    monkeypatch.delattr(glassbox, name, raising=False)
    with pytest.raises(AttributeError, match=f"'glassbox' has no attribute '{name}'"):
        getattr(glassbox, name)


def needed(distribution: str) -> set[str]:
    """A distribution and all that it needs on this machine, without its extras."""
    names = {distribution}
    for text in requires(distribution) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            with suppress(PackageNotFoundError):  # some builds carry what they say they need
                names |= needed(requirement.name)
    return names


@pytest.mark.slow
def test_it_needs_no_more_than_the_distributions_that_it_names_and_no_compiler(tmp_path):
    """All of it can be imported; what is missing is named where it is used."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    for name in set.union(*(needed(Requirement(text).name) for text in ours)):
        for file in files(name) or ():
            if (top := file.parts[0]) != ".." and not (tmp_path / top).exists():
                (tmp_path / top).symlink_to(str(file.dist.locate_file(top)))
    use = (
        f"import sys; sys.path[:0] = ['{tmp_path}', '{ROOT / 'code'}']\n"
        "import torch, glassbox\n"
        "model = glassbox.Transformer(glassbox.TransformerConfig.tiny())\n"
        "with glassbox.record(model.eval()) as tape:\n"
        "    model(torch.tensor([[3, 4]]), torch.tensor([[1]]))\n"
        "glassbox.Transformer.from_weights(model.config, model.state_dict())\n"
        "print(len(tape), 'torch._dynamo' in sys.modules)\n"
        "from glassbox.models import GPT2\n"
        "from glassbox.training import cross_entropy\n"
        "import glassbox.evaluation, glassbox.training.runs, glassbox.models.fill_mask\n"
        "try: glassbox.translation.Translator.from_pretrained('tatoeba-en-fr').translate('a')\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", use], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, said = done.stdout.splitlines()
    assert first.split() == ["12", "False"]
    assert said.startswith("cutting a text into words needs regex, which is not installed: ")
    assert said.endswith("pip install 'glassbox[text]'")
