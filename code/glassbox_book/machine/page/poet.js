// The language model of characters in a page: it writes on, and the reader may choose a character.

import { softmax } from "./attention.js";
import { Client } from "./client.js";
import { bars, visible } from "./draw.js";

const LENGTH = 200, N_BARS = 8;

export class Poet {
  constructor(root) {
    this.root = root;
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    [this.field, this.button, this.output] = ["beginning", "write", "poem"].map((name) => root.querySelector(`[data-machine="${name}"]`));
    this.text = this.begun = this.field.value;
  }

  begin() {
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    this.part("controls").hidden = false;
    this.root.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); this.write(LENGTH); });
    this.part("restart").addEventListener("click", () => this.whenLoaded(() => { this.begun = null; this.write(0); }));
    this.part("temperature").addEventListener("input", () => {
      this.part("temperature-shown").textContent = this.temperature.toFixed(1);
      if (this.logits) this.drawBars();
    });
    this.part("bars").addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.whenLoaded(() => this.write(0, this.characters[button.dataset.id]));
    });
  }

  // Whoever has not loaded the model is told of the button that says how large it is.
  whenLoaded(act) {
    if (this.characters) return act();
    this.say("This needs the model: load it first.");
    this.button.focus();
  }

  get temperature() { return Number(this.part("temperature").value); }

  say(text) { this.part("status").textContent = text; }

  // On from where the text ends, or from a beginning that has changed.
  async write(length, chosen = "") {
    if (this.busy) return;
    this.busy = true;
    const text = (this.field.value === this.begun ? this.text : this.field.value) + chosen;
    try {
      await this.load();
      this.output.dataset.state = "writing";
      let shown = text;
      const answer = await this.ask({ type: "write", text, length, temperature: this.temperature }, ({ character }) => { this.output.textContent = shown += character; });
      [this.text, this.logits, this.begun] = [answer.text, answer.logits, this.field.value];
      this.output.textContent = this.text;
      this.drawBars();
      this.say(`${[...this.text].length} characters.`);
      this.output.dataset.state = "done";
    } catch (error) {
      this.say(error.message);
      this.output.dataset.state = "refused";
    }
    this.busy = false;
  }

  ask(request, hear) { return (this.client ??= new Client()).ask(request, hear); }

  async load() {
    if (this.characters) return;
    const { size, version } = this.root.dataset, progress = this.part("progress");
    progress.hidden = false;
    this.say("Loading the model …");
    try {
      this.characters = await this.ask({ type: "loadPoet", size: Number(size), version }, ({ received }) => { progress.value = received / size; });
      this.button.textContent = this.button.dataset.then;
    } finally { progress.hidden = true; }
  }

  drawBars() {
    const probabilities = softmax(Float64Array.from(this.logits, (logit) => logit / this.temperature));
    const order = [...probabilities.keys()].sort((one, other) => probabilities[other] - probabilities[one]);
    this.part("bars").innerHTML = bars(order.slice(0, N_BARS).map((id) => (
      { id, piece: this.characters[id] === "\n" ? "new line" : visible(this.characters[id]), probability: probabilities[id] }
    )));
  }
}
