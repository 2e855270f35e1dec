// What a link refers to, shown where it is used: a term's definition, a citation, an equation, a
// figure, a listing, a section. A mouse and the keyboard get a card beside the link, a finger gets a
// sheet at the lower edge, with the way there: a tap never leaves the chapter unasked.
"use strict";
{
  const LINK = ":is(.bd-main .bd-article, .gb-sheet) a.reference.internal[href*='#']";
  const WHOLE = "figure, table, .literal-block-wrapper, .gb-equation, .citation, .admonition, .gb-fold, .gb-definition";
  const IDLE = ".headerlink, .copybtn, .gb-controls, .gb-minutes, iframe, script";

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Another page is asked for when something on it is first wanted, and not again once it has come.
  const pages = new Map();
  const page = (address) => {
    if (!pages.has(address)) {
      pages.set(address, fetch(address).then((answer) => (answer.ok ? answer.text() : Promise.reject()))
        .then((text) => new DOMParser().parseFromString(text, "text/html"))
        .catch(() => { pages.delete(address); return null; }));
    }
    return pages.get(address);
  };

  // The element that a link leads to, now or later; none if it cannot be had, as from a folder.
  function target(link) {
    if (link.ariaDescription) return make("p", { textContent: link.ariaDescription });
    const id = decodeURIComponent(link.hash.slice(1));
    const definition = link.querySelector(".std-term") && document.getElementById(`def-${id}`);
    if (definition) return definition;
    const address = link.href.split("#")[0];
    if (address === location.href.split("#")[0]) return document.getElementById(id);
    return location.protocol === "file:" ? null : page(address).then((found) => found?.getElementById(id));
  }

  // Of a section its heading and first paragraph; of a definition in a list its first; else all.
  function parts(element) {
    const whole = element.closest(WHOLE);
    if (whole) return [whole];
    if (element.tagName === "DT") return [element, ...element.nextElementSibling?.querySelectorAll(":scope > p:first-of-type") ?? []];
    const section = element.closest("section");
    if (!section) return [element];
    const first = section.querySelector(":scope > :is(p:not(.gb-minutes), blockquote, .gb-why), :scope > details > p");
    return [section.querySelector("h1, h2, h3, h4"), first].filter(Boolean);
  }

  function excerpt(element, address) {
    return parts(element).map((part) => {
      const copy = part.cloneNode(true);
      copy.hidden = false;  // even if the list it stands in is filtered
      for (const idle of copy.querySelectorAll(IDLE)) idle.remove();
      for (const named of [copy, ...copy.querySelectorAll("[id]:not(svg [id])")]) named.removeAttribute("id");
      for (const widget of copy.querySelectorAll(".gb-widget")) widget.inert = true;
      for (const name of ["href", "src"]) {
        for (const link of copy.querySelectorAll(`[${name}]:not(svg *)`)) link[name] = new URL(link.getAttribute(name), address);
      }
      return copy;
    });
  }

  // Calls `show` with copies of what a link refers to: at once where that is in the page.
  function look(link, show) {
    const found = target(link);
    const use = (element) => show(element ? excerpt(element, link.href) : []);
    found instanceof Promise ? found.then(use) : use(found);
  }

  // The card
  const card = make("div", { className: "gb-tooltip bd-article", role: "tooltip", hidden: true });
  document.body.append(card);
  let current = null, timer;
  const hide = () => { clearTimeout(timer); current = null; card.hidden = true; card.replaceChildren(); };
  const hideSoon = () => { clearTimeout(timer); timer = setTimeout(hide, 250); };  // time to move onto it
  const open = (link) => {
    clearTimeout(timer);
    if (link === current) return;
    card.hidden = true;
    current = link;
    look(link, (copies) => {
      if (link !== current || !copies.length) return;
      card.replaceChildren(...copies);
      card.hidden = false;
      const at = link.getClientRects()[0];
      const left = Math.min(at.left, document.documentElement.clientWidth - card.offsetWidth - 16);
      const below = at.bottom + card.offsetHeight + 8 < innerHeight || at.top < card.offsetHeight + 8;
      card.style.left = `${Math.max(16, left) + scrollX}px`;
      card.style.top = `${(below ? at.bottom + 6 : at.top - card.offsetHeight - 6) + scrollY}px`;
    });
  };

  // The sheet
  const shown = make("div", { className: "gb-sheet-body bd-article" });
  const go = make("a", { className: "gb-go", textContent: "Go there" });
  const close = make("button", { type: "button", textContent: "Close" });
  const sheet = make("dialog", { className: "gb-sheet", ariaLabel: "Preview" }, shown, make("p", {}, go, close));
  document.body.append(sheet);
  for (const way of [go, close]) way.addEventListener("click", () => sheet.close());
  sheet.addEventListener("close", () => shown.replaceChildren());
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  const raise = (link) => look(link, (copies) => {
    const words = copies.length ? copies : [make("p", { textContent: "This is on another page of the book." })];
    shown.replaceChildren(...words);
    go.href = link.href;
    if (!sheet.open) sheet.showModal();
  });

  let finger = false;
  const linkOf = (event) => event.target.closest?.(LINK);
  document.addEventListener("pointerdown", (event) => { finger = event.pointerType === "touch"; }, true);
  document.addEventListener("keydown", (event) => {
    finger = false;
    if (event.key !== "Escape") return;
    hide();
    sheet.close();
  }, true);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = linkOf(event);
    if (link && !sheet.open) {
      clearTimeout(timer);
      if (link !== current) timer = setTimeout(open, 120, link);  // not when the mouse only passes by
    } else if (card.contains(event.target)) clearTimeout(timer);
    else if (current) hideSoon();
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link && !finger && !sheet.open) open(link);
    else if (current && !card.contains(event.target)) hide();
  });
  document.addEventListener("focusout", (event) => event.target === current && hide());
  document.addEventListener("click", (event) => {
    const link = linkOf(event);
    if (!link || !finger) return;
    event.preventDefault();
    raise(link);
  });

  // What a citation cites is its title: the browser's own tooltip would stand in front of the card.
  for (const link of document.querySelectorAll(`${LINK}[title]`)) {
    link.ariaDescription = link.title;
    link.removeAttribute("title");
  }

  // A screen reader hears what a term means with the link.
  for (const link of document.querySelectorAll("a:has(> .std-term)")) {
    const definition = document.getElementById(`def-${link.hash.slice(1)}`);
    if (definition) link.setAttribute("aria-describedby", definition.id);
  }
}
