// Makes the machine of the page alive: what is typed goes to the worker, what comes back is drawn.

import { causalMask, dot, dotProductScores, maskedSoftmax } from "./attention.js";
import { bars, escape, largeMap, rove, smallMap, strip } from "./draw.js";
import { readTensors } from "./safetensors.js";

const NAMES = { self_attention: "self-attention", cross_attention: "cross-attention" };
const OTHER = { en: "fr", fr: "en" };

// Questions to the worker, and its answers.
class Client {
  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.waiting = new Map();
    this.worker.addEventListener("message", ({ data: { id, type, ...content } }) => {
      const { resolve, reject, hear } = this.waiting.get(id);
      if (type === "done") resolve(content.result);
      else if (type === "refused") reject(new Error(content.message));
      else hear(content);
    });
    this.worker.addEventListener("error", () => this.waiting.forEach(({ reject }) => (
      reject(new Error("The machine's scripts could not be fetched: check the connection, and reload the page."))
    )));
  }

  ask(request, hear = () => {}) {
    return new Promise((resolve, reject) => {
      const id = this.waiting.size;
      this.waiting.set(id, { resolve, reject, hear });
      this.worker.postMessage({ id, ...request });
    });
  }
}

class Machine {
  constructor(root) {
    this.root = root;
    this.parts = (name) => [...root.querySelectorAll(`[data-part="${name}"]`)];
    this.part = (name) => this.parts(name)[0];
    this.field = root.querySelector('[data-machine="sentence"]');
    this.button = root.querySelector('[data-machine="run"]');
    this.output = root.querySelector('[data-machine="translation"]');
    this.off = new Set();
    this.chosen = new Set();  // steps at which the reader chose
    this.step = 0;
    this.name = root.dataset.large;
    this.head = Number(root.dataset.head);
    this.cell = root.dataset.cell.split(" ").map(Number);
  }

