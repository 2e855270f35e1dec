// BERT: an encoder alone, which reads a text in both directions and fills its blanks (chapter 7).

import { Linear, MultiHeadAttention } from "./attention.js";
import { EncoderLayer, FeedForward, LayerNorm, layerNorm } from "./layers.js";
import { Module } from "./looking.js";

const EPS = 1e-12;

// What the file calls the parts, and what this book calls them.
const NAMES = [
  ["bert.", ""], ["encoder.layer.", "encoder.layers."], ["word_embeddings", "token"], ["position_embeddings", "position"],
  ["token_type_embeddings", "token_type"], ["attention.self.", "self_attention."],
  ["attention.output.dense", "self_attention.output"], ["attention.output.LayerNorm", "attention_norm"],
  ["intermediate.dense", "feed_forward.expand"], ["output.LayerNorm", "feed_forward_norm"],
  ["output.dense", "feed_forward.contract"], ["cls.predictions.bias", "output.bias"],
  ["cls.predictions.transform.dense", "transform"], ["cls.predictions.transform.LayerNorm", "norm"],
  ["embeddings.LayerNorm", "embeddings.norm"],
];
const rename = (name) => NAMES.reduce((renamed, [theirs, ours]) => renamed.replace(theirs, ours), name);

class BertNorm extends LayerNorm {
  forward(x) { return x.map((row) => layerNorm(row, this.weight, this.bias, EPS)); }
}

// The error function, to seven digits (Abramowitz and Stegun 1964, formula 7.1.26).
const POWERS = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429];
export function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = POWERS.reduceRight((total, factor) => (total + factor) * t, 0);
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

export const gelu = (x) => x * (1 + erf(x / Math.SQRT2)) / 2;

class BertFeedForward extends FeedForward {
  forward(x) { return this.contract.call(this.expand.call(x).map((row) => row.map(gelu))); }
}

// Post-norm: every sum goes through a norm.
class BertLayer extends EncoderLayer {
  constructor(...sizes) { super(...sizes, [MultiHeadAttention, BertNorm, BertFeedForward]); }

  add(x, norm, sublayer) {
    const change = sublayer(x);
    return norm.call(x.map((row, i) => row.map((value, d) => value + change[i][d])));
  }
}

// What this file computes, and no other kind.
const KIND = { model_type: "bert", hidden_act: "gelu", layer_norm_eps: EPS };

export class BertForMaskedLM extends Module {
  constructor(config, tensors) {
    super("");
    const other = Object.keys(KIND).filter((field) => config[field] !== KIND[field]);
    if (other.length) throw new Error(`a BERT of another kind: ${other.map((field) => `${field}=${config[field]}`)}`);
    const weights = Object.fromEntries(Object.entries(tensors).map(([name, rows]) => [rename(name), rows]));
    const sizes = { n_heads: config.num_attention_heads };
    this.maxLen = config.max_position_embeddings;
    [this.token, this.position, this.tokenType] = ["token", "position", "token_type"].map((name) => weights[`embeddings.${name}.weight`]);
    this.embeddingsNorm = new BertNorm("embeddings.norm", weights);
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, i) => new BertLayer(`encoder.layers.${i}`, weights, sizes));
    this.transform = new Linear("transform", weights);
    this.norm = new BertNorm("norm", weights);
    this.output = new Linear("output", { "output.weight": this.token, "output.bias": weights["output.bias"] });  // tied
  }

  // A vector for each token that knows its context.
  hidden(tokenIds) {
    let x = this.embeddingsNorm.call(tokenIds.map((id, i) => (
      this.token[id].map((value, d) => value + this.tokenType[0][d] + this.position[i][d])
    )));
    for (const layer of this.layers) x = layer.call(x);
    return x;
  }

  logits(hidden) {
    return this.output.call(this.norm.call(this.transform.call(hidden).map((row) => row.map(gelu))));
  }
}
