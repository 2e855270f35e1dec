"""The play that comes with the package: read by the poet, and not learned by heart."""

from pathlib import Path

import glassbox
from glassbox.data import play
from glassbox.models import CharacterModel


def test_the_play_is_sixty_pieces_of_256_characters_that_the_poet_knows():
    folder = Path(glassbox.__file__).parent / "pretrained_weights" / "shakespeare"
    assert len(play()) == 60 * 256
    assert {*play()} <= {*CharacterModel.from_pretrained(folder).characters}