  // The worked sentence: tokens from the page, numbers from a file, maps from the numbers.
  async begin() {
    const { likely, ...first } = JSON.parse(this.part("first").textContent);
    const pieces = (name) => [...this.part(name).children].map((item) => item.textContent);
    const response = await fetch(new URL("first.safetensors", import.meta.url));
    if (!response.ok) throw new Error(`first.safetensors: ${response.status}`);
    const attentions = {};
    for (const [key, rows] of Object.entries(readTensors(await response.arrayBuffer()))) {
      const [name, kind] = key.split("/");
      const nHeads = this.part("maps").querySelectorAll(`[data-name="${name}"]`).length, length = rows.length / nHeads;
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
    const [source, target] = [pieces("source"), pieces("target")];
    this.scene = { ...first, sentence: this.field.value, source, target, text: this.output.textContent, steps, attentions };
    this.listen();
    this.draw();
  }

  listen() {
    const on = (target, type, act) => target.addEventListener(type, act);
    const pressed = (name, selector, act) => on(this.part(name), "click", (event) => {
      const button = event.target.closest(selector);
      if (button) act(button);
    });
    this.client = new Client();
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    this.parts("controls").forEach((controls) => { controls.hidden = false; });
    on(this.root.querySelector("form"), "submit", (event) => { event.preventDefault(); this.run(); });
    on(this.part("swap"), "click", () => this.whenLoaded(() => {
      this.field.value = this.scene.text;
      this.part("to").value = OTHER[this.scene.to];
      this.run();
    }));
    on(this.part("back"), "click", () => this.goTo(this.step - 1));
    on(this.part("forward"), "click", () => this.goTo(this.step + 1));
    pressed("target", "button", (button) => this.goTo([...this.part("target").children].indexOf(button.parentElement)));
    pressed("bars", "button", ({ dataset }) => this.choose(Number(dataset.id)));
    pressed("maps", "[data-name]", ({ dataset }) => this.look(dataset.name, Number(dataset.head)));
    pressed("large", "td button", (button) => this.open(button.closest("tr").rowIndex - 1, button.parentElement.cellIndex - 1));
    on(this.part("off"), "click", () => this.whenLoaded(() => {
      const which = `${this.name}/${this.head}`;
      if (!this.off.delete(which)) this.off.add(which);
      this.again();
    }));
    on(this.part("all-on"), "click", () => { this.off.clear(); this.again(); });
    this.roving = {
      target: rove(this.part("target"), "button", () => 1),
      maps: rove(this.part("maps"), "[data-name]", () => 8),
      large: rove(this.part("large"), "td button", () => this.columns().length),
    };
  }

  // Whoever has not loaded the translator is told of the button that says how large it is.
  whenLoaded(act) {
    if (this.loaded) return act();
    this.say("For this the translator is needed: load it first.");
    this.button.focus();
  }

  say(text) { this.part("status").textContent = text; }

  choose(id) {
    this.whenLoaded(() => {
      this.chosen = new Set([...this.chosen].filter((step) => step < this.step).concat(this.step));
      this.run({ prompt: [...this.scene.targetIds.slice(0, this.step), id], step: this.step });
    });
  }

  // The same sentence again, with the reader's tokens up to the last one that was chosen.
  again() {
    const last = Math.max(-1, ...this.chosen);
    this.run({ prompt: this.scene.targetIds.slice(0, last + 1), step: this.step });
  }

  async run({ prompt = null, step = 0 } = {}) {
    if (this.busy) return;
    this.busy = true;
    const sentence = prompt ? this.scene.sentence : this.field.value;
    const to = prompt ? this.scene.to : this.part("to").value || null;
    const beams = !prompt?.length && this.part("beams").checked ? 5 : 1;
    if (!prompt) this.chosen.clear();
    try {
      this.output.dataset.state = "loading";
      if (!this.loaded) await this.load();
      this.output.dataset.state = "writing";
      this.say(beams > 1 ? "Following five beams …" : "Reading …");
      const steps = [], start = performance.now();
      const off = [...this.off].map((which) => which.split("/")).map(([name, head]) => [name, Number(head)]);
      const result = await this.client.ask({ type: "translate", text: sentence, to, prompt: prompt ?? [], off, beams }, (token) => {
        steps.push(token);
        this.drawTarget(steps.map(({ piece }) => piece));
        this.output.textContent = token.text;
      });
      this.scene = { ...result, sentence, steps };
      this.step = Math.min(step, steps.length - 1);
      const row = Math.min(this.cell[0], this.rows().length - 1), weights = this.weights()[row];
      this.cell = [row, weights.indexOf(Math.max(...weights))];
      this.draw();
      this.say(this.report(performance.now() - start));
      this.output.dataset.state = "done";
    } catch (error) {
      this.say(error.message);
      this.output.dataset.state = "refused";
      this.draw();
    }
    this.busy = false;
  }

  async load() {
    const { size, version } = this.root.dataset, progress = this.part("progress");
    progress.hidden = false;
    this.say("Loading the translator …");
    try {
      await this.client.ask({ type: "load", size: Number(size), version }, ({ received }) => { progress.value = received / size; });
      this.loaded = true;
      this.button.textContent = "Translate";
    } finally { progress.hidden = true; }
  }

  report(time) {
    const { steps, familiar, target } = this.scene, parts = [];
    parts.push(`${steps.length} tokens in ${(time / 1000).toFixed(1)} seconds, by this browser.`);
    if (this.chosen.size) parts.push(`Chosen by you: ${[...this.chosen].map((step) => target[step]).join(" ")}.`);
    if (this.off.size) parts.push(`Heads switched off: ${this.off.size}.`);
    if (!familiar) parts.push("This text is unlike what the translator has learned from: do not rely on the translation.");
    if (target.at(-1) !== "</s>") parts.push("It did not come to an end.");
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
    const { source, target, text, attentions } = this.scene;
    this.part("source").innerHTML = source.map((token) => `<li><span>${escape(token)}</span></li>`).join("");
    this.drawTarget(target);
    this.output.textContent = text;
    this.drawStep();
    for (const button of this.part("maps").querySelectorAll("[data-name]")) {
      const { name, head } = button.dataset;
      button.innerHTML = smallMap(attentions[name].weights[head]);
      button.ariaPressed = name === this.name && Number(head) === this.head;
      button.toggleAttribute("data-off", this.off.has(`${name}/${head}`));
    }
    this.roving.maps('[aria-pressed="true"]');
    this.drawLarge();
  }

  drawTarget(pieces) {
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
    this.part("bars").innerHTML = bars(steps[this.step].likely, targetIds[this.step]);
    this.part("back").ariaDisabled = this.step === 0;
    this.part("forward").ariaDisabled = this.step === steps.length - 1;
  }

  drawLarge() {
    const [stack, , layer, kind] = this.name.split("."), off = this.off.has(`${this.name}/${this.head}`);
    this.part("large-title").textContent = `${stack[0].toUpperCase()}${stack.slice(1)}, layer ${Number(layer) + 1}, ${NAMES[kind]}, head ${this.head + 1}`;
    this.part("large").innerHTML = largeMap(this.weights(), this.rows(), this.columns(), this.cell, stack === "decoder" ? this.step : -1);
    this.part("off").ariaPressed = off;
    this.part("off").textContent = off ? "Switch this head on" : "Switch this head off";
    this.part("all-on").hidden = !this.off.size;
    this.roving.large("[data-chosen] button");
    const cell = this.part("large").querySelector("[data-chosen]"), box = this.part("large").parentElement;
    const hidden = cell.offsetLeft + cell.offsetWidth - box.clientWidth - box.scrollLeft;
    if (hidden > 0) box.scrollLeft += hidden + 8;
    this.drawCell();
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

for (const root of document.querySelectorAll(".gb-machine")) {
  new Machine(root).begin().catch((error) => console.warn(`The machine stays as it is printed: ${error.message}`));
}
