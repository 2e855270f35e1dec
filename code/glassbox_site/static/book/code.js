// What is folded and what scrolls: the switch that opens all code, links that open what they lead
// to, and the keyboard's way into what is wider than the column.
"use strict";
{
  const folds = document.querySelectorAll("details.gb-code");
  const buttons = document.querySelectorAll(".gb-switch button");
  const show = (level) => {
    for (const fold of folds) fold.open = level === "all";
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.code === level));
  };

  // What the reader looks at stays where it is while code opens above it.
  const inPlace = (change) => {
    const seen = [...document.querySelectorAll(".bd-article :is(h2, h3, p, figure)")]
      .find((block) => block.getBoundingClientRect().top > 64 && block.checkVisibility());
    const before = seen?.getBoundingClientRect().top;
    change();
    if (seen) scrollBy({ top: seen.getBoundingClientRect().top - before, behavior: "instant" });
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      inPlace(() => show(button.dataset.code));
      glassboxMemory.change((kept) => { kept.code = button.dataset.code; });
    });
  }
  if (glassboxMemory.read().code === "all") show("all");

  // Whoever reloads a page, or goes back to it, finds open what was open: else the place would move.
  const all = [...document.querySelectorAll(".bd-article details")], opened = `glassbox:opened:${location.pathname}`;
  try {
    if (performance.getEntriesByType("navigation")[0].type !== "navigate") {
      for (const place of JSON.parse(sessionStorage.getItem(opened)) ?? []) if (all[place]) all[place].open = true;
    }
    addEventListener("pagehide", () => {
      sessionStorage.setItem(opened, JSON.stringify([...all.keys()].filter((place) => all[place].open && !all[place].name)));
    });
  } catch { /* not allowed to remember */ }

  // What is linked to is seen: what it stands in opens, and of a section that goes deeper the fold.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));  // names are ASCII: nothing to decode
    if (!target) return;
    const closed = [];
    for (let box = target; box; box = box.parentElement) if (box.matches("details:not([open])")) closed.push(box);
    const deeper = target.closest("section")?.querySelector(":scope > details.gb-deeper:not([open])");
    if (deeper && !closed.length) closed.push(deeper);
    for (const box of closed) box.open = true;
    if (closed.length) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // What scrolls takes part in the order of the Tab key, as long as it scrolls.
  const scrollers = document.querySelectorAll("pre, .gb-formula, .pst-scrollable-table-container, .cell_output > *, .gb-scroll");
  const mark = () => {
    for (const box of scrollers) {
      if (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
  document.fonts.ready.then(mark);
}
