// Where the reader is, and has been: the bar at the top, the entry of this page's contents, marks
// in the book's contents, and the way back to where the reader left off.
"use strict";
{
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href).href;
  const pageOf = (address) => address.split("#")[0].slice(root.length);
  const here = pageOf(location.href);
  const isChapter = /^chapters\/\d+_/.test(here);
  const article = document.querySelector(".bd-article");

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const note = (edit) => glassboxMemory.change((kept) => {
    kept.path = { read: {}, quiz: {}, seen: {}, ...kept.path };
    edit(kept.path);
  });

  // The bar
  const bar = make("div", { className: "gb-progress" });
  bar.setAttribute("aria-hidden", "true");
  if (isChapter) document.body.append(bar);

  // This page's contents
  const box = document.querySelector(".bd-sidebar-secondary");
  const entries = [...document.querySelectorAll("#gb-contents a")]
    .map((link) => ({ link, section: document.getElementById(decodeURIComponent(link.hash.slice(1))) }))
    .filter(({ section }) => section);
  const seconds = entries.filter(({ link }) => link.parentElement.classList.contains("toc-h2"));
  let current = null;

  function enter(entry) {
    current = entry;
    for (const active of box?.querySelectorAll(".active") ?? []) {
      active.classList.remove("active");
      active.removeAttribute("aria-current");
    }
    if (!entry) return;
    entry.link.setAttribute("aria-current", "true");
    entry.link.classList.add("active");
    for (let place = entry.link.closest(".toc-entry"); place; place = place.parentElement.closest(".toc-entry")) {
      place.classList.add("active");
    }
    bringIntoView(entry.link);
    if (isChapter) remember(entry);
  }

  // What is out of view, or close to the edge, comes to the middle: the box scrolls, and not the page.
  function bringIntoView(link) {
    const { top, bottom } = link.getBoundingClientRect();
    const frame = box.getBoundingClientRect();
    if (top < Math.max(0, frame.top) + 60 || bottom > frame.bottom - 60) {
      box.scrollTop += (top + bottom - frame.top - frame.bottom) / 2;
    }
  }

  // To an entry that gets the focus the browser scrolls the page too: it goes back to where it was.
  let scrolled = scrollY;
  addEventListener("scroll", () => { scrolled = scrollY; }, { passive: true });
  box?.addEventListener("focusin", ({ target }) => {
    if (!target.matches(":focus-visible")) return;  // pressed, and not to move under the pointer
    scrollTo({ top: scrolled, behavior: "instant" });
    bringIntoView(target);
  });

  function remember({ link, section }) {
    const at = seconds.findLastIndex((second) => second.section.contains(section));
    const summary = seconds.findIndex((second) => second.section.id === "summary");
    note((path) => {
      path.place = { page: here, id: section.id, title: link.textContent.trim() };
      const seen = new Set(path.seen[here]).add(at);
      path.seen[here] = [...seen];
      // Read is what was left by its end, and not only looked up there.
      if (summary >= 0 && at > summary && 2 * seen.size >= seconds.length) path.read[here] = true;
    });
    marks();
  }

  // A line is being read: at a quarter of the window, and lower as the page ends, so that each
  // section is passed.
  function follow() {
    const { scrollHeight, clientHeight } = document.documentElement;
    const left = scrollHeight - clientHeight - scrollY;
    const line = clientHeight * (1 - 0.75 * Math.min(1, left / clientHeight));
    const above = entries.filter(({ section }) => section.checkVisibility() && section.getBoundingClientRect().top <= line);
    if (above.at(-1) !== current) enter(above.at(-1));
    const { top, height } = article?.getBoundingClientRect() ?? { top: 0, height: 0 };
    const whole = height - clientHeight;
    bar.style.transform = `scaleX(${whole > 0 ? Math.min(1, Math.max(0, -top / whole)) : 1})`;
  }
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  addEventListener("load", later);
  document.addEventListener("toggle", later, true);

  // Questions that were answered, as `practice.js` counts them
  document.addEventListener("glassbox:progress", ({ detail: { answered, total } }) => {
    if (!isChapter || total === undefined) return;
    note((path) => {
      if (answered) path.quiz[here] = { answered, of: total };
      else delete path.quiz[here];
    });
    marks();
  });

  // Marks in the book's contents
  function marks() {
    const { read = {}, quiz = {} } = glassboxMemory.read().path ?? {};
    for (const link of document.querySelectorAll("nav.bd-links a")) {
      const page = pageOf(link.href);
      if (page === here) link.setAttribute("aria-current", "page");
      link.querySelector(".gb-read-marks")?.remove();
      if (!read[page] && !quiz[page]) continue;
      const mark = make("span", { className: "gb-read-marks" });
      if (quiz[page]) {
        const { answered, of } = quiz[page];
        mark.append(make("span", { textContent: ` quiz ${answered}/${of}` }));
      }
      if (read[page]) {
        const tick = make("span", { className: "gb-tick", title: "Read to the end", role: "img" });
        tick.ariaLabel = "read";
        mark.append(" ", tick);
      }
      link.append(mark);
    }
  }

  // The way back, and what is kept
  const { place } = glassboxMemory.read().path ?? {};
  if (place) {
    const way = () => make("a", { href: `${root}${place.page}#${place.id}`, textContent: `Continue at ${place.title}` });
    for (const slot of document.querySelectorAll("[data-continue]")) {
      slot.replaceChildren(way());
      slot.hidden = false;
    }
    const forget = make("button", { type: "button", textContent: "Clear this record" });
    const kept = make("div", { className: "gb-path" },
      ...(place.page === here ? [] : [make("p", {}, way())]),
      make("details", {},
        make("summary", { textContent: "What this site remembers" }),
        make("p", { textContent: "The chapters you have read to the end, the questions you have answered, what you have "
          + "typed into exercises, and where you left off. The record stays in this browser (in localStorage) and is sent nowhere." }),
        forget));
    forget.addEventListener("click", () => {
      glassboxMemory.change((all) => { delete all.path; });
      for (const key of Object.keys(localStorage)) if (key.startsWith("glassbox:")) localStorage.removeItem(key);
      location.reload();  // so that answers and exercises are as new
    });
    document.querySelector(".sidebar-primary-items__start")?.append(kept);
  }

  marks();
  follow();
}
