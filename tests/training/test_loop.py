"""A step is what it should be, and training goes on, ends and fails as it says."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

from glassbox.files import lock
from glassbox.training import (
    Processes,
    Schedule,
    average,
    checkpoints,
    cross_entropy,
    make_optimizer,
    read_metrics,
    stream,
    train,
    training_loop,
)
from glassbox.training import loop as loops
from glassbox.training.batches import Step
from glassbox.training.checkpoint import CheckpointError
from glassbox.training.loss import Loss
from glassbox.training.state import TrainingState
from glassbox.training.stopping import stop_signals
from glassbox.transformer import Transformer, TransformerConfig
from tests.training.toy import (
    MODEL,
    PAD,
    TRAINING,
    VOCAB,
    Follows,
    Interrupted,
    Toy,
    ToyConfig,
    learn,
    spoil,
    weights,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def double() -> Iterator[None]:
    """Compute in float64."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training that nothing happened to has left."""
    folder = tmp_path_factory.mktemp("whole")
    assert learn(folder)
    return folder


def log(folder: Path, split: str = "train") -> list[dict[str, Any]]:
    return [e for e in read_metrics(folder / "metrics.jsonl") if e["split"] == split]


def steps_of(folder: Path) -> list[int]:
    return [int(path.name[5:]) for path in checkpoints(folder / "checkpoints")]


def assert_same(folder: Path, whole: Path) -> None:
    """The weights to the last bit, and each step once in the log."""
    expected = weights(whole)
    assert weights(folder).keys() == expected.keys()
    for name, weight in weights(folder).items():
        assert torch.equal(weight, expected[name]), name
    assert log(folder) == log(whole)


# What a step is.


class Divided(Toy):
    """The toy without dropout, whose steps are divided into batches in a way of one's own."""

    def __init__(self, divide: Callable[[list[int]], list[list[int]]]) -> None:
        super().__init__(ToyConfig(dropout=0.0))
        self.divide = divide

    def epoch(self, number: int) -> list[Step]:
        return [self.divide([*chain(*step)]) for step in super().epoch(number)]


DIVISIONS: dict[str, Callable[[list[int]], list[list[int]]]] = {
    "one by one": lambda examples: [[example] for example in examples],
    "one, and the rest": lambda examples: [part for part in (examples[:1], examples[1:]) if part],
    "backwards in threes": lambda examples: [
        examples[::-1][i : i + 3] for i in range(0, len(examples), 3)
    ],
}


@pytest.mark.parametrize("division", DIVISIONS)
@pytest.mark.usefixtures("double")
def test_accumulated_batches_are_one_large_batch(tmp_path: Path, division: str) -> None:
    """Of texts of different lengths, padded, with smoothed labels; gradients clipped or not."""
    large = Divided(lambda examples: [examples])
    lengths = {len(large.examples[i]) for i in large.epoch(0)[0][0]}
    assert len(lengths) > 2
    learn(tmp_path / "large", large, clip=0.6)
    learn(tmp_path / "small", Divided(DIVISIONS[division]), clip=0.6)
    for one, two in zip(log(tmp_path / "large"), log(tmp_path / "small"), strict=True):
        for name in ("loss", "nll", "norm", "rate", "tokens"):
            assert two[name] == pytest.approx(one[name], rel=1e-8), name  # it has nine digits
    norms = [entry["norm"] for entry in log(tmp_path / "large")]
    assert min(norms) < 0.6 < max(norms)
    small = weights(tmp_path / "small")
    for name, weight in weights(tmp_path / "large").items():
        if name != "seen":
            torch.testing.assert_close(small[name], weight, rtol=0, atol=1e-12)


