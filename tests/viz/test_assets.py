import base64
import gzip
import re
from pathlib import Path

import bertviz
import pytest

from glassbox_book.outputs import read
from glassbox_book.viz import assets

BERTVIZ = Path(bertviz.__file__).parent


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_bertviz_s_scripts_are_unmodified(view: str) -> None:
    assert (BERTVIZ / f"{view}_view.js").read_text(encoding="utf-8") in assets.bundle()


def test_the_libraries_are_the_versions_they_say() -> None:
    assert "https://d3js.org v5.7.0" in assets.bundle()
    assert "jQuery v3.6.0" in assets.bundle()


def test_the_file_of_the_site_is_what_outputs_carry_themselves(tmp_path: Path) -> None:
    path = assets.write(tmp_path / "_static" / "glassbox")
    assert path.name == "attention-views.js"
    packed = gzip.decompress(base64.b64decode(assets.packed_bundle())).decode()
    assert path.read_text(encoding="utf-8") == packed == assets.bundle()


def test_frames_ask_for_the_file_that_is_written() -> None:
    boot = read("viz/frame/boot_linked.js")
    assert f"'{assets.SCRIPT_NAME}'" in boot
    assert re.search(rf"\$\{{root\}}{assets.SITE_FOLDER}/", boot)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"need nothing.js of the package mpld3"):
        assets._package_file("mpld3", "nothing.js")
    with pytest.raises(FileNotFoundError, match=r"of the package no_such_package"):
        assets._package_file("no_such_package", "x.js")
