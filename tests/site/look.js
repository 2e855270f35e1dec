// What the tests ask of a page, asked inside it; it is there before the page's own scripts.
window.look = (() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  // What never comes is an error, and not a test without an end.
  const within = (ms, what, promise) => Promise.race([promise, new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`${what}: not within ${ms} ms`)), ms);
  })]);
  const drawn = () => within(60_000, "a drawn page", new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));

  // What moves by itself while a page is loaded and scrolled through.
  let shift = 0;
  const add = (entries) => {
    for (const entry of entries) if (!entry.hadRecentInput) shift += entry.value;
  };
  const watch = new PerformanceObserver((list) => add(list.getEntries()));
  watch.observe({ type: "layout-shift", buffered: true });

  async function scrollThrough() {
    const { scrollHeight } = document.documentElement;
    for (let top = 0; top < scrollHeight; top += 700) {
      scrollTo({ top, behavior: "instant" });
      await drawn();
    }
    add(watch.takeRecords());
    return shift;
  }

  // What came over the wire; the frames of the views keep their own list.
  async function received() {
    await within(60_000, "the fonts", document.fonts.ready);
    const entries = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
    return entries.map(({ name, transferSize }) => [name, transferSize]);
  }

  function unfold() {
    for (const fold of all(".bd-article details:not(.gb-source)")) {
      fold.name = "";  // of one name only one can be open
      fold.open = true;
    }
  }

  // Formulas that take no room, that the browser could not lay out, or that were not understood.
  const brokenFormulas = () => all("math, merror, .gb-bad-formula").filter((formula) => {
    if (formula.closest("[hidden]")) return false;
    const { width, height } = formula.getBoundingClientRect();
    return formula.localName !== "math" || width < 2 || height < 2;
  }).map((formula) => formula.outerHTML);

  // Letters of drawings on the page's own paper that stand out too little from it. What stands on a
  // coloured cell of a map is chosen cell by cell where the map is drawn.
  function faintLetters() {
    const light = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = light(getComputedStyle(document.body).backgroundColor);
    return all(".gb-drawing text:not(svg [id] *)").filter((text) => {
      const [low, high] = [light(getComputedStyle(text).fill), paper].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05) < 4.5;
    }).map((text) => text.textContent);
  }

  // Text in pictures that is drawn with less than ten pixels; indices of formulas are not counted.
  const smallLetters = () => all(".bd-article svg text").filter((text) => {
    if (!text.checkVisibility() || !text.textContent.trim()) return false;
    const { c, d } = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d) < 9.95;
  }).map((text) => text.textContent);

  // Terms whose definition is missing, or does not fit the page.
  function badDefinitions() {
    const tooltip = document.querySelector(".gb-tooltip");
    const bad = all("a:has(> .std-term)").filter((link) => {
      if (!document.getElementById(link.getAttribute("aria-describedby"))) return true;
      link.focus({ preventScroll: true });
      const { left, right, width } = tooltip.getBoundingClientRect();
      return !width || left < 0 || right > document.documentElement.clientWidth;
    }).map((link) => link.textContent);
    document.activeElement?.blur();
    return bad;
  }

  const facts = () => ({
    theme: document.documentElement.dataset.theme,
    ground: getComputedStyle(document.body).backgroundColor,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    brokenFormulas: brokenFormulas(),
    faintLetters: faintLetters(),
    smallLetters: smallLetters(),
    outOfReach: all("pre, .gb-formula")
      .filter((box) => box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0)
      .map((box) => box.outerHTML.slice(0, 120)),
    fonts: [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family),
    widgets: all(".gb-widget").map((widget) => {
      const { left, right } = widget.getBoundingClientRect();
      return {
        awake: widget.matches("[data-awake]") && !widget.querySelector(".gb-controls[hidden]"),
        inside: left >= 0 && left < right && right <= innerWidth,
        ground: getComputedStyle(widget).backgroundColor,
      };
    }),
  });

  // Everything of the page but its styles, which scripts set.
  function structure() {
    const copy = document.body.cloneNode(true);
    for (const element of copy.querySelectorAll("[style]")) element.removeAttribute("style");
    for (const entry of copy.querySelectorAll(".bd-sidebar-secondary .active")) {  // what was read last
      entry.classList.remove("active");
      entry.removeAttribute("aria-current");
    }
    return copy.outerHTML;
  }

  // The ways in which texts are set: colour, size and weight of the letters, and the grounds of all
  // that they stand in, each with its first element. What holds for its contrast holds for the others.
  function waysOfSetting(place) {
    const plain = ["rgba(0, 0, 0, 0)", "none", "1", "static", "none", "none", "normal"];
    const known = new Map([[null, ""]]);
    const ground = (element) => {
      if (!known.has(element)) {
        const style = getComputedStyle(element);
        const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.position,
          style.filter, style.textShadow, style.mixBlendMode];
        const same = own.every((value, index) => value === plain[index]);
        known.set(element, ground(element.parentElement) + (same ? "" : `/${own}`));
      }
      return known.get(element);
    };
    const found = new Map();
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || element.closest("svg") || !element.checkVisibility({ visibilityProperty: true })) continue;
      const { color, fontSize, fontWeight } = getComputedStyle(element);
      const way = [ground(element), color, fontSize, fontWeight, element.className].join("|");
      if (!found.has(way)) found.set(way, element);
    }
    return found;
  }

  // Choose in the present theme what `keepChosen` keeps.
  const chosen = new Set();
  const choose = (place = "html") => {
    for (const element of waysOfSetting(document.querySelector(place)).values()) chosen.add(element);
  };

  // Words are marked up with a class for their looks alone, and what is inside a formula or a picture
  // has no meaning of its own, nor has the line of a drawing; without that axe has fewer elements to
  // visit, by the thousand in the attention views.
  function leaveOutInnards() {
    const shapes = ":is(path, line, rect, circle, polyline, polygon)";
    for (const shape of all(`svg ${shapes}:not([role], [tabindex], [aria-label], :has(title))`)) shape.remove();
    for (const word of all(".bd-article :is(span, math *, svg[role=img] *)")) {
      if (chosen.has(word) || !word.isConnected) continue;
      if (word.localName !== "span") word.remove();
      else if (word.getAttributeNames().every((name) => name === "class")) word.replaceWith(...word.childNodes);
    }
  }

  // Leave of the page only the chosen elements and what they stand in; return those set differently.
  function keepChosen() {
    const before = new Map([...chosen].map((element) => [element, getComputedStyle(element).color]));
    const kept = new Set();
    for (let element of chosen) {
      for (; element && !kept.has(element); element = element.parentElement) kept.add(element);
    }
    for (const element of all("body *:not(script, style, iframe, :has(iframe))")) {
      if (kept.has(element) || !kept.has(element.parentElement)) continue;
      element.replaceChildren();
      element.style.display = "none";  // it may count for the style of its neighbours
    }
    return [...chosen].filter((element) => before.get(element) !== getComputedStyle(element).color)
      .map((element) => element.outerHTML);
  }

  // Rules that ask what is anywhere on the page (`body:has(…)`): whatever changes, as while the reader
  // scrolls, everything would be set in type anew.
  function askingEverywhere() {
    const article = document.querySelector(".bd-article");
    const within = (rule) => rule.cssRules?.length ? [...rule.cssRules].flatMap(within) : [rule.selectorText ?? ""];
    const askers = (selector) => [...selector.matchAll(/([^\s>+~,]*?)(?::not\()?:has\(/g)].map(([, asker]) => asker || "*");
    return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).flatMap(within).filter((selector) =>
      askers(selector).some((asker) => all(asker).some((element) => element.contains(article))));
  }

  // On paper: colours, and what is shown there of what is folded or only for the screen.
  const onPaper = () => {
    const style = (selector) => getComputedStyle(document.querySelector(selector) ?? document.body);
    const places = ["", "h1", "p", "pre", "pre .n", ".exercise", "figcaption", "math"];
    return {
      colours: places.map((place) => style(place ? `.bd-article ${place}` : "body"))
        .map(({ color, backgroundColor }) => [color, backgroundColor]),
      solution: document.querySelector("details.solution .cell")?.getBoundingClientRect().height,
      screenOnly: all(".bd-sidebar-primary, .copybtn").filter((e) => e.checkVisibility()).length,
    };
  };

  return { scrollThrough, received, unfold, faintLetters, smallLetters, badDefinitions, facts, structure, askingEverywhere,
    choose, leaveOutInnards, keepChosen, onPaper };
})();
