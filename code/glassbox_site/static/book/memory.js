// What this browser remembers for its reader, and tells nobody: how much code is open, whether the
// contents are hidden, and how far each chapter was read. One entry of localStorage holds it all,
// and a browser that keeps nothing is as good.
globalThis.glassboxMemory = {
  key: "glassbox",
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {};
    }
  },
  change(edit) {
    const kept = this.read();
    edit(kept);
    try {
      localStorage.setItem(this.key, JSON.stringify(kept));
    } catch { /* not allowed to, or full */ }
  },
};
