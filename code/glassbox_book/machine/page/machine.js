// Makes the machine of the page alive: what is typed goes to the worker, what comes back is drawn.

import { causalMask, dot, dotProductScores, maskedSoftmax, softmax } from "./attention.js";
import { Blank } from "./blank.js";
import { Panel, quoted, stillOf } from "./client.js";
import { NOTHING, bars, escape, fixed, largeMap, rove, smallMap, strip } from "./draw.js";
import { draw } from "./generation.js";
import { Poet } from "./poet.js";
import { readTensors } from "./safetensors.js";

const NAMES = { self_attention: "self-attention", cross_attention: "cross-attention" };
const N_HEADS = 8;
const OTHER = { en: "fr", fr: "en" }, LANGUAGES = { en: "English", fr: "French" };

// Only what has changed is read aloud.
function put(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

// The whole machine, or a piece of it that has some of its sections. A piece fetches nothing but
// this script before somebody touches it.
class Machine extends Panel {
  constructor(root) {
    super(root, "translator", "load", ["sentence", "run", "translation"]);
    this.off = new Set();
    this.chosen = new Set();  // steps at which the reader chose
    this.step = 0;
    this.name = root.dataset.large;
    this.head = Number(root.dataset.head);
    this.cell = root.dataset.cell.split(" ").map(Number);
    this.piece = root.dataset.piece;
    if (this.piece === "memory") this.step = this.part("target").children.length - 1;
  }

  begin() {
    if (this.piece) this.listen();
    else this.ready().then(() => { this.listen(); this.draw(); }).catch((error) => console.warn(`The machine stays as it is printed: ${error.message}`));
  }

  // What the printed sentence is made of.
  ready() { return (this.first ??= this.scene ? Promise.resolve() : this.fetchFirst()); }

  // Tokens from the page, numbers from a file, maps from the numbers.
  async fetchFirst() {
    const { likely, ...first } = JSON.parse(this.part("first").textContent);
    const response = await fetch(new URL("first.safetensors", import.meta.url));
    if (!response.ok) throw new Error(`first.safetensors: ${response.status}`);
    const attentions = {};
    for (const [key, rows] of Object.entries(readTensors(await response.arrayBuffer()))) {
      const [name, kind] = key.split("/");
      const nHeads = N_HEADS, length = rows.length / nHeads;
      const heads = Array.from({ length: nHeads }, (_, h) => rows.slice(h * length, (h + 1) * length));
      attentions[name] = { ...attentions[name], [kind]: heads };
    }
    for (const [name, attention] of Object.entries(attentions)) {
      const causal = name.startsWith("decoder") && name.endsWith("self_attention");
      attention.weights = attention.query.map((query, h) => {
        const scores = dotProductScores(query, attention.key[h]);
        const weights = maskedSoftmax(scores, causal && causalMask(query.length, query.length));
        return causal ? weights.map((row, i) => row.subarray(0, i + 1)) : weights;  // what is written by then
      });
    }
    const steps = likely.map((each) => ({ likely: each }));
    // Whoever has typed and sent a sentence meanwhile has a scene already.
    this.scene ??= { ...first, steps, attentions };
    this.whole ??= { asked: this.asked(first), text: first.text };
  }

  listen() {
    const on = (target, type, act) => target?.addEventListener(type, (event) => {
      if (this.root.dataset.state === "writing") return;
      this.ready().then(() => act(event)).catch((error) => this.say(`This could not be loaded (${error.message}): check your connection.`));
    });
    const pressed = (name, selector, act) => on(this.part(name), "click", ({ target }) => {
      const button = target.closest(selector);
      if (button) act(button);
    });
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    if (this.root.querySelector(".gb-m-bar")) document.body.dataset.gbBar = "";
    this.parts("controls").forEach((controls) => { controls.hidden = false; });
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.piece === "tokens") this.cut();
      else this.run();
    });
    on(this.part("swap"), "click", () => this.whenLoaded(() => {
      this.field.value = this.scene.text;
      this.part("to").value = "";
      this.run({ to: this.scene.to === this.scene.expected ? OTHER[this.scene.to] : null });  // else it wrote the other one
    }));
    on(this.part("beams"), "change", () => this.loaded && this.run());
    on(this.part("back"), "click", () => this.goTo(this.step - 1));
    on(this.part("forward"), "click", () => this.goTo(this.step + 1));
    if (this.piece !== "heads-off") pressed("target", "button", (button) => this.goTo([...this.part("target").children].indexOf(button.parentElement)));
    pressed("bars", "button", (button) => this.choose(Number(button.dataset.id), button));
    pressed("maps", "[data-name]", (button) => {
      const { name, head } = button.dataset;
      if (this.piece === "heads-off") this.turn(name, head, button);
      else this.look(name, Number(head));
    });
    pressed("large", "td button", (button) => this.open(button.closest("tr").rowIndex - 1, button.parentElement.cellIndex - 1));
    on(this.part("off"), "click", () => this.turn(this.name, this.head, this.part("off")));
    on(this.part("all-on"), "click", () => {
      (this.part("off") ?? this.part("maps").querySelector('[tabindex="0"]')).focus({ preventScroll: true });  // the button goes
      this.off.clear();
      this.again();
    });
    // Without the translator there are no logits of the printed sentence: it is translated first.
    const withLogits = (act) => ({ target }) => this.whenLoaded(async () => {
      if (!this.scene.steps[this.step].logits) await this.again();
      act(this.scene.steps[this.step]);
    }, target);
    this.followTemperature();
    on(this.part("temperature"), "input", withLogits(() => this.drawStep()));
    on(this.part("draw"), "click", withLogits(({ logits }) => this.choose(draw(this.tempered(logits), Math.random()), null, 1)));
    const width = () => this.part("large").querySelectorAll("thead th").length;
    this.roving = {};
    for (const [name, inside, columns, preferred] of [
      ["target", "button", () => 1, "[aria-current]"],
      ["bars", "button", () => 1, '[aria-pressed="true"]'],
      ["maps", "[data-name]", () => N_HEADS, '[aria-pressed="true"]'],
      ["large", "td button", width, "[data-chosen] button"],
    ]) {
      this.roving[name] = this.part(name) ? rove(this.part(name), inside, columns, preferred) : () => {};
      this.roving[name]();
    }
  }

  // A head off, or on again.
  turn(name, head, pressed) {
    this.whenLoaded(() => {
      const which = `${name}/${head}`;
      if (!this.off.delete(which)) this.off.add(which);
      return this.again();
    }, pressed);
  }

  // The pieces of a sentence need no weights.
  async cut() {
    const { size, version } = this.root.dataset;
    const sentence = this.field.value;
    try {
      if (!sentence.trim()) throw new Error(NOTHING);
      const result = await this.ask({ type: "tokenize", text: sentence, size: Number(size), version });
      this.scene = { ...result, sentence };
      this.drawSource();
      this.say(`${result.source.length} tokens, including one that names the language to write and one that ends the sentence.`);
      this.button.textContent = this.button.dataset.then;
      this.become("done");
    } catch (error) { this.refuse(error); }
  }

  refuse({ message }) {
    if (this.scene) this.draw();
    super.refuse(message, this.scene?.sentence ?? this.field.defaultValue);
  }

  // The probabilities at the reader's temperature.
  tempered(logits) {
    return softmax(Float64Array.from(logits, (logit) => logit / this.temperature));
  }

  choose(id, pressed, forward = 0) {
    return this.whenLoaded(() => {
      this.chosen = new Set([...this.chosen].filter((step) => step < this.step).concat(this.step));
      return this.run({ prompt: [...this.scene.targetIds.slice(0, this.step), id], step: this.step + forward });
    }, pressed);
  }

  // The same sentence again, with the reader's tokens up to the last one that was chosen.
  again() {
    const last = Math.max(-1, ...this.chosen);
    return this.run({ prompt: this.scene.targetIds.slice(0, last + 1), step: this.step, cell: this.cell });
  }

  get beams() { return this.part("beams")?.checked ? 5 : 1; }

  async run({ prompt = null, to = this.part("to")?.value || null, step = this.piece === "memory" ? Infinity : 0, cell = null } = {}) {
    if (this.busy) {
      this.waiting = !prompt;  // whoever has sent another sentence meanwhile
      return;
    }
    this.busy = true;
    this.waiting = false;
    const sentence = prompt ? this.scene.sentence : this.field.value;
    const { beams } = this;
    if (prompt) to = this.scene.to;
    try {
      if (!sentence.trim()) throw new Error(NOTHING);
      this.become("loading");
      await this.load();
      const { pending } = this;
      this.pending = null;
      if (pending && sentence === this.scene.sentence) {
        this.busy = false;
        return await pending();
      }
      this.say(beams > 1 ? "Following five candidates …" : "Reading …");
      const steps = [], start = performance.now();
      const off = [...this.off].map((which) => which.split("/")).map(([name, head]) => [name, Number(head)]);
      const request = { text: sentence, to, prompt: prompt ?? [], off, beams: prompt?.length ? 1 : beams };
      const result = await this.ask({ type: "translate", ...request }, ({ source, sourceIds, ...token }) => {
        if (source) {  // it is not refused
          this.become("writing");
          if (!prompt) this.chosen.clear();
          this.drawSource({ source, sourceIds });
          if (!prompt) this.output.scrollIntoView({ block: "nearest" });  // on a small screen it is further down
        } else steps.push(token);
        this.drawTarget(steps.map(({ piece }) => piece));
        this.output.textContent = token.text;
      });
      this.scene = { ...result, sentence, steps };
      const asked = this.asked({ ...request, sentence, to: result.to });
      if (!off.length) this.whole = { asked, text: result.text };
      this.changed = off.length && asked === this.whole?.asked && (result.text === this.whole.text ? "The translation stays the same." : `With all heads it was ${quoted(this.whole.text)}`);
      this.step = Math.min(step, steps.length - 1);
      if (cell && this.weights()[cell[0]]?.length > cell[1]) this.cell = cell;
      else this.openLargest(Math.min(this.cell[0], this.rows().length - 1));
      this.draw();
      if (!prompt) this.output.scrollIntoView({ block: "nearest" });  // the tokens have pushed it down
      this.say(this.report(performance.now() - start), this.part("target") && result.text);
      this.become("done");
    } catch (error) { this.refuse(error); }
    this.busy = false;
    const changed = beams !== this.beams || (this.waiting && sentence !== this.field.value);
    if (changed && this.output.dataset.state === "done") await this.run();
  }

  // What a translation depends on, but for the heads that are off.
  asked({ sentence, to, prompt = [], beams = 1 }) { return JSON.stringify([sentence, to, prompt, beams]); }

  report(time) {
    const { steps, source, familiar, target, to, expected } = this.scene, parts = [];
    const seconds = `${(time / 1000).toFixed(1)} seconds, in this browser.`;
    if (!this.part("target")) return `${source.length} tokens read in ${seconds}`;
    parts.push(`${steps.length} tokens in ${seconds}`);
    if (this.chosen.size) parts.push(`You chose: ${[...this.chosen].map((step) => target[step]).join(" ")}.`);
    if (this.chosen.size && this.beams > 1) parts.push("From a chosen token on, only one candidate is followed.");
    if (this.off.size) parts.push(this.without());
    if (this.scene.sentence !== this.field.value) parts.push(stillOf(this.scene.sentence));
    if (to !== expected && this.part("to")?.value) parts.push(`You asked for ${LANGUAGES[to]}, but this looks like ${LANGUAGES[to]} already. The translator never learned that, and may write ${LANGUAGES[expected]} all the same.`);
    if (!familiar) parts.push("This text is unlike the sentences the translator was trained on: do not rely on the translation.");
    if (target.at(-1) !== "</s>") parts.push("The translation did not come to an end.");
    return parts.join(" ");
  }

  without() { return `Heads switched off: ${this.off.size}. ${this.changed || ""}`; }

  goTo(step) {
    this.step = Math.min(this.scene.steps.length - 1, Math.max(0, step));
    if (this.name.startsWith("decoder")) this.openLargest(this.step);
    this.draw();
    this.showCell();
  }

  look(name, head) {
    [this.name, this.head] = [name, head];
    this.openLargest(Math.min(name.startsWith("decoder") ? this.step : this.cell[0], this.rows().length - 1));
    this.draw();
    this.showCell();
    const section = this.part("large").closest("section");
    if (section.getBoundingClientRect().top > innerHeight * 0.7) section.scrollIntoView();
  }

  open(i, j) {
    this.cell = [i, j];
    this.drawLarge();
    this.showCell();
    this.part("large").querySelector("[data-chosen] button").focus({ preventScroll: true });
  }

  // The open cell in view, beside the labels of its row and its column; the page stays where it is.
  showCell() {
    const box = this.part("large")?.parentElement, cell = box?.querySelector("[data-chosen]");
    if (!cell) return;
    const { offsetWidth, offsetHeight } = box.querySelector("td");
    box.scrollLeft = Math.min(cell.offsetLeft - offsetWidth - 8, Math.max(cell.offsetLeft + cell.offsetWidth + 8 - box.clientWidth, box.scrollLeft));
    box.scrollTop = Math.min(cell.offsetTop - offsetHeight - 8, Math.max(cell.offsetTop + cell.offsetHeight + 8 - box.clientHeight, box.scrollTop));
  }

  openLargest(row) {
    const weights = this.weights()[row];
    this.cell = [row, weights.indexOf(Math.max(...weights))];
  }

  weights() { return this.scene.attentions[this.name].weights[this.head]; }
  rows() { return this.name.startsWith("encoder") ? this.scene.source : ["<s>", ...this.scene.target.slice(0, -1)]; }
  columns() { return this.name.endsWith("cross_attention") ? this.scene.source : this.rows(); }

  draw() {
    const { target, text, attentions, to, expected } = this.scene;
    for (const part of [this.output, ...this.parts("target")]) part.lang = to;
    for (const part of this.parts("source")) part.lang = OTHER[expected] ?? part.lang;
    this.drawSource();
    this.drawTarget(target);
    this.output.textContent = text;
    this.place = null;
    for (const answer of this.parts("answer")) answer.innerHTML = `<i lang="${to}">${escape(text)}</i> <small>${this.off.size ? escape(this.without()) : ""}</small>`;
    if (this.part("bars")) this.drawStep();
    if (this.part("maps")) this.drawMaps(attentions);
    if (this.part("large")) this.drawLarge();
    if (this.part("all-on")) this.part("all-on").hidden = !this.off.size;
  }

  drawSource({ source, sourceIds } = this.scene) {
    if (!this.part("source")) return;
    const ids = this.part("source").matches("[data-ids]") ? sourceIds : null;
    this.part("source").innerHTML = source.map((token, i) => (
      `<li><span>${escape(token)}</span>${ids ? `<small>${ids[i]}</small>` : ""}</li>`
    )).join("");
  }

  drawMaps(attentions) {
    for (const button of this.part("maps").querySelectorAll("[data-name]")) {
      const { name, head } = button.dataset;
      button.innerHTML = smallMap(attentions[name].weights[head]);
      const off = this.off.has(`${name}/${head}`);
      button.ariaPressed = this.piece === "heads-off" ? off : name === this.name && Number(head) === this.head;
      button.toggleAttribute("data-off", off);
      button.ariaLabel = button.ariaLabel.replace(/(, off)?$/, off && this.piece !== "heads-off" ? ", off" : "");
      button.title = button.ariaLabel;
    }
    this.roving.maps();
  }

  drawTarget(pieces) {
    if (this.piece === "heads-off") return this.roving.target(pieces.map((token) => `<li><span>${escape(token)}</span></li>`).join(""));
    this.roving.target(pieces?.map((token, step) => (
      `<li><button type="button"${step === this.step ? ' aria-current="step"' : ""}${this.chosen.has(step) ? " data-chosen" : ""}>${escape(token)}</button></li>`
    )).join(""));
  }

  drawStep() {
    const { steps, targetIds } = this.scene;
    put(this.part("step"), this.step + 1);
    put(this.part("steps"), steps.length);
    this.part("row").textContent = ["<s>", ...this.scene.target][this.step];
    let { likely, logits } = steps[this.step];
    if (this.part("temperature") && logits) {
      const probabilities = this.tempered(logits);
      likely = likely.map((one) => ({ ...one, probability: probabilities[one.id] }));
    }
    this.roving.bars(bars(likely, targetIds[this.step]));
    this.part("back").ariaDisabled = this.step === 0;
    this.part("forward").ariaDisabled = this.step === steps.length - 1;
  }

  drawLarge() {
    const [stack, , layer, kind] = this.name.split("."), off = this.off.has(`${this.name}/${this.head}`);
    put(this.part("large-title"), `${stack[0].toUpperCase()}${stack.slice(1)}, layer ${layer}, ${NAMES[kind]}, head ${this.head}`);
    // What is not written yet has no row: where the memory is the subject, rows come one by one.
    const rows = this.piece === "memory" ? this.weights().slice(0, this.step + 1) : this.weights();
    this.cell[0] = Math.min(this.cell[0], rows.length - 1);
    this.roving.large(largeMap(rows, this.rows(), this.columns(), this.cell, stack === "decoder" ? this.step : -1));
    if (this.part("off")) {
      this.part("off").textContent = off ? "Switch this head on" : "Switch this head off";
      this.part("is-off").hidden = !off;
    }
    this.part("decoding").hidden = stack === "encoder";
    [this.part("read").textContent, this.part("written").textContent] = [this.rows()[this.step], this.scene.target[this.step]];
    const box = this.part("large").parentElement, corner = this.part("large").querySelector("td");
    [box.style.scrollPaddingLeft, box.style.scrollPaddingTop] = [corner.offsetWidth, corner.offsetHeight].map((size) => `${size + 6}px`);
    if (this.part("query")) this.drawCell();
  }

  // The same steps as in `attention.js`, for one query and one key.
  drawCell() {
    const [i, j] = this.cell, attention = this.scene.attentions[this.name];
    const query = attention.query[this.head][i], keys = attention.key[this.head].slice(0, this.weights()[i].length);
    const [scores] = dotProductScores([query], keys);
    const shown = {
      dot: dot(query, keys[j]), score: scores[j], power: Math.exp(scores[j]),
      total: scores.reduce((sum, score) => sum + Math.exp(score), 0),
    };
    for (const [name, number] of Object.entries(shown)) this.parts(name).forEach((part) => { part.textContent = fixed(number, 3); });
    this.part("weight").textContent = this.weights()[i][j].toFixed(4);
    put(this.part("asks"), this.rows()[i]);
    put(this.part("asked"), this.columns()[j]);
    this.part("query").innerHTML = strip(query);
    this.part("key").innerHTML = strip(keys[j]);
    this.part("products").innerHTML = strip(query.map((value, d) => value * keys[j][d]));
  }
}

const OTHERS = { poet: Poet, blank: Blank };
for (const root of document.querySelectorAll(".gb-machine")) new (OTHERS[root.dataset.piece] ?? Machine)(root).begin();
