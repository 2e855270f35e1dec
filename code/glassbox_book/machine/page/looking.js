// Looking never changes anything: what is recorded is the forward pass that ran.

export const observers = new Set();

// A part of the model: its name, the parameters that the file has under that name, and what it
// returns, which can be observed.
export class Module {
  constructor(name, weights = {}) {
    this.name = name;
    this.weight = weights[`${name}.weight`];
    this.bias = weights[`${name}.bias`];
  }

  call(...inputs) {
    const output = this.forward(...inputs);
    for (const tape of observers) tape.keepOutput(this.name, output);
    return output;
  }
}

// What ran, by the names of the parts. A decoder that writes token by token runs once for each, and
// adds a row each time.
export class Tape {
  attentions = {};
  outputs = {};

  look(name, { query, key, value, scores, weights, context }) {
    const before = this.attentions[name];
    const rows = { query, scores, weights, context };
    for (const kind in before && rows) rows[kind] = before[kind].map((head, h) => [...head, ...rows[kind][h]]);
    this.attentions[name] = { ...rows, key: key.map((head) => [...head]), value: value.map((head) => [...head]) };
  }

  keepOutput(name, rows) { this.outputs[name] = [...(this.outputs[name] ?? []), ...rows]; }
}

export function record(tape, run) {
  observers.add(tape);
  try { return run(); } finally { observers.delete(tape); }
}

// Switches heads off for as long as `run` takes: pairs of an attention's name and a head's number.
export function withoutHeads(model, heads, run) {
  for (const [name, head] of heads) model.attentions[name].switchedOff.add(head);
  try { return run(); } finally {
    for (const [name, head] of heads) model.attentions[name].switchedOff.delete(head);
  }
}
