// What a model has read already, so that each new token costs one step (chapter 10).

export class KeyValueCache {
  key = [];
  value = [];

  get length() { return this.key.length && this.key[0].length; }

  append(key, value) {
    this.key = key.map((rows, h) => [...(this.key[h] ?? []), ...rows]);
    this.value = value.map((rows, h) => [...(this.value[h] ?? []), ...rows]);
    return [this.key, this.value];
  }

  copy() { return Object.assign(new KeyValueCache(), this); }
}

// For each layer of a decoder: its own past, and the encoder's output.
export class Cache {
  constructor(nLayers) {
    this.layers = Array.from({ length: nLayers }, () => [new KeyValueCache(), new KeyValueCache()]);
  }

  get length() { return this.layers[0][0].length; }

  // Of two beams that part, each goes on with a memory of its own.
  copy() {
    const copied = new Cache(0);
    copied.layers = this.layers.map((caches) => caches.map((cache) => cache.copy()));
    return copied;
  }
}
