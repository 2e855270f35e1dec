// A language model of the LLaMA family: a decoder alone, with rotary positions (chapters 6 and 10).

import { Linear, MultiHeadAttention } from "./attention.js";
import { Cache } from "./cache.js";
import { Layer } from "./layers.js";
import { Module } from "./looking.js";

const EPS = 1e-6, BASE = 10_000;

// What the file calls the parts, and what this book calls them.
const NAMES = [
  ["model.embed_tokens", "embedding"], ["model.", "decoder."], ["self_attn", "self_attention"], ["q_proj", "query"],
  ["k_proj", "key"], ["v_proj", "value"], ["o_proj", "output"], ["input_layernorm", "attention_norm"],
  ["post_attention_layernorm", "feed_forward_norm"], ["mlp.gate_proj", "feed_forward.gate"],
  ["mlp.up_proj", "feed_forward.expand"], ["mlp.down_proj", "feed_forward.contract"],
];
const rename = (name) => NAMES.reduce((renamed, [theirs, ours]) => renamed.replace(theirs, ours), name);

export class RMSNorm extends Module {
  forward(x) { return x.map((row) => rmsNorm(row, this.weight)); }
}

export function rmsNorm(x, weight, eps = EPS) {
  const meanSquare = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  return x.map((value, d) => value / Math.sqrt(meanSquare + eps) * weight[d]);
}

const silu = (value) => value / (1 + Math.exp(-value));

export class GatedFeedForward extends Module {
  constructor(name, weights) {
    super(name);
    for (const part of ["gate", "expand", "contract"]) this[part] = new Linear(`${name}.${part}`, weights);
  }

  forward(x) {
    const gate = this.gate.call(x), expanded = this.expand.call(x);
    return this.contract.call(expanded.map((row, i) => row.map((value, d) => silu(gate[i][d]) * value)));
  }
}

// Turns each pair of components, one of either half, by an angle that grows with the position.
export function rotate(x, position, base = BASE) {
  const half = x.length / 2, turned = new Float32Array(x.length);
  for (let d = 0; d < half; d++) {
    const angle = position / base ** (d / half), cos = Math.cos(angle), sin = Math.sin(angle);
    turned[d] = x[d] * cos - x[d + half] * sin;
    turned[d + half] = x[d] * sin + x[d + half] * cos;
  }
  return turned;
}

export class RotaryAttention extends MultiHeadAttention {
  project(x, memory, cache) {
    const start = cache.length;
    const turn = (heads) => heads.map((rows) => rows.map((row, i) => rotate(row, start + i)));
    const [query, key, value] = [this.query, this.key, this.value].map((part) => this.split(part.call(x)));
    return [turn(query), ...cache.append(turn(key), value)];
  }
}

class LlamaLayer extends Layer {
  constructor(...sizes) { super(...sizes, [RotaryAttention, RMSNorm, GatedFeedForward]); }

  forward(x, [cache]) {
    x = this.add(x, this.attentionNorm, (x) => this.selfAttention.call(x, { causal: true, cache }));
    return this.add(x, this.feedForwardNorm, (x) => this.feedForward.call(x));
  }
}

// What this file computes, and no other kind.
const KIND = { hidden_act: "silu", attention_bias: false, mlp_bias: false, rms_norm_eps: EPS, tie_word_embeddings: true };

export class Llama extends Module {
  constructor(config, tensors) {
    super("");
    const other = Object.keys(KIND).filter((field) => config[field] !== KIND[field]);
    if (config.num_key_value_heads !== config.num_attention_heads) other.push("num_key_value_heads");
    if (config.rope_parameters.rope_theta !== BASE || config.rope_parameters.rope_type !== "default") other.push("rope_parameters");
    if (other.length) throw new Error(`a LLaMA of another kind: ${other.map((field) => `${field}=${JSON.stringify(config[field])}`)}`);
    const weights = Object.fromEntries(Object.entries(tensors).map(([name, rows]) => [rename(name), rows]));
    const sizes = [weights, { n_heads: config.num_attention_heads }];
    this.context = config.max_position_embeddings;
    this.embedding = weights["embedding.weight"];
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, i) => new LlamaLayer(`decoder.layers.${i}`, ...sizes));
    this.norm = new RMSNorm("decoder.norm", weights);
    this.output = new Linear("output", { "output.weight": this.embedding });  // tied
  }

  // With a cache, `tokenIds` are only those that it has not read yet.
  hidden(tokenIds, cache = this.newCache()) {
    let x = tokenIds.map((id) => this.embedding[id]);
    this.layers.forEach((layer, i) => { x = layer.call(x, cache.layers[i]); });
    return this.norm.call(x);
  }

  logits(hidden) { return this.output.call(hidden); }

  newCache() { return new Cache(this.layers.length); }
}
