import io

import numpy as np
from matplotlib import image

from glassbox_book.viz.static import heads_picture
from tests.viz.conftest import records


def test_the_picture_has_a_tile_for_each_head_with_queries_downwards() -> None:
    weights = np.zeros((2, 3, 4, 5))
    weights[1, 2, 0, 4] = 1.0  # layer 1, head 2: the first query attends to the last key
    pixels = image.imread(io.BytesIO(heads_picture(weights)))
    assert pixels.shape == (2 * 5 - 1, 3 * 6 - 1, 4)
    opacity = pixels[..., 3]
    assert np.argwhere(opacity == 1.0).tolist() == [[1 * 5 + 0, 2 * 6 + 4]]
    assert (opacity[4] == 0).all()  # the gap between two layers
    assert (opacity[:, 5] == 0).all()  # the gap between two heads


def test_the_deeper_the_larger() -> None:
    weights = np.linspace(0, 1, 15).reshape(1, 1, 1, 15)
    pixels = image.imread(io.BytesIO(heads_picture(weights)))
    assert (np.diff(pixels[0, :, 3]) > 0).all()


def test_the_picture_is_small() -> None:
    weights = np.stack([each.weights[0] for each in records(16, layers=12, heads=12)])
    assert len(heads_picture(weights)) < 20_000
