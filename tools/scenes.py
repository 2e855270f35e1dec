"""Record the translations of the front page: the translator's output and its attention.

The head is the one that chapter 8 finds and prints: of all cross-attention heads, it most often
points at the French word that is about to be written in English.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from glassbox.translation import Translator
from glassbox_book.page import cross_attention

PATH = Path(__file__).resolve().parent.parent / "code" / "glassbox_site" / "scenes.json"
MODEL, LAYER, HEAD = "tatoeba-en-fr", 1, 2
SENTENCES = (
    "Elle m'a donné un livre rouge.",
    "La maison blanche est grande.",
    "J'aime l'apprentissage automatique.",
    "Je ne sais pas où il habite.",
    "Nous avons besoin d'une nouvelle voiture.",
    "Qu'est-ce que tu veux manger ce soir ?",
)


def scene(translator: Translator, text: str) -> dict[str, Any]:
    """Translate a sentence; return its tokens, those written, and the weights between them."""
    best = translator.alternatives(text, to="en", n=1)[0]
    seen = cross_attention(translator, text, "en", best)
    weights = seen.layers[LAYER].weights[0, HEAD]
    return {
        "text": text,
        "translation": best.text,
        "source": seen.source,
        "written": seen.written,
        "weights": [[round(weight, 3) for weight in row] for row in weights.tolist()],
    }


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()  # it takes none
    translator = Translator.from_pretrained(MODEL)
    scenes = [json.dumps(scene(translator, text), ensure_ascii=False) for text in SENTENCES]
    PATH.write_text("[\n" + ",\n".join(scenes) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
