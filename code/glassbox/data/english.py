"""English texts of every kind in this package's corpora, to learn the language from."""

from glassbox.data.parallel import multi30k, tatoeba
from glassbox.data.reading import check_split
from glassbox.data.sentences import sst2, wnut17
from glassbox.data.text import tiny_shakespeare


def english(split: str) -> list[str]:
    """Return English texts: sentences, captions, film reviews, short messages, speeches of plays.

    Parameters
    ----------
    split : str
        ``"train"`` (141,319 texts) or ``"valid"`` (5,219): each corpus's own split of that name.

    Returns
    -------
    list of str
        Distinct texts: of Tatoeba, Multi30k, SST-2, WNUT 2017 and Tiny Shakespeare, in this order.
        The words of SST-2 and WNUT 2017 are separated by spaces, as published.

    Raises
    ------
    ValueError
        If there is no such split, or from :func:`glassbox.data.find`.

    Notes
    -----
    Labels and translations are not used, and no test split is read. One caption is in both splits.

    """
    check_split("English", split, ("train", "valid"))
    texts = [sentence for sentence, _ in tatoeba(split)]
    texts += [caption for (caption,) in multi30k(split, "en")]
    texts += [sentence.text for sentence in sst2(split)]
    texts += [" ".join(sentence.words) for sentence in wnut17(split)]
    texts += [" ".join(speech.split()) for speech in tiny_shakespeare(split).split("\n\n")]
    return [*dict.fromkeys(text for text in texts if text)]
