// Questions to the worker, and its answers.
export class Client {
  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.waiting = new Map();
    this.asked = 0;
    this.worker.addEventListener("message", ({ data: { id, type, ...content } }) => {
      const asked = this.waiting.get(id);
      if (type === "done" || type === "refused") this.waiting.delete(id);
      if (type === "done") asked.resolve(content.result);
      else if (type === "refused") asked.reject(new Error(content.message));
      else asked?.hear(content);  // of a load that has failed, other files may still be on their way
    });
    this.worker.addEventListener("error", () => {
      this.broken = true;
      this.waiting.forEach(({ reject }) => reject(new Error("The machine's scripts could not be loaded: check your connection and press the button again.")));
    });
  }

  ask(request, hear = () => {}) {
    return new Promise((resolve, reject) => {
      const id = this.asked++;
      this.waiting.set(id, { resolve, reject, hear });
      this.worker.postMessage({ id, ...request });
    });
  }
}

export const quoted = (sentence) => `“${sentence}”${/[.!?…]$/.test(sentence) ? "" : "."}`;
export const stillOf = (sentence) => `What is below still belongs to ${quoted(sentence)}`;

// A part of a page that runs a model: what the machine and the language model have in common.
export class Panel {
  constructor(root, model, loader, names) {
    Object.assign(this, { root, model, loader });
    this.parts = (name) => [...root.querySelectorAll(`[data-part="${name}"]`)];
    this.part = (name) => this.parts(name)[0];
    [this.field, this.button, this.output] = names.map((name) => root.querySelector(`[data-machine="${name}"]`) ?? document.createElement("output"));
  }

  ask(...request) {
    if (this.client?.broken) this.client = null;
    return (this.client ??= new Client()).ask(...request);
  }

  // `aloud` is for those who do not see what appears elsewhere on the page.
  say(text, aloud = "") {
    for (const place of [this.part("status"), this.place]) if (place) place.textContent = text;
    if (aloud) this.part("status").prepend(Object.assign(document.createElement("span"), { className: "gb-aloud", textContent: `${aloud} ` }));
  }

  // `previous` is what is still shown of the sentence before.
  become(state, previous = false) {
    this.root.dataset.state = this.output.dataset.state = state;
    this.root.toggleAttribute("data-previous", previous);
  }

  // What is on the screen stays, and says which sentence it belongs to.
  refuse(message, sentence) {
    const previous = sentence !== this.field.value;
    this.say(previous ? `${message} ${stillOf(sentence)}` : message);
    this.become("refused", previous);
  }

  get temperature() { return Number(this.part("temperature").value); }
  // The number beside the slider, also where a browser that goes back has kept the slider's place.
  followTemperature() {
    const slider = this.part("temperature"), show = () => { this.part("temperature-shown").textContent = this.temperature.toFixed(1); };
    slider?.addEventListener("input", show);
    if (slider) show();
  }

  load() {
    return (this.loading ??= this.fetchModel().catch((error) => {
      this.loading = null;
      throw error;
    }));
  }

  async fetchModel() {
    const { size, version } = this.root.dataset, progress = this.part("progress");
    progress.hidden = false;
    this.say(`Loading the ${this.model} …`);
    try {
      this.loaded = await this.ask({ type: this.loader, size: Number(size), version }, ({ received }) => { progress.value = received / size; }) ?? true;
      this.button.textContent = this.button.dataset.then;
    } finally { progress.hidden = true; }
  }

  // Nothing is loaded unasked. The question is put where the reader has just pressed, or else to
  // the button of the form, where what was asked for is still pending.
  whenLoaded(act, pressed) {
    if (this.loaded) return act();
    const place = this.place = pressed?.closest("section").querySelector('[data-part="answer"]');
    if (place || !this.loading) this.say(`This needs the ${this.model}: load it first. `);
    this.pending = place ? null : act;
    if (!place) return this.button.focus();
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Load it ${this.button.textContent.match(/\(.+?\)/)[0]} and go on`;
    button.addEventListener("click", () => {
      pressed.focus();
      this.place = place;
      this.load().then(() => { this.pending = null; return act(); }, ({ message }) => this.say(message)).finally(() => { this.place = null; });
    });
    place.append(button);
    if (pressed.type !== "range") button.focus();  // a slider that is moved keeps the focus
  }

  // What is pending, the last of it, is done instead of what the form asks for.
  async submitted(act) {
    this.place = null;
    if (!this.pending) return act();
    try { await this.load(); } catch ({ message }) { return this.say(message); }
    const { pending } = this;
    this.pending = null;
    return pending?.();
  }
}