class Copying:
    """A real encoder–decoder that copies, in one step of some batches; it needs padding masks."""

    config = TransformerConfig.tiny(vocab_size=VOCAB, dropout=0.0)

    def __init__(self, batches: Step) -> None:
        self.step, self.toy = batches, Toy()

    def build(self) -> nn.Module:
        return Transformer(self.config)

    def epoch(self, number: int) -> list[Step]:
        return [self.step]

    def count(self, step: Step) -> int:
        return self.toy.count(step)

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        rows = [self.toy.examples[i] for i in examples]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
        logits = model(ids, ids[:, :-1], (ids != PAD)[:, None, None, :])
        return cross_entropy(logits, ids[:, 1:], ignore_id=PAD, smoothing=0.1)

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        return {}

    def save(self, model: nn.Module, folder: Path) -> None:
        torch.save(model.state_dict(), folder / "weights")


@pytest.mark.usefixtures("double")
def test_gradients_of_a_transformer_add_up_over_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen through plain gradient descent, which changes the weights by the gradients."""
    monkeypatch.setattr(
        loops, "make_optimizer", lambda model, _: torch.optim.SGD(model.parameters(), lr=0.0)
    )
    schedule = Schedule("constant", peak=0.5, warmup=0)
    config = replace(TRAINING, steps=1, schedule=schedule, clip=None)
    learned = []
    for name, step in (("large", [[0, 1, 2, 3, 4, 5]]), ("small", [[5, 2], [0], [4, 1, 3]])):
        assert train(Copying(step), config, tmp_path / name)
        learned.append(torch.load(tmp_path / name / "model" / "weights"))
    for name, weight in learned[0].items():
        torch.testing.assert_close(learned[1][name], weight, rtol=0, atol=1e-12)
    assert log(tmp_path / "large")[0]["norm"] > 0.1  # so that something was added up


def plainly(steps: int, config: ToyConfig) -> tuple[nn.Module, list[dict[str, float]]]:
    """Train the toy as one writes it down with PyTorch, on one large batch a step."""
    task = Toy(config)
    torch.manual_seed(stream(TRAINING.seed, 0))
    model: Any = task.build()
    matrices = [model.embedding.weight, model.out.weight]
    vectors = [model.norm.weight, model.norm.bias, model.out.bias]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
        eps=1e-9,
    )
    numbers = []
    every = [step for epoch in range(steps) for step in task.epoch(epoch)]
    for number, step in enumerate(every[:steps], 1):
        rate = 1e-2 * min(number / 4, (4 / number) ** 0.5)
        for group in optimizer.param_groups:
            group["lr"] = rate
        rows = [torch.tensor(task.examples[i]) for batch in step for i in batch]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        logits, labels = model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
        smoothed = F.cross_entropy(logits, labels, ignore_index=PAD, label_smoothing=0.1)
        optimizer.zero_grad()
        smoothed.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.6)
        optimizer.step()
        nll = F.cross_entropy(logits, labels, ignore_index=PAD)
        numbers.append(
            {"loss": smoothed.item(), "nll": nll.item(), "norm": norm.item(), "rate": rate}
        )
    return model, numbers


@pytest.mark.usefixtures("double")
def test_training_is_what_one_writes_down_with_pytorch(tmp_path: Path) -> None:
    """Loss, schedule, accumulation, clipping, AdamW and its decay, for two epochs."""
    config = ToyConfig(dropout=0.0)
    learn(tmp_path, Toy(config), clip=0.6, average=1, steps=10)
    model, numbers = plainly(10, config)
    for entry, expected in zip(log(tmp_path), numbers, strict=True):
        assert {name: entry[name] for name in expected} == pytest.approx(expected, rel=1e-8)
    learned = weights(tmp_path)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(learned[name], parameter.detach(), rtol=0, atol=1e-12)


def started(folder: Path) -> TrainingState:
    """Return the training of the toy before its first step."""
    task, group = Toy(), Processes(0, 1, torch.device("cpu"))
    torch.manual_seed(stream(TRAINING.seed, 0))
    model = task.build()
    optimizer = make_optimizer(model, TRAINING)
    return TrainingState(task, TRAINING, group, model, model, optimizer, folder)


def test_a_folder_may_be_a_name_and_a_file_too(tmp_path: Path, whole: Path) -> None:
    assert train(Toy(), TRAINING, str(tmp_path))
    assert_same(tmp_path, whole)
    assert checkpoints(str(tmp_path / "checkpoints")) == checkpoints(tmp_path / "checkpoints") != []
    assert read_metrics(str(tmp_path / "metrics.jsonl")) == read_metrics(tmp_path / "metrics.jsonl")


def test_a_tilde_is_the_home_folder(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert train(Toy(), TRAINING, "~/run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert_same(tmp_path / "run", whole)
    kept = checkpoints("~/run/checkpoints")
    assert kept == checkpoints(tmp_path / "run" / "checkpoints") != []
    assert average([f"~/run/checkpoints/{kept[0].name}"]).keys() == average(kept).keys()
    assert read_metrics("~/run/metrics.jsonl") == read_metrics(tmp_path / "run" / "metrics.jsonl")


def test_the_loop_alone_learns_the_same_and_writes_nothing(tmp_path: Path) -> None:
    training = started(tmp_path / "nothing")
    training_loop(training)
    assert training.done
    assert list(tmp_path.iterdir()) == []
    learn(tmp_path, average=1)
    learned = training.model.state_dict()
    for name, weight in weights(tmp_path).items():
        assert torch.equal(learned[name], weight), name


def test_callbacks_are_called_in_their_order_and_may_end_the_loop(tmp_path: Path) -> None:
    seen = []

    def note(training: TrainingState) -> None:
        seen.append((training.progress.step, training.stopping))

    def stop(training: TrainingState) -> None:
        training.stopping = training.progress.step == 3

    training = started(tmp_path)
    training_loop(training, [note, stop, note])
    steps = [(1, False), (2, False), (3, False), (3, True)]
    assert seen == [steps[0], steps[0], steps[1], steps[1], steps[2], steps[3]]
    assert not training.done


@pytest.mark.parametrize("accumulate", [1, 3])
def test_the_schedule_counts_steps_of_the_optimiser(tmp_path: Path, accumulate: int) -> None:
    learn(tmp_path, Toy(ToyConfig(accumulate=accumulate)))
    rates = [entry["rate"] for entry in log(tmp_path)]
    assert rates == pytest.approx([TRAINING.schedule(step) for step in range(1, 10)])


def test_matrices_decay_and_nothing_else(device: str) -> None:
    model = Transformer(TransformerConfig.tiny(vocab_size=VOCAB)).to(device)
    names = {parameter: name for name, parameter in model.named_parameters()}
    decaying, still = make_optimizer(model, TRAINING).param_groups
    assert (decaying["weight_decay"], still["weight_decay"]) == (0.1, 0.0)
    assert {*decaying["params"], *still["params"]} == names.keys()
    assert len(decaying["params"]) + len(still["params"]) == len(names)
    assert all(names[p].endswith("weight") and "norm" not in names[p] for p in decaying["params"])
    assert all(names[p].endswith("bias") or "norm" in names[p] for p in still["params"])


def test_tokens_are_counted_and_time_goes_by(tmp_path: Path) -> None:
    learn(tmp_path)
    task = Toy()
    steps = [step for epoch in (0, 1) for step in task.epoch(epoch)]
    counts = [task.count(step) for step in steps]
    assert [e["tokens"] for e in log(tmp_path)] == [sum(counts[: n + 1]) for n in range(9)]
    seconds = [
        json.loads((path / "state.json").read_text())["progress"]["seconds"]
        for path in checkpoints(tmp_path / "checkpoints")
    ]
    assert 0 < seconds[0] < seconds[-1] < 60


@pytest.mark.usefixtures("as_a_reader")
def test_a_seed_may_be_a_whole_number_of_numpy(tmp_path: Path, whole: Path) -> None:
    learn(tmp_path, seed=np.int64(TRAINING.seed))
    learn(tmp_path)  # the same training
    assert_same(tmp_path, whole)


def test_a_seed_is_a_training(tmp_path: Path, whole: Path) -> None:
    learn(tmp_path / "again")
    assert_same(tmp_path / "again", whole)
    learn(tmp_path / "other", seed=4)
    assert not torch.equal(weights(tmp_path / "other")["out.weight"], weights(whole)["out.weight"])


def test_dropout_is_another_in_every_step(tmp_path: Path) -> None:
    """At a rate that changes nothing, the loss of one batch differs only by what is dropped."""

    class Same(Toy):
        def epoch(self, number: int) -> list[Step]:
            return super().epoch(0)[:1]

    schedule = Schedule("constant", peak=1e-30, warmup=0)
    learn(tmp_path, Same(), schedule=schedule, weight_decay=0.0)
    assert len({entry["loss"] for entry in log(tmp_path)}) == 9


def test_half_precision_computes_products_and_keeps_the_weights(
    tmp_path: Path, whole: Path
) -> None:
    seen = []

    class Watching(Toy):
        def loss(self, model: Any, examples: list[int]) -> Loss:
            handle = model.out.register_forward_hook(lambda *call: seen.append(call[2].dtype))
            try:
                return super().loss(model, examples)
            finally:
                handle.remove()

    learn(tmp_path, Watching(), precision="bfloat16")
    assert {*seen} == {torch.bfloat16}  # when it is validated, too
    half = weights(tmp_path)
    assert {half[name].dtype for name in half} == {torch.float32, torch.int64}
    one, two = half["out.weight"], weights(whole)["out.weight"]
    assert not torch.equal(one, two)
    assert (one - two).norm() < 0.1 * two.norm()


def test_a_model_is_compiled_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[nn.Module] = []
    monkeypatch.setattr(nn.Module, "compile", lambda model: compiled.append(model))
    learn(tmp_path / "no")
    assert compiled == []
    learn(tmp_path / "yes", compile=True)
    assert [type(model) for model in compiled] == [Follows]


# Validation.


def test_validation_is_in_evaluation_mode_without_gradients_and_training_is_not(
    tmp_path: Path,
) -> None:
    task = Toy()
    training = []
    loss = task.loss

    def watched(model: nn.Module, examples: list[int]) -> Loss:
        training.append((model.training, torch.is_grad_enabled()))
        return loss(model, examples)

    task.loss = watched  # type: ignore[method-assign]
    learn(tmp_path, task)
    assert task.validated == [(False, False)] * 3  # after steps 3, 6 and 9
    assert {*training} == {(True, True), (False, False)}
    assert training[-2:] == [(True, True), (False, False)]


@pytest.mark.parametrize("every", [1, 2, 100])
def test_validation_changes_nothing_whatever_it_draws(
    tmp_path: Path, whole: Path, every: int
) -> None:
    """The toy's uses up random numbers. The last step is always validated."""
    learn(tmp_path, validate_every=every)
    assert_same(tmp_path, whole)
    steps = {*range(every, 10, every), 9}
    assert [entry["step"] for entry in log(tmp_path, "valid")] == sorted(steps)


