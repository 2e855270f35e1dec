"""A look at a page, at one width, light and dark: all that the tests want to know, in one visit."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

from tests.conftest import Visit
from tests.site import accessibility

LOOK = Path(__file__).with_name("look.js")
WIDTHS = {"wide": 1400, "narrow": 390}
IN_VIEW = """() => ({
    theme: document.documentElement.dataset.theme,
    drawn: document.querySelectorAll('#vis svg > *').length > 0,
    texts: document.querySelectorAll('#vis svg text').length,
    width: document.querySelector('#vis svg').getBoundingClientRect().width,
})"""


@dataclass
class Look:
    """What was seen of a page at one width."""

    received: dict[str, float] = field(default_factory=dict)  # address → bytes, views unopened
    shift: float = 0.0  # of the layout, while the page was loaded and scrolled through
    sideways: int = 0  # pixels by which the page is wider than the window, everything folded
    bad_definitions: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    structure: list[str] = field(default_factory=list)  # of the page, in each theme
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)  # by theme, from `look.js`
    foreign: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def look_at(
    seen: Visit,
    url: str,
    open_views: Callable[[Page], list[Frame]],
    *,
    width: int,
    is_chapter: bool,
) -> Look:
    """Open a page and look: narrow in dark; wide in light, and again when it has turned dark.

    The parts of a page do not depend on its theme, and its colours not on its width. So axe judges
    the parts once at either width, with everything unfolded, and the colours once in either theme.
    A narrow chapter has the parts of a wide one: only the rules of size and reach are left.
    """
    look, page, wide = Look(), seen.page, width == WIDTHS["wide"]
    themes = ("light", "dark") if wide else ("dark",)
    page.goto("about:blank")  # what was still loading complains now
    seen.foreign.clear()
    seen.problems.clear()
    page.set_viewport_size({"width": width, "height": 900})
    turn(page, themes[0])
    page.goto(url, wait_until="load")
    look.received = dict(page.evaluate("look.received()"))
    if is_chapter:
        look.shift = page.evaluate("look.scrollThrough()")
    look.sideways = page.evaluate("look.facts().sideways")
    look.bad_definitions = page.evaluate("look.badDefinitions()")
    page.evaluate("look.unfold()")
    frames = open_views(page)
    for theme in themes:
        turn(page, theme, frames)
        facts = page.evaluate("look.facts()")
        facts["views"] = [frame.evaluate(IN_VIEW) for frame in frames]
        look.structure.append(page.evaluate("look.structure()"))
        if wide:
            accessibility.choose(page)
        look.facts[theme] = facts
    look.foreign, look.problems = [*seen.foreign], [*seen.problems]
    if not wide and "/api/" in url:  # made of the same parts as one another, and of few
        return look
    turn(page, themes[-1], frames)
    if is_chapter and not wide:
        look.violations = accessibility.in_places(page)
    else:
        # How large a target is matters to fingers; a wide chapter has none that other pages lack.
        without = ["target-size"] if is_chapter else []
        look.violations = accessibility.in_parts(page, without=without)
    for theme in reversed(themes) if wide else ():  # axe leaves little of the page
        turn(page, theme, frames)
        look.violations += [f"{theme}: {line}" for line in accessibility.in_colours(page)]
    return look


def turn(page: Page, theme: str, frames: Iterable[Frame] | None = None) -> None:
    """Show a page in a theme, and wait until it and its frames follow."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for frame in (page.main_frame, *frames) if frames is not None else ():
        wait_for_theme(frame, theme)


def wait_for_theme(frame: Frame, theme: str) -> None:
    """Wait until a frame is in a theme."""
    follows = f"document.documentElement.dataset.theme === '{theme}'"
    frame.wait_for_function(follows, polling=50)  # what is out of view is not animated
