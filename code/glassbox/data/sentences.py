"""Sentences to classify (SST-2), and sentences whose words to tag (WNUT 2017)."""

from typing import NamedTuple

from glassbox.data.reading import blocks, check_split, find_lines, malformed


class LabelledSentence(NamedTuple):
    """A sentence and its class.

    Parameters
    ----------
    text : str
        The sentence.
    label : int
        The number of its class.
    """

    text: str
    label: int


SST2 = {"train": "train", "valid": "dev", "test": "test"}


def sst2(split: str) -> list[LabelledSentence]:
    """Return sentences from film reviews, labelled 1 if positive and 0 if negative.

    Parameters
    ----------
    split : str
        ``"train"`` (6,920 sentences), ``"valid"`` (872) or ``"test"`` (1,821).

    Returns
    -------
    list of LabelledSentence
        In lower case, with a space before each punctuation mark, as published.

    Raises
    ------
    ValueError
        If there is no such split, or a line cannot be read, or from :func:`glassbox.data.find`.

    Notes
    -----
    The whole sentences of the Stanford Sentiment Treebank by Socher et al. (2013), without the
    neutral ones. Other editions of SST-2 also train on phrases from these sentences and are ten
    times as large; the test sentences are the same. Two of them, ``no`` and ``what 's next ?``, are
    in the training split as well.
    """
    check_split("SST-2", split, SST2)
    path, lines = find_lines(f"classification_sst2/{SST2[split]}.tsv")
    sentences = []
    for number, line in enumerate(lines, start=1):
        text, _, label = line.partition("\t")
        if not text.strip() or label not in ("0", "1"):
            raise malformed(path, number, "a sentence, a tab and 0 or 1", line)
        sentences.append(LabelledSentence(text, int(label)))
    return sentences


class TaggedSentence(NamedTuple):
    """The words of a sentence, and a tag for each.

    Parameters
    ----------
    words, tags : tuple of str
        Equally many of both.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]


WNUT17 = {
    "train": "wnut17train.conll",
    "valid": "emerging.dev.conll",
    "test": "emerging.test.annotated",
}
ENTITIES = ("corporation", "creative-work", "group", "location", "person", "product")
#: Outside an entity, at the beginning of one, inside one.
TAGS = ("O", *(f"{place}-{entity}" for entity in ENTITIES for place in "BI"))


def wnut17(split: str) -> list[TaggedSentence]:
    """Return sentences from social media with the entities that they name.

    Parameters
    ----------
    split : str
        ``"train"`` (3,394 sentences), ``"valid"`` (1,009) or ``"test"`` (1,287).

    Returns
    -------
    list of TaggedSentence
        The first word of an entity has the tag ``B-`` and its kind, such as ``B-person``; those
        that follow in the same entity have ``I-``; all others have ``O``. The kinds are
        corporation, creative-work, group, location, person and product.

    Raises
    ------
    ValueError
        If there is no such split, or a line cannot be read, or from :func:`glassbox.data.find`.

    Notes
    -----
    Derczynski et al. (2017): hardly any entity of the test split occurs in training, even in
    another spelling, and none in the same, so a model has to recognise them from context.
    """
    check_split("WNUT 2017", split, WNUT17)
    path, lines = find_lines(f"ner_wnut17/{WNUT17[split]}")
    sentences = []
    for block in blocks(lines):
        tagged = [line.split("\t") for _, line in block]
        for (number, line), fields in zip(block, tagged, strict=True):
            if len(fields) != 2 or not fields[0] or fields[1] not in TAGS:
                expected = f"a word, a tab and one of {', '.join(TAGS)}"
                raise malformed(path, number, expected, line)
        words, tags = zip(*tagged, strict=True)
        sentences.append(TaggedSentence(words, tags))
    return sentences
