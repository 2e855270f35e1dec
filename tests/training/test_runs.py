"""A file says all about a run, and what it says wrongly is named with the file and the entry."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from glassbox.results import RUNS
from glassbox.training import (
    LanguageModelTaskConfig,
    Schedule,
    TrainingConfig,
    TranslationConfig,
    read_run,
    train,
)
from glassbox.training.runs import Run
from glassbox.training.tasks import TASKS
from glassbox.training.tasks.translation import read_rows
from glassbox.transformer import TransformerConfig
from tests.training.toy import TRAINING, Toy, ToyConfig, weights

FILES = sorted(RUNS.glob("*/run.toml"))
FILE = """
[translation]
directions = [["en", "fr"]]
plain = 1
pairs = "more.tsv"
model = {d_model = 64, n_heads = 4}

[training]
steps = 7
betas = [0, 0.98]
clip = 2
weight_decay = 0.5

[training.schedule]
kind = "cosine"
peak = 1
warmup = 2
total = 7
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(FILE)
    return path


def test_a_run_is_what_its_file_says(file: Path) -> None:
    assert read_run(file) == Run(
        "translation",
        TranslationConfig(
            directions=(("en", "fr"),),
            plain=1.0,
            pairs=str(file.parent / "more.tsv"),  # beside it
            model={"d_model": 64, "n_heads": 4},
        ),
        TrainingConfig(
            schedule=Schedule("cosine", peak=1.0, warmup=2, total=7),
            steps=7,
            betas=(0.0, 0.98),
            clip=2.0,
            weight_decay=0.5,
        ),
    )


def test_whole_numbers_are_fractions_where_these_are_meant(file: Path) -> None:
    """So that a checkpoint does not tell 1 from 1.0."""
    training = read_run(file).training
    numbers = (training.clip, *training.betas, training.schedule.peak)
    assert {type(number) for number in numbers} == {float}


