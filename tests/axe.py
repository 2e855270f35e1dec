"""What axe finds in a page and in its frames."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

#: WCAG 2.2, levels A and AA.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: Only what breaks a rule is wanted, and nothing is fetched.
OPTIONS = {"resultTypes": ["violations"], "preload": False, "frameWaitTime": 60_000}
#: Says which frames have not answered in that time.
ALL_FRAMES = {"frame-tested": {"enabled": True}}
RUN = "([place, options]) => axe.run(place, options)"


def run(page: Page, place: str = "html", **options: Any) -> list[str]:
    """Run axe on a place of a page and in its frames; return a line for what breaks a rule."""
    for frame in page.frames:
        if not frame.evaluate("'axe' in window"):
            frame.evaluate(AXE_SCRIPT)
    options["rules"] = options.get("rules", {}) | ALL_FRAMES
    found = page.evaluate(RUN, [place, OPTIONS | options])
    assert found["passes"], "axe has looked at nothing"
    silent = [rule for rule in found["incomplete"] if rule["id"] == "frame-tested"]
    assert silent == [], "axe has not looked into every frame"
    return [
        f"{rule['id']}: {node['target']} {node['html'][:120]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
