// The whole Transformer: a stack that reads, and one that writes (chapters 7 and 8).

import { Linear } from "./attention.js";
import { Cache } from "./cache.js";
import { Decoder, Encoder } from "./layers.js";
import { Module } from "./looking.js";

export class TokenEmbedding extends Module {
  forward(tokenIds) {
    const scale = Math.sqrt(this.weight[0].length);
    return tokenIds.map((id) => this.weight[id].map((value) => value * scale));
  }
}

export function sinusoidalEncoding(position, dModel, base = 10_000) {
  return Float32Array.from({ length: dModel }, (_, d) => {
    const angle = position / base ** ((d - d % 2) / dModel);
    return d % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

export class SinusoidalPositions extends Module {
  // The first of the rows has the position `start`.
  forward(x, start) {
    return x.map((row, i) => {
      const encoding = sinusoidalEncoding(start + i, row.length);
      return row.map((value, d) => value + encoding[d]);
    });
  }
}

// What this file computes, and no other kind of Transformer.
const KIND = {
  activation: "relu", bias: true, concatenated: false, d_k: null, gated: false, n_kv_heads: null, norm: "layer",
  norm_eps: 1e-5, norm_first: true, output_bias: false, positions: "sinusoidal", scale: null, scale_embeddings: true,
  target_vocab_size: null, n_decoder_layers: null, tie_embeddings: true,
};

export class Transformer extends Module {
  constructor(config, weights) {
    super("");
    const other = Object.keys(KIND).filter((field) => config[field] !== KIND[field]);
    if (other.length) throw new Error(`a Transformer of another kind: ${other.map((field) => `${field}=${config[field]}`)}`);
    this.config = config;
    this.sourceEmbedding = this.targetEmbedding = new TokenEmbedding("source_embedding", weights);
    this.sourcePositions = new SinusoidalPositions("source_positions");
    this.targetPositions = new SinusoidalPositions("target_positions");
    this.encoder = new Encoder(weights, config);
    this.decoder = new Decoder(weights, config);
    this.output = new Linear("output", { "output.weight": this.targetEmbedding.weight });  // tied
    const layers = [...this.encoder.layers, ...this.decoder.layers];
    const attentions = layers.flatMap((layer) => [layer.selfAttention, layer.crossAttention].filter(Boolean));
    this.attentions = Object.fromEntries(attentions.map((attention) => [attention.name, attention]));
  }

  // The logits of each target position's next token.
  forward(sourceIds, targetIds) { return this.logits(this.hidden(targetIds, this.encode(sourceIds))); }

  // The memory: a vector for each token of the source that knows its context.
  encode(sourceIds) {
    return this.encoder.call(this.sourcePositions.call(this.sourceEmbedding.call(sourceIds), 0));
  }

  // The decoder's output; with a cache, `tokenIds` are only those that it has not read yet.
  hidden(tokenIds, memory, cache = null) {
    const x = this.targetPositions.call(this.targetEmbedding.call(tokenIds), cache?.length ?? 0);
    return this.decoder.call(x, memory, cache);
  }

  logits(hidden) { return this.output.call(hidden); }

  newCache() { return new Cache(this.decoder.layers.length); }
}
