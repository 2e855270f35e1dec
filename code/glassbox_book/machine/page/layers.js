// The layers of encoder and decoder, and what they are made of (chapters 7 and 8).

import { Linear, MultiHeadAttention } from "./attention.js";
import { Module } from "./looking.js";

const EPS = 1e-5;

export class LayerNorm extends Module {
  forward(x) { return x.map((row) => layerNorm(row, this.weight, this.bias)); }
}

export function layerNorm(x, weight, bias, eps = EPS) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return x.map((value, d) => (value - mean) / Math.sqrt(variance + eps) * weight[d] + bias[d]);
}

const relu = (x) => x.map((row) => row.map((value) => Math.max(0, value)));

export class FeedForward extends Module {
  constructor(name, weights) {
    super(name);
    this.expand = new Linear(`${name}.expand`, weights);
    this.contract = new Linear(`${name}.contract`, weights);
  }

  forward(x) { return this.contract.call(relu(this.expand.call(x))); }
}

// Pre-norm: the stream goes on as it is, and each sublayer adds what it makes of the normed stream.
export class Layer extends Module {
  constructor(name, weights, config, [Attention, Norm, Inner] = [MultiHeadAttention, LayerNorm, FeedForward]) {
    super(name);
    this.selfAttention = new Attention(`${name}.self_attention`, weights, config.n_heads);
    this.attentionNorm = new Norm(`${name}.attention_norm`, weights);
    this.feedForward = new Inner(`${name}.feed_forward`, weights);
    this.feedForwardNorm = new Norm(`${name}.feed_forward_norm`, weights);
  }

  add(x, norm, sublayer) {
    const change = sublayer(norm.call(x));
    return x.map((row, i) => row.map((value, d) => value + change[i][d]));
  }
}

export class EncoderLayer extends Layer {
  forward(x) {
    x = this.add(x, this.attentionNorm, (x) => this.selfAttention.call(x));
    return this.add(x, this.feedForwardNorm, (x) => this.feedForward.call(x));
  }
}

export class DecoderLayer extends Layer {
  constructor(name, weights, config) {
    super(name, weights, config);
    this.crossAttention = new MultiHeadAttention(`${name}.cross_attention`, weights, config.n_heads);
    this.crossAttentionNorm = new LayerNorm(`${name}.cross_attention_norm`, weights);
  }

  forward(x, memory, [cache, memoryCache] = []) {
    x = this.add(x, this.attentionNorm, (x) => this.selfAttention.call(x, { causal: true, cache }));
    x = this.add(x, this.crossAttentionNorm, (x) => this.crossAttention.call(x, { memory, cache: memoryCache }));
    return this.add(x, this.feedForwardNorm, (x) => this.feedForward.call(x));
  }
}

class Stack extends Module {
  constructor(name, Kind, weights, config) {
    super(name);
    this.layers = Array.from({ length: config.n_layers }, (_, i) => new Kind(`${name}.layers.${i}`, weights, config));
    this.norm = new LayerNorm(`${name}.norm`, weights);  // of a sum that no norm has seen yet
  }
}

export class Encoder extends Stack {
  constructor(...sizes) { super("encoder", EncoderLayer, ...sizes); }

  forward(x) {
    for (const layer of this.layers) x = layer.call(x);
    return this.norm.call(x);
  }
}

export class Decoder extends Stack {
  constructor(...sizes) { super("decoder", DecoderLayer, ...sizes); }

  forward(x, memory, cache = null) {
    this.layers.forEach((layer, i) => { x = layer.call(x, memory, cache?.layers[i]); });
    return this.norm.call(x);
  }
}
