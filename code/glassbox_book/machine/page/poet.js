// The language model of characters in a page: it writes on, and the reader may choose a character.

import { softmax } from "./attention.js";
import { Panel } from "./client.js";
import { bars, rove, visible } from "./draw.js";

const LENGTH = 200, N_BARS = 8;

export class Poet extends Panel {
  constructor(root) {
    super(root, "model", "loadPoet", ["beginning", "write", "poem"]);
    this.redraw = rove(this.part("bars"), "button");
    this.redraw();
    this.text = this.begun = this.field.value;
    Object.assign(this, JSON.parse(this.part("bars").dataset.all));  // the logits after it, of all characters
  }

  begin() {
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    this.part("controls").hidden = false;
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.field.value !== this.begun) this.pending = null;  // it was about another text
      this.submitted(() => this.write(LENGTH));
    });
    this.part("restart").addEventListener("click", () => this.whenLoaded(() => { this.begun = null; return this.write(0); }));
    this.followTemperature();
    this.part("temperature").addEventListener("input", () => this.drawBars());
    this.part("bars").addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.whenLoaded(() => this.write(0, this.characters[button.dataset.id]), button);
    });
  }

  // On from where the text ends, or from a beginning that has changed.
  async write(length, chosen = "") {
    if (this.busy) return;
    this.busy = true;
    const text = (this.field.value === this.begun ? this.text : this.field.value) + chosen;
    try {
      if (!text) throw new Error("There is nothing to continue yet: type at least one character.");
      await this.load();
      this.become("writing");
      let shown = text;
      const answer = await this.ask({ type: "write", text, length, temperature: this.temperature }, ({ character }) => { this.output.textContent = shown += character; });
      [this.text, this.logits, this.begun] = [answer.text, answer.logits, this.field.value];
      this.output.textContent = this.text;
      this.drawBars();
      this.say(`${[...this.text].length} characters.`, this.text.slice(text.length));
      this.become("done");
    } catch (error) {
      this.say(error.message);
      this.become("refused");
    }
    this.busy = false;
  }

  drawBars() {
    const probabilities = softmax(Float64Array.from(this.logits, (logit) => logit / this.temperature));
    const order = [...probabilities.keys()].sort((one, other) => probabilities[other] - probabilities[one]);
    this.redraw(bars(order.slice(0, N_BARS).map((id) => (
      { id, piece: this.characters[id] === "\n" ? "new line" : visible(this.characters[id]), probability: probabilities[id] }
    ))));
    this.part("answer").textContent = "";
  }
}
