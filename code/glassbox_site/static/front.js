// The translations of the front page, token by token; each says what it looks at. All is in the page
// but the reader's own sentence, which `live.js` works out.
(() => {
  const scene = document.querySelector(".gb-scene");
  if (!scene) return;
  const stages = [...scene.querySelectorAll(".gb-stage")];
  const said = scene.querySelector(".gb-telling");
  const [back, play, next] = ["back", "play", "next"].map((name) => scene.querySelector(`[data-do=${name}]`));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const PAUSE = 950;  // ms for a token
  let stage, source, written, step, timer = 0;
  const own = scene.querySelector(".gb-own"), field = own.querySelector("input"), status = own.querySelector("p");

  const weight = (ribbon) => +ribbon.style.getPropertyValue("--w");
  const ribbons = () => stage.querySelectorAll("path");
  const stopAt = (row, place) => row.forEach((token, i) => { token.tabIndex = i === place ? 0 : -1; });

  // "␣donné 0.94, ␣m 0.04", the largest first.
  function numbers(side, place) {
    const [own, other, row] = side === "q" ? ["q", "k", source] : ["k", "q", written];
    return [...stage.querySelectorAll(`.gb-broad path[data-${own}="${place}"]`)]
      .filter((ribbon) => weight(ribbon) >= 0.02 && +ribbon.dataset.q < step)
      .sort((a, b) => weight(b) - weight(a))
      .map((ribbon) => `${row[ribbon.dataset[other]].textContent} ${weight(ribbon).toFixed(2)}`)
      .join(",  ");
  }

  function say(side, place) {
    const token = document.createElement("b");
    token.textContent = (side === "q" ? written : source)[place].textContent;
    token.className = side === "q" ? "gb-query-ink" : "gb-key-ink";
    const found = numbers(side, place);
    const words = side === "q" ? " looks at " : found ? " is looked at by " : " gets little or no attention";
    said.replaceChildren(token, words, found);
  }

  // Tokens and ribbons of one token stand out, the others step back.
  function pick(side, place) {
    stage.classList.toggle("gb-picked", side !== undefined);
    const keep = new Set(side ? [side + place] : []);
    for (const ribbon of ribbons()) {
      const { q, k } = ribbon.dataset;
      const on = side === "q" ? +q === place : side === "k" && +k === place;
      ribbon.classList.toggle("gb-on", on);
      if (on && weight(ribbon) >= 0.1) keep.add(`q${q}`).add(`k${k}`);
    }
    source.forEach((token, i) => token.classList.toggle("gb-on", keep.has(`k${i}`)));
    written.forEach((token, i) => token.classList.toggle("gb-on", keep.has(`q${i}`)));
    if (side) say(side, place);
  }

  // Show the sentence with its first `count` tokens; the newest is brought out while it is written.
  function show(count) {
    step = stage.dataset.step = Math.max(0, Math.min(written.length, count));
    written.forEach((token, i) => token.classList.toggle("gb-later", i >= step));
    for (const ribbon of ribbons()) ribbon.classList.toggle("gb-later", +ribbon.dataset.q >= step);
    said.setAttribute("aria-live", timer ? "off" : "polite");  // not every token of a film
    back.setAttribute("aria-disabled", step === 0);
    next.setAttribute("aria-disabled", step === written.length);
    if (step && stage.querySelector(".gb-later[tabindex='0']")) stopAt(written, step - 1);
    if (step && (timer || step < written.length)) pick("q", step - 1);
    else rest();
  }

  function rest() {
    pick();
    said.textContent = step ? "Point at a token, tap it, or use the arrow keys." : "The encoder has read the sentence. Nothing is written yet.";
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    said.setAttribute("aria-live", "polite");
    play.textContent = "Play";
  }

  function tick() {
    if (step < written.length) {
      show(step + 1);
      timer = setTimeout(tick, PAUSE);
    } else {
      stop();
      rest();
    }
  }

  function start() {
    play.textContent = "Pause";
    timer = setTimeout(tick, PAUSE / 2);
    show(0);
  }

  function bring(chosen) {
    stop();
    stage = chosen;
    for (const each of scene.querySelectorAll(".gb-stage")) each.hidden = each !== stage;
    [source, written] = ["from", "to"].map((side) => [...stage.querySelectorAll(`.gb-${side} .gb-t`)]);
    for (const row of [source, written]) stopAt(row, 0);
    show(written.length);
  }

  // Pointer, finger and keyboard say the same.
  function meet(event) {
    const token = event.target.closest?.(".gb-t");
    if (!token || token.classList.contains("gb-later")) return;
    if (event.type === "pointerover" && (event.pointerType !== "mouse" || timer)) return;
    if (event.type === "focusin" && !token.matches(":focus-visible")) return;
    stop();
    const place = source.indexOf(token);
    if (place >= 0) pick("k", place);
    else pick("q", written.indexOf(token));
  }
  for (const type of ["pointerover", "click", "focusin"]) scene.addEventListener(type, meet);
  scene.addEventListener("pointerout", (event) => {
    if (event.pointerType === "mouse" && !timer && event.target.closest(".gb-t") && !event.relatedTarget?.closest?.(".gb-t")) rest();
  });

  // One Tab stop for each sentence; the arrows move in and between them.
  scene.addEventListener("keydown", (event) => {
    const token = event.target.closest(".gb-t");
    if (!token || event.altKey || event.ctrlKey || event.metaKey) return;
    const seen = written.slice(0, step);
    const [row, other] = source.includes(token) ? [source, seen] : [seen, source];
    const upright = getComputedStyle(token.parentElement).flexDirection === "column";
    const [less, more, across] = upright ? ["ArrowUp", "ArrowDown", /^Arrow(Left|Right)$/] : ["ArrowLeft", "ArrowRight", /^Arrow(Up|Down)$/];
    const place = row.indexOf(token);
    const to = {
      [less]: row[place - 1], [more]: row[place + 1], Home: row[0], End: row.at(-1),
    }[event.key] ?? (across.test(event.key) ? other[Math.min(place, other.length - 1)] : undefined);
    if (!to) return;
    event.preventDefault();
    const all = source.includes(to) ? source : written;
    stopAt(all, all.indexOf(to));
    to.focus();
  });

  play.addEventListener("click", () => {
    if (!timer) return start();
    stop();
  });
  back.addEventListener("click", () => { stop(); show(step - 1); });
  next.addEventListener("click", () => { stop(); show(step + 1); });
  scene.querySelector(".gb-choice").addEventListener("change", (event) => {
    bring(stages[event.target.value]);
    status.textContent = "";
    if (!still.matches) start();
  });

  // Only now is anything fetched.
  own.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (own.dataset.state === "busy") return;
    own.dataset.state = "busy";
    const say = (text) => { status.textContent = text; };
    try {
      if (!field.value.trim()) throw new Error("There is nothing to translate yet: type a sentence in English or French.");
      const live = await import("./live.js").catch(() => {
        throw new Error("The translator could not be loaded: check your connection and reload the page.");
      });
      await live.load(own.dataset, say);
      own.querySelector("button").textContent = "Translate";
      const result = await live.translate(field.value, say);
      scene.querySelector(".gb-stage[data-own]")?.remove();
      const drawn = live.draw(result);
      drawn.dataset.own = "";
      stages.at(-1).after(drawn);
      for (const radio of scene.querySelectorAll(".gb-choice input")) radio.checked = false;
      say(`${result.text}${result.familiar ? "" : " (This sentence is unlike those the translator was trained on: do not rely on the translation.)"}`);
      bring(drawn);
      if (!still.matches) {
        if (drawn.getBoundingClientRect().top < 64) drawn.scrollIntoView();
        start();
      }
      own.dataset.state = "done";
    } catch (error) {
      say(error.message);
      own.dataset.state = "refused";
    }
  });

  for (const part of scene.querySelectorAll(".gb-play, .gb-choice, .gb-own")) part.hidden = false;
  bring(stages[0]);
  if (!still.matches) start();
})();
