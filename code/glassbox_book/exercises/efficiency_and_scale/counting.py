"""Operations of a training step, and bytes on each device."""

from collections.abc import Iterator

from glassbox_book.exercises.exercise import Case, Draw, Exercise

# Operations ----------------------------------------------------------------------------------


def _operations(n: int, d_model: int, d_ff: int, n_layers: int, flaw: str = "") -> int:
    if flaw == "always four":
        d_ff = 4 * d_model
    projections = 1 if flaw == "one projection" else 4
    maps = n * (projections * d_model**2 + 2 * d_model * d_ff)
    pairs = {"no pairs": 0, "scores alone": n**2 * d_model}.get(flaw, 2 * n**2 * d_model)
    passes = {"forward alone": 1, "backward once": 2}.get(flaw, 3)
    each = 1 if flaw == "multiplications" else 2
    return passes * each * n_layers * (maps + pairs)


def _stacks(draw: Draw) -> Iterator[Case]:
    yield Case("a small layer", n=10, d_model=8, d_ff=32, n_layers=1)
    yield Case("six of the paper's layers", n=100, d_model=512, d_ff=2048, n_layers=6)
    yield Case("a long text", n=10000, d_model=64, d_ff=256, n_layers=2)
    yield Case("not four times as wide", n=50, d_model=64, d_ff=100, n_layers=3)


step_operations = Exercise(
    "efficiency_and_scale.step_operations", _operations, _stacks, returns=("operations",)
)

# Bytes ---------------------------------------------------------------------------------------


def _bytes(parameters: int, devices: int, sharded: int, flaw: str = "") -> float:
    order = (2, 2, 12) if flaw == "weights first" else (12, 2, 2)
    if flaw == "two means":
        order = (8, 2, 2)
    cut = {"all": 3, "none": 0}.get(flaw, sharded)
    parts = [parameters * n / (devices if i < cut else 1) for i, n in enumerate(order)]
    return sum(parts) * (devices if flaw == "all devices" else 1)


def _models(draw: Draw) -> Iterator[Case]:
    yield Case("one device", parameters=1000, devices=1, sharded=3)
    yield Case("nothing is divided", parameters=1000, devices=8, sharded=0)
    yield Case("the optimiser's states", parameters=1000, devices=4, sharded=1)
    yield Case("and the gradients", parameters=64000, devices=16, sharded=2)
    yield Case("and the weights", parameters=64000, devices=64, sharded=3)


bytes_on_each = Exercise("efficiency_and_scale.bytes_on_each", _bytes, _models, returns=("number",))
