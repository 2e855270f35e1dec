// Attention: each position gathers from the others what it asks for (chapters 4 and 5).
// A tensor is an array of rows, and a row is a Float32Array; with heads it is an array of those.

import { Module, observers } from "./looking.js";

// The one loop that takes the time: four sums side by side, which the processor adds at once.
export function dot(a, b) {
  let first = 0, second = 0, third = 0, fourth = 0, i = 0;
  for (const end = a.length - 3; i < end; i += 4) {
    first += a[i] * b[i];
    second += a[i + 1] * b[i + 1];
    third += a[i + 2] * b[i + 2];
    fourth += a[i + 3] * b[i + 3];
  }
  for (; i < a.length; i++) first += a[i] * b[i];
  return first + second + third + fourth;
}

export class Linear extends Module {
  forward(input) {
    return input.map((x) => {
      const mapped = this.bias ? this.bias.slice() : new Float32Array(this.weight.length);
      for (let o = 0; o < mapped.length; o++) mapped[o] += dot(x, this.weight[o]);
      return mapped;
    });
  }
}

// Row i of the mask says of each key whether query i may attend to it. The queries are the last
// positions.
export function causalMask(qLen, kLen) {
  return Array.from({ length: qLen }, (_, i) => Array.from({ length: kLen }, (_, j) => j <= kLen - qLen + i));
}

export function dotProductScores(query, key) {
  const scale = 1 / Math.sqrt(query[0].length);
  return query.map((q) => Float32Array.from(key, (k) => dot(q, k) * scale));
}

export function softmax(scores) {
  const largest = scores.reduce((a, b) => Math.max(a, b));  // taken away first, so that nothing overflows
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / total);
}

export function maskedSoftmax(scores, mask) {
  return scores.map((row, i) => softmax(mask ? row.map((score, j) => (mask[i][j] ? score : -Infinity)) : row));
}

function average(weights, value) {
  return weights.map((row) => {
    const sum = new Float64Array(value[0].length);
    row.forEach((weight, j) => { for (let d = 0; d < sum.length; d++) sum[d] += weight * value[j][d]; });
    return Float32Array.from(sum);
  });
}

export function scaledDotProductAttention(query, key, value, mask) {
  const scores = dotProductScores(query, key);
  const weights = maskedSoftmax(scores, mask);
  return { context: average(weights, value), weights, scores };
}

export class MultiHeadAttention extends Module {
  switchedOff = new Set();

  constructor(name, weights, nHeads) {
    super(name);
    this.nHeads = nHeads;
    for (const part of ["query", "key", "value", "output"]) {
      this[part] = new Linear(`${name}.${part}`, weights);
    }
  }

  // From x to itself, or to the memory.
  forward(x, { memory = null, causal = false, cache = null } = {}) {
    const [query, key, value] = this.project(x, memory, cache);
    return this.output.call(this.merge(this.attend(query, key, value, causal)));
  }

  project(x, memory, cache) {
    const query = this.split(this.query.call(x));
    if (memory && cache?.length) return [query, cache.key, cache.value];  // the memory stays the same in all steps
    const key = this.split(this.key.call(memory ?? x)), value = this.split(this.value.call(memory ?? x));
    return [query, ...(cache ? cache.append(key, value) : [key, value])];
  }

  attend(query, key, value, causal) {
    const mask = causal && query[0].length > 1 ? causalMask(query[0].length, key[0].length) : null;
    const heads = query.map((q, h) => scaledDotProductAttention(q, key[h], value[h], mask));
    const [context, weights, scores] = ["context", "weights", "scores"].map((kind) => heads.map((head) => head[kind]));
    for (const tape of observers) tape.look(this.name, { query, key, value, scores, weights, context });
    return context;
  }

  split(rows) {
    const width = rows[0].length / this.nHeads;
    return Array.from({ length: this.nHeads }, (_, h) => rows.map((row) => row.subarray(h * width, (h + 1) * width)));
  }

  // The heads side by side again; one that is switched off leaves zeros.
  merge(heads) {
    return heads[0].map((_, i) => Float32Array.from(
      heads.flatMap((head, h) => (this.switchedOff.has(h) ? Array(head[i].length).fill(0) : [...head[i]])),
    ));
  }
}
