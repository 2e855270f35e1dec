"""Whether a page of the site is accessible, judged in the least time.

Axe takes most of its time to work out the ground that each word stands on. Words that are set in
the same way have the same contrast, so one of each kind is judged, with nothing else on the page.
"""

from collections.abc import Sequence

from playwright.sync_api import Page

from tests.axe import RULES, run

COLOURS = ["color-contrast", "link-in-text-block"]
PLACES = ["target-size", "scrollable-region-focusable", "css-orientation-lock", "meta-viewport"]


def choose(page: Page, place: str = "html") -> None:
    """Choose the words whose colours are judged: one for each way of setting in this theme."""
    for frame in page.frames:
        frame.evaluate("look.choose", place if frame == page.main_frame else "html")


def leave_out_innards(page: Page) -> None:
    """Take away what has no meaning but its looks, except for the chosen words."""
    for frame in page.frames:
        frame.evaluate("look.leaveOutInnards()")


def in_parts(page: Page, place: str = "html", without: Sequence[str] = ()) -> list[str]:
    """Return what breaks any rule but that of contrast, and others that are left out."""
    leave_out_innards(page)
    left_out = {rule: {"enabled": False} for rule in ("color-contrast", *without)}
    return run(page, place, runOnly=RULES, rules=left_out)


def in_places(page: Page) -> list[str]:
    """Return what breaks a rule of where things are and how large."""
    leave_out_innards(page)
    return run(page, "html", runOnly=PLACES)


def in_colours(page: Page) -> list[str]:
    """Return which of the chosen words stand out too little; leave nothing else on the page."""
    for frame in page.frames:
        changed = frame.evaluate("look.keepChosen()")
        assert changed == [], "\n".join(line[:300] for line in changed)
    return run(page, "html", runOnly=COLOURS)
