// Questions to the worker, and its answers.
export class Client {
  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.waiting = new Map();
    this.worker.addEventListener("message", ({ data: { id, type, ...content } }) => {
      const asked = this.waiting.get(id);
      if (type === "done") asked.resolve(content.result);
      else if (type === "refused") {
        asked.hear = () => {};  // of a load that has failed, other files may still be on their way
        asked.reject(new Error(content.message));
      } else asked.hear(content);
    });
    this.worker.addEventListener("error", () => this.waiting.forEach(({ reject }) => (
      reject(new Error("The machine's scripts could not be loaded: check your connection and reload the page."))
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
