"""The parts of the machine that each family of models keeps."""

from drawing import Drawing

d = Drawing(600, 640)
WIDTH, HEIGHT, GAP = 136, 40, 14


def stack(x: float, foot: float, parts: list[tuple[str, str, bool]]) -> None:
    """Draw the parts of a layer upwards from the foot; where one is left out, its outline."""
    y = foot
    flows = any(kept for *_, kept in parts)
    for words, colour, kept in parts:
        if flows:
            d.arrow((x + WIDTH / 2, y), (x + WIDTH / 2, y - GAP), head=kept)
        y -= GAP + HEIGHT
        if kept:
            d.part(x, y, WIDTH, HEIGHT, words, colour)
        else:
            d.box(x, y, WIDTH, HEIGHT, dashed=True, fill="surface")
            if flows:
                d.arrow((x + WIDTH / 2, y + HEIGHT), (x + WIDTH / 2, y), head=False)
    if flows:
        d.arrow((x + WIDTH / 2, y), (x + WIDTH / 2, y - GAP - 4))


def family(x: float, y: float, name: str, work: str, reads: bool, writes: bool, both: bool) -> None:
    """Draw a family: its encoder layer on the left, its decoder layer on the right."""
    d.text(x + 150, y + 28, name, size=19, bold=True)
    d.text(x + 150, y + 52, work, size=17, colour="muted")
    d.box(x + 2, y + 68, 296, 232, fill="surface", radius=12)
    foot = y + 280
    attention, inner = ("self-attention", "attention"), ("feed-forward", "feed-forward")
    stack(x + 8, foot, [(*attention, reads), (*inner, reads)])
    masked, cross = ("causal attention", "attention"), ("cross-attention", "attention")
    stack(x + 156, foot, [(*masked, writes), (*cross, both), (*inner, writes)])
    if both:
        top = foot - 2 * (GAP + HEIGHT) - GAP - 4
        side = foot - GAP - HEIGHT - GAP - HEIGHT / 2
        d.arrow((x + 76, top), (x + 150, top), (x + 150, side), (x + 156, side), colour="memory")


family(0, 0, "the paper, T5", "reads one text, writes another", True, True, True)
family(300, 0, "BERT", "reads, and fills blanks", True, False, False)
family(0, 330, "GPT-2, LLaMA", "goes on with a text", False, True, False)
d.text(450, 420, "solid: kept", size=17)
d.text(450, 446, "dashed: left out", size=17, colour="muted")

d.save("families.svg")
