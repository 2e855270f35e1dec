// Makes the machine of the page alive: what is typed goes to the worker, what comes back is drawn.

import { causalMask, dot, dotProductScores, maskedSoftmax, softmax } from "./attention.js";
import { Client } from "./client.js";
import { bars, escape, largeMap, rove, smallMap, strip } from "./draw.js";
import { draw } from "./generation.js";
import { Poet } from "./poet.js";
import { readTensors } from "./safetensors.js";

const NAMES = { self_attention: "self-attention", cross_attention: "cross-attention" };
const N_HEADS = 8;
const OTHER = { en: "fr", fr: "en" };

// The whole machine, or a piece of it that has some of its sections. A piece fetches nothing but
// this script before somebody touches it.
class Machine {
  constructor(root) {
    this.root = root;
    this.parts = (name) => [...root.querySelectorAll(`[data-part="${name}"]`)];
    this.part = (name) => this.parts(name)[0];
    this.field = root.querySelector('[data-machine="sentence"]');
    this.button = root.querySelector('[data-machine="run"]');
    this.output = root.querySelector('[data-machine="translation"]') ?? document.createElement("output");
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
  }

  listen() {
    const on = (target, type, act) => target?.addEventListener(type, (event) => {
      this.ready().then(() => act(event)).catch((error) => this.say(`This could not be loaded (${error.message}): check your connection.`));
    });
    const pressed = (name, selector, act) => on(this.part(name), "click", ({ target }) => {
      const button = target.closest(selector);
      if (button) act(button);
    });
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    this.parts("controls").forEach((controls) => { controls.hidden = false; });
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.piece === "tokens") this.cut();
      else this.run();
    });
    on(this.part("swap"), "click", () => this.whenLoaded(() => {
      this.field.value = this.scene.text;
      this.part("to").value = OTHER[this.scene.to];
      this.run();
    }));
    on(this.part("back"), "click", () => this.goTo(this.step - 1));
    on(this.part("forward"), "click", () => this.goTo(this.step + 1));
    if (this.piece !== "heads-off") pressed("target", "button", (button) => this.goTo([...this.part("target").children].indexOf(button.parentElement)));
    pressed("bars", "button", ({ dataset }) => this.choose(Number(dataset.id)));
    pressed("maps", "[data-name]", ({ dataset: { name, head } }) => {
      if (this.piece === "heads-off") this.turn(name, head);
      else this.look(name, Number(head));
    });
    pressed("large", "td button", (button) => this.open(button.closest("tr").rowIndex - 1, button.parentElement.cellIndex - 1));
    on(this.part("off"), "click", () => this.turn(this.name, this.head));
    on(this.part("all-on"), "click", () => { this.off.clear(); this.again(); });
    on(this.part("temperature"), "input", () => this.whenLoaded(() => this.drawStep()));
    on(this.part("draw"), "click", () => this.whenLoaded(() => {
      const { logits } = this.scene.steps[this.step];
      this.choose(draw(this.tempered(logits), Math.random()), 1);
    }));
    const columns = { target: () => 1, maps: () => N_HEADS, large: () => this.part("large").querySelectorAll("thead th").length };
    const inside = { target: "button", maps: "[data-name]", large: "td button" };
    const preferred = { target: "[aria-current]", maps: '[aria-pressed="true"]', large: "[data-chosen] button" };
    this.roving = {};
    for (const name of Object.keys(columns)) {
      this.roving[name] = this.part(name) ? rove(this.part(name), inside[name], columns[name]) : () => {};
      if (this.part(name)) this.roving[name](preferred[name]);
    }
  }

  // A head off, or on again.
  turn(name, head) {
    this.whenLoaded(() => {
      const which = `${name}/${head}`;
      if (!this.off.delete(which)) this.off.add(which);
      this.again();
    });
  }

  // The pieces of a sentence need no weights.
  async cut() {
    const { size, version } = this.root.dataset;
    try {
      const result = await this.ask({ type: "tokenize", text: this.field.value, size: Number(size), version });
      this.scene = result;
      this.drawSource();
      this.say(`${result.source.length} tokens, including one that names the language to write and one that ends the sentence.`);
      this.button.textContent = this.button.dataset.then;
      this.root.dataset.state = "done";
    } catch (error) {
      this.say(error.message);
      this.root.dataset.state = "refused";
    }
  }

  ask(...request) { return (this.client ??= new Client()).ask(...request); }

  // The probabilities at the reader's temperature.
  tempered(logits) {
    const temperature = Number(this.part("temperature").value);
    this.part("temperature-shown").textContent = temperature.toFixed(1);
    return softmax(Float64Array.from(logits, (logit) => logit / temperature));
  }

  // Whoever has not loaded the translator is told of the button that says how large it is.
  whenLoaded(act) {
    if (this.loaded) return act();
    this.say("This needs the translator: load it first.");
    this.button.focus();
  }

  say(text) { this.part("status").textContent = text; }

  choose(id, forward = 0) {
    this.whenLoaded(() => {
      this.chosen = new Set([...this.chosen].filter((step) => step < this.step).concat(this.step));
      this.run({ prompt: [...this.scene.targetIds.slice(0, this.step), id], step: this.step + forward });
    });
  }

  // The same sentence again, with the reader's tokens up to the last one that was chosen.
  again() {
    const last = Math.max(-1, ...this.chosen);
    this.run({ prompt: this.scene.targetIds.slice(0, last + 1), step: this.step });
  }

  async run({ prompt = null, step = this.piece === "memory" ? Infinity : 0 } = {}) {
    if (this.busy) return;
    this.busy = true;
    const sentence = prompt ? this.scene.sentence : this.field.value;
    const to = prompt ? this.scene.to : this.part("to")?.value || null;
    const beams = !prompt?.length && this.part("beams")?.checked ? 5 : 1;
    if (!prompt) this.chosen.clear();
    try {
      this.output.dataset.state = "loading";
      if (!this.loaded) await this.load();
      this.output.dataset.state = "writing";
      this.say(beams > 1 ? "Following five beams …" : "Reading …");
      const steps = [], start = performance.now();
      const off = [...this.off].map((which) => which.split("/")).map(([name, head]) => [name, Number(head)]);
      const result = await this.ask({ type: "translate", text: sentence, to, prompt: prompt ?? [], off, beams }, (token) => {
        steps.push(token);
        this.drawTarget(steps.map(({ piece }) => piece));
        this.output.textContent = token.text;
      });
      this.scene = { ...result, sentence, steps };
      this.step = Math.min(step, steps.length - 1);
      this.openLargest(Math.min(this.cell[0], this.rows().length - 1));
      this.draw();
      this.say(this.report(performance.now() - start));
      this.output.dataset.state = "done";
    } catch (error) {
      this.say(error.message);
      this.output.dataset.state = "refused";
      if (this.scene) this.draw();
    }
    this.busy = false;
  }

  async load() {
    const { size, version } = this.root.dataset, progress = this.part("progress");
    progress.hidden = false;
    this.say("Loading the translator …");
    try {
      await this.ask({ type: "load", size: Number(size), version }, ({ received }) => { progress.value = received / size; });
      this.loaded = true;
      this.button.textContent = this.button.dataset.then;
    } finally { progress.hidden = true; }
  }

  report(time) {
    const { steps, familiar, target } = this.scene, parts = [];
    parts.push(`${steps.length} tokens in ${(time / 1000).toFixed(1)} seconds, in this browser.`);
    if (this.chosen.size) parts.push(`You chose: ${[...this.chosen].map((step) => target[step]).join(" ")}.`);
    if (this.off.size) parts.push(`Heads switched off: ${this.off.size}.`);
    if (!familiar) parts.push("This text is unlike the sentences the translator was trained on: do not rely on the translation.");
    if (target.at(-1) !== "</s>") parts.push("The translation did not come to an end.");
    return parts.join(" ");
  }

  goTo(step) {
    this.step = Math.min(this.scene.steps.length - 1, Math.max(0, step));
    if (this.name.startsWith("decoder")) this.openLargest(this.step);
    this.draw();
  }

  look(name, head) {
    [this.name, this.head] = [name, head];
    this.openLargest(Math.min(name.startsWith("decoder") ? this.step : this.cell[0], this.rows().length - 1));
    this.draw();
  }

  open(i, j) {
    this.cell = [i, j];
    this.drawLarge();
    this.part("large").querySelector("[data-chosen] button").focus();
  }

  openLargest(row) {
    const weights = this.weights()[row];
    this.cell = [row, weights.indexOf(Math.max(...weights))];
  }

  weights() { return this.scene.attentions[this.name].weights[this.head]; }
  rows() { return this.name.startsWith("encoder") ? this.scene.source : ["<s>", ...this.scene.target.slice(0, -1)]; }
  columns() { return this.name.endsWith("cross_attention") ? this.scene.source : this.rows(); }

  draw() {
    const { target, text, attentions } = this.scene;
    if (this.part("source")) {
      this.drawSource();
      this.drawTarget(target);
      this.output.textContent = text;
    }
    if (this.part("bars")) this.drawStep();
    if (this.part("maps")) this.drawMaps(attentions);
    if (this.part("large")) this.drawLarge();
    if (this.part("all-on")) this.part("all-on").hidden = !this.off.size;
  }

  drawSource() {
    const ids = this.part("source").matches("[data-ids]") ? this.scene.sourceIds : null;
    this.part("source").innerHTML = this.scene.source.map((token, i) => (
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
    }
    this.roving.maps('[aria-pressed="true"]');
  }

  drawTarget(pieces) {
    if (!this.part("target")) return;
    this.part("target").innerHTML = pieces.map((token, step) => (
      `<li><button type="button"${step === this.step ? ' aria-current="step"' : ""}${this.chosen.has(step) ? " data-chosen" : ""}>${escape(token)}</button></li>`
    )).join("");
    this.roving.target('[aria-current="step"]');
  }

  drawStep() {
    const { steps, targetIds } = this.scene;
    this.part("step").textContent = this.step + 1;
    this.part("steps").textContent = steps.length;
    this.part("row").textContent = ["<s>", ...this.scene.target][this.step];
    let { likely, logits } = steps[this.step];
    if (this.part("temperature") && logits) {
      const probabilities = this.tempered(logits);
      likely = likely.map((one) => ({ ...one, probability: probabilities[one.id] }));
    }
    this.part("bars").innerHTML = bars(likely, targetIds[this.step]);
    this.part("back").ariaDisabled = this.step === 0;
    this.part("forward").ariaDisabled = this.step === steps.length - 1;
  }

  drawLarge() {
    const [stack, , layer, kind] = this.name.split("."), off = this.off.has(`${this.name}/${this.head}`);
    this.part("large-title").textContent = `${stack[0].toUpperCase()}${stack.slice(1)}, layer ${layer}, ${NAMES[kind]}, head ${this.head}`;
    // What is not written yet has no row: where the memory is the subject, rows come one by one.
    const rows = this.piece === "memory" ? this.weights().slice(0, this.step + 1) : this.weights();
    this.cell[0] = Math.min(this.cell[0], rows.length - 1);
    this.part("large").innerHTML = largeMap(rows, this.rows(), this.columns(), this.cell, stack === "decoder" ? this.step : -1);
    this.part("off").ariaPressed = off;
    this.part("off").textContent = off ? "Switch this head on" : "Switch this head off";
    this.roving.large("[data-chosen] button");
    const cell = this.part("large").querySelector("[data-chosen]"), box = this.part("large").parentElement;
    const hidden = cell.offsetLeft + cell.offsetWidth - box.clientWidth - box.scrollLeft;
    if (hidden > 0) box.scrollLeft += hidden + 8;
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
    for (const [name, number] of Object.entries(shown)) this.parts(name).forEach((part) => { part.textContent = number.toFixed(3); });
    this.part("weight").textContent = this.weights()[i][j].toFixed(4);
    this.part("asks").textContent = this.rows()[i];
    this.part("asked").textContent = this.columns()[j];
    this.part("query").innerHTML = strip(query);
    this.part("key").innerHTML = strip(keys[j]);
    this.part("products").innerHTML = strip(query.map((value, d) => value * keys[j][d]));
  }
}

for (const root of document.querySelectorAll(".gb-machine")) new (root.dataset.piece === "poet" ? Poet : Machine)(root).begin();
