"""What a token costs in the page is measured beside what it costs in PyTorch."""

import pytest

from benchmarks import live, run


@pytest.mark.slow
def test_a_token_of_the_page_is_timed_beside_pytorch_s_and_stands_in_the_results(
    visit, machine_url
):
    done = live.time_in(visit(machine_url).page, "machine", seconds=0, least=2)
    assert len(done.ours) == len(done.theirs) == 2
    assert min(done.ours) > 0
    line = next(
        line for line in run.table({"processor": "any"}, [done]).splitlines() if "page" in line
    )
    assert line.startswith(f"| {done.what} | glassbox in PyTorch | cpu | ")
    assert run.row(done)["what"] == done.what