def test_what_a_file_does_not_say_is_as_the_configurations_have_it(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("\ufeff[language_model]\r\n", encoding="utf-8")
    run = read_run(str(tmp_path / "run.toml"))
    assert run == Run("language_model", LanguageModelTaskConfig(), TrainingConfig())


def test_entries_can_be_changed(file: Path) -> None:
    changes = [
        "training.steps = 9",
        "training.schedule.peak=2e-3",
        "training.clip=inf",
        "translation.pairs='other.tsv'",
        "translation.model.d_model=32",
        "translation.model.n_heads=[4, 4, 8, 8, 4, 4]",  # TOML has no tuples
    ]
    run = read_run(file, changes)
    assert run.training.steps == 9
    assert run.training.schedule == Schedule("cosine", peak=2e-3, warmup=2, total=7)
    assert run.training.clip == float("inf")
    assert run.task_config.pairs == "other.tsv"  # where the command is given
    assert run.task_config.model == {"d_model": 32, "n_heads": (4, 4, 8, 8, 4, 4)}
    file.write_text("[language_model]\n")
    assert read_run(file, changes[:1]).training.steps == 9  # in a table that is not there


@pytest.mark.parametrize("path", FILES, ids=[path.parent.name for path in FILES])
def test_the_runs_of_this_book_can_be_read(path: Path) -> None:
    run = read_run(path)
    schedule = run.training.schedule
    assert schedule.total == (None if schedule.kind == "inverse_sqrt" else run.training.steps)
    assert run.task in TASKS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[training\n", "is not TOML: Expected"),
        (b"\xff\xfe", "is not TOML: .*utf-8"),
        (
            "",
            "has the tables []; expected 'training' and one of ['classification', ",
        ),
        ("[training]\n", "has the tables ['training']; expected 'training' and one of"),
        ("[language_model]\n[translation]\n", "has the tables ['language_model', 'translation']"),
        ("[language_model]\n[train]\n", "has the tables ['language_model', 'train']; expected"),
        ("steps = 5\n[language_model]\n", "has the tables ['language_model', 'steps']; expected"),
        ("translation = 5\n", "[translation] is 5; expected a table"),
        ("training = 5\n[language_model]\n", "[training] is 5; expected a table"),
        ("[language_model]\n[training]\nschedule = 5\n", "[training.schedule] is 5; expected a"),
        ("[language_model]\nblocklen = 5\n", "[language_model] has no entry 'blocklen'; there are"),
        (
            "[language_model]\nmodel = {d_modl = 1}\n",
            "[language_model]: GPT2Config has no entry 'd_modl'; there are: ['activation', ",
        ),
        (
            "[masked_language_model]\nmodel = {n = 1}\n",
            "[masked_language_model]: BertConfig has no entry 'n'; there are: ['activation', ",
        ),
        *(
            (
                f"[{task}]\nmodel = {{n_layers = 1, n_heads = [2]}}\n",  # files cannot hold it
                f"[{task}]: n_heads=(2,): the reference has one number",
            )
            for task in ("language_model", "masked_language_model")
        ),
        ("[language_model]\n[training]\nstep = 5\n", "[training] has no entry 'step'; there are: "),
        ("[language_model]\n[training.schedule]\nend = 5\n", "[training.schedule] has no entry"),
    ],
)
def test_a_file_that_is_no_run_is_refused_naming_it(
    file: Path, text: str | bytes, message: str
) -> None:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(ValueError, match=f"{re.escape(str(file))} {pattern}"):
        read_run(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.steps='5'", "[training]: steps='5' is of the wrong type; expected int"),
        ("training.steps=5.5", "[training]: steps=5.5 is of the wrong type; expected int"),
        ("training.steps=true", "[training]: steps=True is of the wrong type; expected int"),
        ("training.compile='no'", "[training]: compile='no' is of the wrong type; expected bool"),
        ("training.compile=0", "[training]: compile=0 is of the wrong type; expected bool"),
        ("training.clip='none'", "[training]: clip='none' is of the wrong type; expected float"),
        ("training.betas=0.9", "[training]: betas=0.9 is of the wrong type; expected tuple[float"),
        ("training.betas=[0.9]", "[training]: betas=[0.9] is of the wrong type; expected tuple"),
        ("training.betas=[0, '1']", "[training]: betas='1' is of the wrong type; expected float"),
        ("training.precision=16", "[training]: precision=16 is of the wrong type; expected str"),
        ("training.schedule.total=7.5", "[training.schedule]: total=7.5 is of the wrong type; exp"),
        ("translation.directions=['en']", "[translation]: directions='en' is of the wrong type"),
        ("translation.directions=[['a']]", "[translation]: directions=['a'] is of the wrong type"),
        ("translation.pairs=5", "[translation]: pairs=5 is of the wrong type; expected str"),
        ("translation.model=5", "[translation]: model=5 is of the wrong type; expected dict[str"),
        ("translation.lowercase=1", "[translation]: lowercase=1 is of the wrong type; expected b"),
        ("training.steps=0", "[training]: steps=0: expected an int, at least 1"),
        ("training.precision='half'", "[training]: precision='half' is not known; expected one of"),
        ("training.schedule.kind='cos'", "[training.schedule]: kind='cos' is not known; expected"),
        ("training.schedule.total=1", "[training.schedule]: kind='cosine' falls from step warmup"),
        ("translation.corpus='wmt'", "[translation]: corpus='wmt' is not known; expected one of"),
        (
            "translation.plain=2",
            "[translation]: plain=2.0: expected a number, from 0 to 1: the share of the pairs",
        ),
        (
            "translation.model={n=1}",
            "[translation]: TransformerConfig has no entry 'n'; there are: [",
        ),
        ("translation.model={d_ff=1.5}", "[translation]: d_ff is of type float, 1.5; expected a w"),
        ("translation.model={n_heads=3}", "[translation]: d_model=512 does not divide into n_hea"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_an_entry_of_a_wrong_type_or_out_of_range_is_refused_naming_it(
    file: Path, change: str, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{file} {message}")):
        read_run(file, [change])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("training.steps", "'training.steps': expected TABLE.NAME=VALUE, such as training.steps=1"),
        ("steps=5", "'steps=5': expected TABLE.NAME=VALUE, such as training.steps=100"),
        (
            "training.precision=bfloat16",
            "'training.precision=bfloat16': the value is not TOML; text",
        ),
        (
            "training.steps=",
            "'training.steps=': the value is not TOML; text needs its own quotes",
        ),
        (
            "training.steps=5\ntraining.seed=9",
            "'training.steps=5\\ntraining.seed=9': the value is not TOML",
        ),
        ("training.steps.x=5", "'training.steps.x=5': steps is 7, and no table"),
    ],
)
def test_a_change_that_is_none_is_refused(file: Path, change: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_run(file, [change])


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        read_run(tmp_path / "missing.toml")


@dataclass(frozen=True)
class FileConfig(ToyConfig):
    """The toy's sizes, and a file to learn from."""

    pairs: str | None = field(default=None, metadata={"file": True})


def test_a_run_goes_on_from_another_working_directory_and_not_over_changed_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassbox.training.runs.TASKS", {"toy": (Toy, FileConfig)})
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "run.toml").write_text("[toy]\npairs = 'pairs.tsv'\n[training]\nsteps = 1\n")
    (mine / "pairs.tsv").write_text("one\tun\n")
    monkeypatch.chdir(tmp_path)
    assert read_run(Path("mine/run.toml")).start(tmp_path / "run")
    monkeypatch.chdir(mine)
    further = read_run(Path("run.toml"), ["training.steps=2"])
    assert further.start(tmp_path / "run")
    (mine / "pairs.tsv").write_text("one\tune\n")
    message = r"the sha256 of pairs\.tsv was '[0-9a-f]{64}' and is '[0-9a-f]{64}'\. Train in"
    with pytest.raises(ValueError, match=message):
        further.start(tmp_path / "run")


@pytest.mark.parametrize("where", ["file", "change"])
def test_files_may_be_in_the_home_folder(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassbox.training.runs.TASKS", {"toy": (Toy, FileConfig)})
    monkeypatch.setenv("HOME", str(tmp_path))
    entry = "pairs = '~/pairs.tsv'"
    written, changes = (entry, []) if where == "file" else ("", [f"toy.{entry}"])
    (tmp_path / "run.toml").write_text(f"[toy]\n{written}\n[training]\nsteps = 1\n")
    (tmp_path / "pairs.tsv").write_text("one\tun\n")
    run = read_run("~/run.toml", changes)
    assert run.start("~/run")
    assert read_rows(Path(run.task_config.pairs), ("en", "fr")) == [("one", "un")]


def test_the_example_in_the_readme_is_a_run(tmp_path: Path) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    [example] = re.findall(r"```toml\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "run.toml").write_text(example)
    config = read_run(tmp_path / "run.toml").task_config
    assert (config.corpus, config.directions) == ("pairs", (("es", "en"),))
    TransformerConfig(vocab_size=config.vocab_size, **config.model)


def test_a_run_remembers_what_it_learns_and_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seed is the task's too; another width is another run."""
    tasks: dict[str, Any] = dict(TASKS)
    monkeypatch.setitem(tasks, "toy", (Toy, ToyConfig))
    monkeypatch.setattr("glassbox.training.runs.TASKS", tasks)
    file = tmp_path / "run.toml"
    file.write_text("[toy]\nwidth = 6\n[training]\nsteps = 2\nseed = 5\n")
    seeds = []

    class Seeded(Toy):
        def __init__(self, config: ToyConfig, seed: int) -> None:
            seeds.append(seed)
            super().__init__(config, seed)

    tasks["toy"] = (Seeded, ToyConfig)
    run = read_run(file)
    assert run.start(tmp_path / "run")
    assert seeds == [5]
    assert weights(tmp_path / "run")["out.weight"].shape == (40, 6)
    with pytest.raises(ValueError, match="width was 6 and is 8"):
        read_run(file, ["toy.width=8"]).start(tmp_path / "run")
    tasks["other"] = tasks["toy"]
    file.write_text(file.read_text().replace("[toy]", "[other]"))
    with pytest.raises(ValueError, match="task was 'toy' and is 'other'"):
        read_run(file).start(tmp_path / "run")


@dataclass(frozen=True)
class FromFile(ToyConfig):
    text: str | Path | None = field(default=None, metadata={"file": True})


def test_a_task_s_configuration_and_files_are_remembered_without_a_run(tmp_path: Path) -> None:
    """Nobody has to describe a task: another width, or text, is another run."""
    config, text = replace(TRAINING, steps=2), tmp_path / "text.txt"
    text.write_text("one")
    task = Toy(FromFile(text=text))
    assert train(task, config, tmp_path / "run")
    assert train(task, config, tmp_path / "run")
    with pytest.raises(ValueError, match="tokens was 24 and is 30"):
        train(Toy(FromFile(text=text, tokens=30)), config, tmp_path / "run")
    text.write_text("two")
    with pytest.raises(ValueError, match=r"the sha256 of \S*text\.txt"):
        train(task, config, tmp_path / "run")


@pytest.mark.usefixtures("as_a_reader")
def test_a_configuration_is_no_task_and_a_dictionary_no_configuration(tmp_path: Path) -> None:
    given: Any = ToyConfig(), {"steps": 2}
    with pytest.raises(TypeError, match=r"task is of type ToyConfig, .*; expected a Task"):
        train(given[0], TRAINING, tmp_path)
    with pytest.raises(TypeError, match=r"config is of type dict, .*; expected a TrainingConfig"):
        train(Toy(), given[1], tmp_path)


@pytest.mark.usefixtures("as_a_reader")
def test_one_direction_is_a_pair_of_pairs() -> None:
    directions: Any = ("es", "en")
    with pytest.raises(TypeError, match=r"directions=\('es', 'en'\): expected pairs"):
        TranslationConfig(corpus="phrases", directions=directions)