# What comes out.


@pytest.mark.parametrize(("average", "steps"), [(1, [9]), (2, [8, 9]), (4, [4, 6, 8, 9])])
def test_the_model_is_the_mean_of_the_last_checkpoints(
    tmp_path: Path, average: int, steps: list[int]
) -> None:
    learn(tmp_path, average=average)
    kept = [load_file(tmp_path / "checkpoints" / f"step-0000000{step}" / MODEL) for step in steps]
    for name, weight in weights(tmp_path).items():
        if name == "seen":
            assert weight == kept[-1]["seen"]  # a counter has no mean
        else:
            mean = torch.stack([tensors[name].double() for tensors in kept]).mean(0)
            assert torch.equal(weight, mean.float()), name


@pytest.mark.parametrize(("average", "kept"), [(1, [8, 9]), (2, [6, 8, 9]), (9, [2, 4, 6, 8, 9])])
def test_one_checkpoint_more_is_kept_than_averaged(
    tmp_path: Path, average: int, kept: list[int]
) -> None:
    learn(tmp_path, average=average)
    assert steps_of(tmp_path) == kept


def test_snapshots_stay_and_change_nothing(tmp_path: Path, whole: Path) -> None:
    learn(tmp_path, snapshots=(1, 2, 3))
    assert steps_of(tmp_path) == [1, 2, 3, *steps_of(whole)]
    assert_same(tmp_path, whole)


