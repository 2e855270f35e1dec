// The BERT in a page: the reader types a sentence and hides pieces of it, and the model fills them in.

import { Panel } from "./client.js";
import { bars, escape, rove, visible } from "./draw.js";

const N_BARS = 8, MASK = "[MASK]", SPECIAL = new Set(["[CLS]", "[SEP]"]);

export class Blank extends Panel {
  constructor(root) {
    super(root, "model", "loadBert", ["text", "fill", "pieces"]);
    this.mask = Number(root.dataset.mask);
    this.known = this.field.value;  // the text that the pieces are of
    this.tokenIds = JSON.parse(root.dataset.ids);
    this.pieces = [...this.output.querySelectorAll("span")].map((span) => span.textContent);
    this.position = this.tokenIds.indexOf(this.mask);
    this.redrawPieces = rove(this.output, "button", undefined, "[aria-current]");
    this.redrawBars = rove(this.part("bars"), "button");
    this.redrawBars();
  }

  begin() {
    this.field.readOnly = false;
    this.root.dataset.awake = "";
    this.part("controls").hidden = false;
    this.drawPieces();
    this.root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.field.value !== this.known) this.pending = null;  // it was about other pieces
      this.submitted(() => this.read());
    });
    const pressed = (box, act) => box.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.whenLoaded(() => act(button), button);
    });
    pressed(this.output, ({ dataset }) => this.put(Number(dataset.position), this.mask, MASK));
    pressed(this.part("bars"), (bar) => this.put(this.position, Number(bar.dataset.id), bar.querySelector("b").textContent));
  }

  // Another piece at a position, or a blank.
  put(position, id, piece) {
    return this.working(() => {
      this.position = position;
      [this.tokenIds, this.pieces] = [this.tokenIds.with(position, id), this.pieces.with(position, piece)];
    });
  }

  read() {
    return this.working(async () => {
      if (!this.field.value.trim()) throw new Error("There is nothing to read yet: type a sentence.");
      await this.load();
      if (this.field.value === this.known) return;
      const { tokenIds, pieces } = await this.ask({ type: "encode", text: this.field.value });
      [this.tokenIds, this.pieces, this.known, this.position] = [tokenIds, pieces, this.field.value, -1];
    });
  }

  async working(change) {
    if (this.busy) return;
    this.busy = true;
    try {
      await change();
      this.likely = new Map(await this.ask({ type: "fill", tokenIds: this.tokenIds, nLikely: N_BARS }));
      if (!this.likely.has(this.position)) this.position = [...this.likely.keys()][0] ?? -1;
      this.draw();
      this.become("done");
    } catch ({ message }) { this.refuse(message, this.known); }
    this.busy = false;
  }

  draw() {
    const { size } = this.likely, number = [...this.likely.keys()].indexOf(this.position) + 1;
    this.drawPieces();
    this.redrawBars(bars(this.likely.get(this.position) ?? []));
    this.part("title").textContent = size > 1 ? `What fills blank ${number} of ${size}` : "What fills the blank";
    this.part("title").parentElement.hidden = !size;
    this.part("answer").textContent = "";
    this.say(size ? `${size} ${size === 1 ? "blank" : "blanks"} filled.` : "No blank: choose a piece to hide it.");
  }

  drawPieces() {
    this.redrawPieces(this.pieces.map((piece, i) => (
      SPECIAL.has(piece) ? `<li><span>${escape(piece)}</span></li>`
        : `<li><button type="button" data-position="${i}"${i === this.position ? ' aria-current="true"' : ""}`
          + `${piece === MASK ? ' aria-label="blank">___' : `>${escape(visible(piece))}`}</button></li>`
    )).join(""));
  }
}
