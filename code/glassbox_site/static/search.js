// Searching: fetched with the index, search-index.js, when the field is used for the first time.
// Every section is looked through; the ones that say the words in their title, close together and
// often come first.
"use strict";
{
  const root = document.documentElement.dataset.content_root;
  const AT_ONCE = 6;  // in the dialog, which leads to all of them
  // Which parts readers look for: chapters, then what they rest on.
  const ASIDE = /^(exercises|quiz|summary|further reading)/i;
  const weigh = ({ kind, title, chapter, url }) => {
    if (kind === "work") return 0.35;
    if (url.startsWith("chapters/api")) return 0.2;
    if (ASIDE.test(title)) return 0.5;
    return chapter ? 1 : 0.7;
  };

  let parts;  // of all pages; what a hit needs to be shown
  const read = (index) => index.flatMap(([url, chapter, page, list]) => list.map(([anchor, mark, title, text, introduced]) => {
    const kind = /^[a-z]/.test(mark) ? mark : "section";
    const part = { url, chapter, page, anchor, kind, title: title || page, text, introduced };
    part.number = kind === "section" ? mark : "";
    part.address = `${url}${anchor && `#${anchor}`}`;
    part.weight = weigh(part);
    return part;
  }));

  // A word is found at the beginning of a word, whatever its ending; one or two letters only whole.
  const KV = "kv|keys?[-–]values?";
  const ALSO = new Map([
    ["sqrt", "sqrt|√|root"], ["√", "√|root"], ["kv", KV], ["kv-cache", `(?:${KV})[-\\s]cache`], ["rope", "rope|rotary"],
    ["gqa", "gqa|grouped-query"], ["mqa", "mqa|multi-query"], ["ffn", "ffn|feed-forward"], ["layernorm", "layer[-_]?\\s?norm"],
    ["feedforward", "feed-?forward"], ["mlm", "mlm|masked language"], ["llm", "llm|language models?"], ["kl", "kl|kullback"],
    ["seq2seq", "seq2seq|encoder[-–]decoder"],
  ]);
  const SMALL = new Set("a an and are be by do does for from how in is it of on or the to what with".split(" "));
  // British and American spelling, a hyphen, a dash and a space are the same.
  const escape = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/(?<=\w{3})ou?r/g, "ou?r")
    .replace(/i[sz](?=[ae]|$)/g, "i[sz]").replace(/-/g, "[-–\\s]?");
  const whole = (source) => `(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`;
  function pattern(word) {
    const stem = word.replace(/(?:ies|ing|ed|es|s|e)$/u, "");
    const source = ALSO.get(word) ?? escape(stem.length > 3 ? stem : word);
    return {
      begins: new RegExp(word.length < 3 ? whole(source) : `(?<![\\p{L}\\p{N}])(?:${source})|(?<=_)(?:${source})`, "giu"),
      exact: new RegExp(ALSO.get(word) ?? whole(escape(word)), "giu"),
    };
  }
  const count = (text, expression) => text.match(expression)?.length ?? 0;

  function search(query) {
    const all = query.toLowerCase().match(/√|[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu) ?? [];
    const large = [...new Set(all)].filter((word) => !SMALL.has(word));
    const words = large.length ? large : all;
    const patterns = words.map(pattern);
    const phrase = all.length > 1 ? new RegExp(all.map((word) => ALSO.has(word) ? `(?:${ALSO.get(word)})` : escape(word)).join("[\\s–-]+"), "giu") : null;
    const counts = parts.map(({ title, text }) => patterns.map(({ begins }) => count(title, begins) + count(text, begins)));
    const rare = patterns.map((_, i) => Math.log(1 + parts.length / (1 + counts.filter((of) => of[i]).length)));
    const score = (part, of) => {
      const length = 0.4 + part.text.length / 2000;
      const sum = patterns.reduce((total, { begins, exact }, i) => {
        if (!of[i]) return total;
        const often = of[i] / (of[i] + length);
        const own = part.title.split(" › ").at(-1);
        const titled = count(own, exact) ? 2 : count(own, begins) ? 1.4 : count(part.title, begins) ? 0.6 : 0;
        return total + rare[i] * (often + titled + (count(part.text, exact) ? 0.3 : 0));
      }, 0);
      const together = phrase ? (count(part.title, phrase) ? 3 : 0) + (count(part.text, phrase) ? 1 : 0) : 0;
      const name = part.kind === "name" && /[._]/.test(part.title) && part.title.toLowerCase() === all.join(" ") ? 1 : 0;
      const author = part.kind === "work" && patterns.every(({ begins }) => count(part.text.split(part.title)[0], begins));
      const title = part.kind === "work" && phrase && count(part.title, phrase);
      return (name || author || title ? 1.2 : part.weight) * (sum + together) + (introduces.has(part.address) ? 6 : 0);
    };
    // What the words mean comes first, if they are the name of a term, or its beginning, and then the
    // section that introduces it.
    const named = parts
      .filter(({ kind, title }) => kind === "term" && words.length && patterns.every(({ begins }) => count(title, begins)))
      .sort((a, b) => a.title.length - b.title.length).slice(0, 2);
    const introduces = new Set(named.slice(0, 1).map(({ introduced }) => `chapters/${introduced}`));
    const ranked = (every) => parts
      .map((part, place) => [part, counts[place]])
      .filter(([, of]) => every ? of.length && of.every(Boolean) : of.some(Boolean))
      .map(([part, of]) => [part, score(part, of)])
      .sort(([, a], [, b]) => b - a).map(([part]) => part);
    let hits = ranked(true);
    const complete = hits.length > 0 || words.length < 2;
    if (!hits.length) hits = ranked(false);
    return { terms: named, hits: hits.filter((part) => part.kind !== "term"), complete, patterns };
  }

  // The text around the place where most of the words stand together.
  function excerpt({ text }, patterns, length = 190) {
    const places = patterns.flatMap(({ begins }, word) => [...text.matchAll(begins)].slice(0, 60)
      .map((found) => ({ at: found.index, end: found.index + found[0].length, word })))
      .sort((a, b) => a.at - b.at);
    let best = { at: 0, worth: 0 };
    for (const { at } of places) {
      const near = places.filter((place) => place.at >= at && place.end < at + length * 0.7);
      const worth = 10 * new Set(near.map((place) => place.word)).size + near.length;
      if (worth > best.worth) best = { at, worth };
    }
    let from = Math.max(0, best.at - 60);
    if (from) from = text.indexOf(" ", from) + 1;
    let to = Math.min(text.length, from + length);
    if (to < text.length) to = text.lastIndexOf(" ", to);
    return [from ? "… " : "", ...marked(text.slice(from, to), patterns), to < text.length ? " …" : ""];
  }

  function marked(text, patterns) {
    const all = new RegExp(patterns.map(({ begins }) => `(?:${begins.source})[\\p{L}\\p{N}]*`).join("|"), "giu");
    const pieces = [];
    let done = 0;
    for (const { index, 0: word } of text.matchAll(all)) {
      if (!word) continue;
      pieces.push(text.slice(done, index), element("mark", "", word));
      done = index + word.length;
    }
    return [...pieces, text.slice(done)];
  }

  function element(name, kind, ...children) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children.filter(Boolean));
    return made;
  }

  const WHERE = { name: "name in the package", work: "bibliography", term: "glossary" };
  function shown(part, patterns) {
    const link = element("a", "", part.number && element("span", "section-number", `${part.number}  `),
      ...marked(part.title, patterns));
    link.href = root + part.address;
    const chapter = part.chapter ? `Chapter ${part.chapter} · ${part.page}` : part.page;
    const where = WHERE[part.kind] ?? (part.title === part.page && !part.chapter ? "" : chapter);
    const definition = part.kind === "term" ? marked(part.text, patterns) : excerpt(part, patterns);
    return element("li", part.kind === "term" ? "gb-term" : "", link,
      where && element("span", "gb-where", where), element("p", "", ...definition));
  }

  function answer(query, box, limit) {
    if (!query.trim()) return box.replaceChildren();
    const { terms, hits, complete, patterns } = search(query);
    const some = hits.slice(0, limit);
    const all = hits.length + terms.length;
    const said = !all ? `Nothing in the book matches “${query.trim()}”.`
      : !complete ? "No section contains all of these words. These contain some of them:"
        : `${all.toLocaleString("en")} ${all === 1 ? "result" : "results"}${some.length < hits.length ? ", of which these are the first:" : ":"}`;
    const status = element("p", "gb-status", said);
    status.setAttribute("role", "status");
    box.replaceChildren(status, element("ol", "", ...[...terms, ...some].map((part) => shown(part, patterns))));
    if (some.length < hits.length && limit < Infinity) {
      const more = element("a", "gb-all", `All ${all.toLocaleString("en")} results`);
      more.href = `${root}search.html?q=${encodeURIComponent(query)}`;
      box.append(more);
    }
  }

  function serve(form) {
    const field = form.querySelector("input");
    const box = form.parentElement.querySelector(".gb-found");
    const alone = !form.closest("dialog");  // the page of the search
    if (alone) field.value ||= new URLSearchParams(location.search).get("q") ?? "";
    const find = () => answer(field.value, box, alone ? Infinity : AT_ONCE);
    field.addEventListener("input", () => {
      find();
      if (alone && location.protocol !== "file:") history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
    });
    // What was found may be on this page. Whoever opens it in another tab stays at the results.
    box.addEventListener("click", ({ target, ctrlKey, metaKey }) => {
      if (target.closest("a") && !ctrlKey && !metaKey) form.closest("dialog")?.close();
    });
    form.addEventListener("submit", (event) => alone && event.preventDefault());
    // The arrows go through what was found, as Tab does.
    form.parentElement.addEventListener("keydown", (event) => {
      // The browser would close it too, but Sphinx keeps this key for itself outside of fields.
      if (event.key === "Escape") form.closest("dialog")?.close();
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [field, ...box.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    find();
  }

  const forms = document.querySelectorAll("form.bd-search");
  const load = () => {
    const index = document.createElement("script");
    index.src = `${root}_static/search-index.js`;
    index.onload = () => {
      parts = read(globalThis.glassboxIndex);
      forms.forEach(serve);
    };
    index.onerror = () => {
      for (const form of forms) {
        const status = element("p", "gb-status", "The index could not be loaded. Check your connection, and type again.");
        status.setAttribute("role", "status");
        form.parentElement.querySelector(".gb-found").replaceChildren(status);
      }
      addEventListener("input", load, { once: true });
    };
    document.head.append(index);
  };
  load();
}