def test_a_loss_goes_down(tmp_path: Path) -> None:
    learn(tmp_path, Toy(ToyConfig(width=16, tokens=100)), steps=80, average=1)
    losses = [entry["nll"] for entry in log(tmp_path)]
    assert losses[0] > 3.5
    assert losses[-1] < 2.0


def test_a_finished_training_only_writes_its_model_again(tmp_path: Path, whole: Path) -> None:
    learn(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    (tmp_path / "model" / MODEL).unlink()
    task = Toy()
    assert learn(tmp_path, task)
    assert task.validated == []
    assert_same(tmp_path, whole)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert after.keys() == before.keys()
    assert {path.name for path in after if after[path] != before[path]} == {"model", MODEL}


def test_a_file_of_one_s_own_beside_the_model_stays(tmp_path: Path) -> None:
    learn(tmp_path)
    note = tmp_path / "model" / "notes.txt"
    note.write_text("mine")
    (tmp_path / "model" / MODEL).write_text("old")
    learn(tmp_path)
    assert note.read_text() == "mine"
    assert (tmp_path / "model" / MODEL).read_bytes() != b"old"


# Going on.


def ask(number: int, times: int = 1) -> Callable[[Loss], Loss]:
    """Return an event: somebody asks the training to stop."""

    def event(loss: Loss) -> Loss:
        for _ in range(times):
            signal.raise_signal(number)
        return loss

    return event


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("step", [1, 4, 5, 7])
def test_stopped_after_any_step_it_goes_on_as_if_not(
    tmp_path: Path, whole: Path, number: int, step: int
) -> None:
    """Also the mean of checkpoints, to which that of the stop does not belong."""
    assert not learn(tmp_path, Interrupted(step, ask(number)))
    assert steps_of(tmp_path)[-1] == log(tmp_path)[-1]["step"] == step
    assert not (tmp_path / "model").exists()
    assert learn(tmp_path)
    assert_same(tmp_path, whole)
    assert log(tmp_path, "valid") == log(whole, "valid")
    assert [step for step in steps_of(tmp_path) if step > 4] == [6, 8, 9]


def test_stopped_after_every_step_it_comes_to_the_same_end(tmp_path: Path, whole: Path) -> None:
    for step in range(1, 9):
        assert not learn(tmp_path, Interrupted(step, ask(signal.SIGTERM)))
    assert steps_of(tmp_path) == [4, 6, 8]
    assert learn(tmp_path, Interrupted(9, ask(signal.SIGTERM)))  # too late to stop
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, number: int) -> None:
    class Ended(Exception):
        pass

    def end(*_: object) -> None:
        raise Ended

    former = signal.signal(number, end)
    try:
        with pytest.raises(Ended):
            learn(tmp_path, Interrupted(4, ask(number, times=2)))
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, former)
    assert steps_of(tmp_path) == [2]
    assert log(tmp_path)[-1]["step"] == 3


def test_ctrl_c_that_a_launcher_passes_on_as_another_signal_is_one(tmp_path: Path) -> None:
    def both(loss: Loss) -> Loss:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        return loss

    assert not learn(tmp_path, Interrupted(3, both))
    assert steps_of(tmp_path) == [2, 3]


def test_signals_are_heard_as_before_when_training_is_over(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    learn(tmp_path)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_signal_may_come_while_its_handler_is_being_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = signal.signal
    heard: list[int] = []

    def install(number: int, handler: Any) -> Any:
        former = original(number, handler)
        if number == signal.SIGTERM and not heard:
            heard.append(number)
            signal.raise_signal(number)
        return former

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(signal, "signal", install)
    with stop_signals():
        assert heard
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_outside_of_the_main_thread_it_trains_without_signals(tmp_path: Path, whole: Path) -> None:
    thread = threading.Thread(target=learn, args=(tmp_path,))
    thread.start()
    thread.join()
    assert_same(tmp_path, whole)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, "seed was 3 and is 4"),
        ({"weight_decay": 0.2}, "weight_decay was 0.1 and is 0.2"),
        ({"clip": None}, "clip was 1.0 and is None"),
        ({"betas": (0.9, 0.99)}, r"betas was \[0.9, 0.98\] and is \[0.9, 0.99\]"),
        ({"precision": "bfloat16"}, "precision was 'float32' and is 'bfloat16'"),
        ({"average": 3}, "average was 2 and is 3"),
        ({"checkpoint_every": 3}, "checkpoint_every was 2 and is 3"),
        ({"schedule": Schedule(warmup=9)}, "schedule was {.*'warmup': 4.*} and is {.*'warmup': 9"),
        ({"seed": 4, "eps": 1e-8}, "eps was 1e-09 and is 1e-08; seed was 3 and is 4"),
    ],
)
def test_another_configuration_is_refused_naming_what_differs(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    learn(tmp_path, steps=4)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(ValueError, match=f"configuration: {message}.*Train into another folder"):
        learn(tmp_path, **changes)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_what_else_describes_a_run_must_be_the_same(tmp_path: Path) -> None:
    config = replace(TRAINING, steps=4)
    train(Toy(), config, tmp_path, described={"corpus": "a", "sizes": (1, 2), "old": 1})
    train(Toy(), config, tmp_path, described={"corpus": "a", "sizes": [1, 2], "old": 1})
    with pytest.raises(ValueError, match="corpus was 'a' and is 'b'; new was None and is 2; old"):
        train(Toy(), config, tmp_path, described={"corpus": "b", "sizes": (1, 2), "new": 2})


def test_a_task_may_not_call_a_setting_as_training_does_or_one_would_hide_the_other(
    tmp_path: Path,
) -> None:
    @dataclass(frozen=True)
    class Own(ToyConfig):
        eps: float = 0.1

    with pytest.raises(ValueError, match=r"task and training both define \['eps'\]"):
        learn(tmp_path, Toy(Own()))


def test_what_cannot_be_remembered_is_refused_before_the_first_step(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="PosixPath is not JSON serializable"):
        train(Toy(), TRAINING, tmp_path / "folder", described={"corpus": Path("a")})
    assert not (tmp_path / "folder").exists()


def test_what_no_weight_follows_from_may_differ(tmp_path: Path, whole: Path) -> None:
    learn(tmp_path, steps=4, validate_every=1)
    # Alone, there is nothing to divide.
    assert learn(tmp_path, validate_every=9, snapshots=(5,), sharding="full")
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("first", [1, 3, 4, 7, 8])
def test_more_steps_give_what_so_many_from_the_beginning_would_have_given(
    tmp_path: Path, whole: Path, first: int
) -> None:
    """Also the mean of checkpoints: the former last step is one of them only if it is due."""
    assert learn(tmp_path, steps=first)
    assert (tmp_path / "model").exists()
    assert learn(tmp_path)
    assert_same(tmp_path, whole)


def test_fewer_steps_than_are_done_are_refused(tmp_path: Path) -> None:
    learn(tmp_path, steps=4)
    with pytest.raises(ValueError, match=r"checkpoints is at step 4, past the last, steps=3: "):
        learn(tmp_path, steps=3)
    assert learn(tmp_path, steps=4)


def test_data_that_have_changed_are_found_out_where_an_epoch_has_become_too_short(
    tmp_path: Path,
) -> None:
    learn(tmp_path, steps=4)

    class Less(Toy):
        def epoch(self, number: int) -> list[Step]:
            return super().epoch(number)[:4]

    with pytest.raises(ValueError, match=r"epoch 0 has 4 steps, of which 4 are done.*data are not"):
        learn(tmp_path, Less())


def test_an_epoch_without_a_step_is_refused_and_not_awaited(tmp_path: Path) -> None:
    class Nothing(Toy):
        def epoch(self, number: int) -> list[Step]:
            return []

    with pytest.raises(ValueError, match=r"epoch 0 has no steps: task\.epoch must return some"):
        learn(tmp_path, Nothing())


# What goes wrong.


@pytest.mark.parametrize(("step", "left"), [(1, []), (5, [2, 4]), (9, [4, 6, 8])])
def test_a_loss_that_is_no_number_ends_it_and_no_checkpoint_has_one(
    tmp_path: Path, whole: Path, step: int, left: list[int]
) -> None:
    with pytest.raises(FloatingPointError) as caught:
        learn(tmp_path, Interrupted(step, spoil))
    good = f"checkpoint is {tmp_path}/checkpoints/step-0000000{left[-1]}" if left else "state is"
    rate = TRAINING.schedule(step)
    assert f"step {step}: the loss is nan and the gradients' norm nan, at a " in str(caught.value)
    assert f"learning rate of {rate:.3g}. The last good {good}" in str(caught.value)
    assert steps_of(tmp_path) == left
    for path in checkpoints(tmp_path / "checkpoints"):
        assert all(tensor.isfinite().all() for tensor in load_file(path / MODEL).values())
    assert [entry["step"] for entry in log(tmp_path)] == list(range(1, step))
    assert learn(tmp_path)  # the next one has better luck
    assert_same(tmp_path, whole)


def test_gradients_that_are_too_large_end_it_before_they_are_learned_from(tmp_path: Path) -> None:
    def enlarge(loss: Loss) -> Loss:
        return replace(loss, total=loss.total * 1e35)  # their squares are out of range

    with pytest.raises(FloatingPointError, match=r"step 3: the loss is \d.*e\+3\d and .* norm inf"):
        learn(tmp_path, Interrupted(3, enlarge))
    assert steps_of(tmp_path) == [2]


@contextmanager
def as_nobody() -> Iterator[None]:
    """Have no right to write everywhere, as whoever runs the tests in a container has."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        yield


def test_a_folder_that_nobody_may_write_to_is_named_before_the_first_step(tmp_path: Path) -> None:
    task = Toy()
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    tmp_path.chmod(0o755)
    with as_nobody(), pytest.raises(PermissionError, match=f"Permission denied: '{tmp_path}"):
        learn(folder / "run", task)
    assert list(folder.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"Not a directory: '.*/file/run'"):
        learn(tmp_path / "file" / "run", task)
    assert task.validated == []


def test_a_model_that_cannot_be_written_leaves_the_one_before_and_can_be_written_later(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(tmp_path, steps=8)
    before = weights(tmp_path)

    class Full(Toy):
        def save(self, model: nn.Module, folder: Path) -> None:
            (folder / "config.json").write_text("{}")
            raise OSError(28, "No space left on device")

    with pytest.raises(CheckpointError) as caught:
        learn(tmp_path, Full())
    place = tmp_path / "model"
    assert str(caught.value).startswith(f"the model cannot be written to {place}: ")
    assert "No space left on device. The checkpoints are complete" in str(caught.value)
    assert [path.name for path in place.iterdir()] == [MODEL]
    assert all(torch.equal(weight, before[name]) for name, weight in weights(tmp_path).items())
    assert not list(tmp_path.glob(".*"))
    assert learn(tmp_path)
    assert_same(tmp_path, whole)


def test_two_trainings_in_one_folder_are_refused(tmp_path: Path, whole: Path) -> None:
    with lock(tmp_path), pytest.raises(ValueError, match="another process is training in"):
        learn(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert learn(tmp_path)
    assert_same(tmp_path, whole)
    # What the other process writes and deletes is not read.
    with lock(tmp_path), pytest.raises(ValueError, match="another process"):
        learn(tmp_path, seed=4)
