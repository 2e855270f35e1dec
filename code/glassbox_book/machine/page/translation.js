// A Transformer that translates: from text to text, with every number on the way.

import { beamSearch } from "./beam_search.js";
import { NOTHING } from "./draw.js";
import { logSoftmax, stream } from "./generation.js";
import { Tape, record, withoutHeads } from "./looking.js";
import { readTensors } from "./safetensors.js";
import { TranslationTokenizer } from "./tokenization.js";
import { Transformer } from "./transformer.js";

// The page shows every map of a sentence, so it takes sentences and no chapters.
export const LONGEST = 64;

export const toText = (bytes) => new TextDecoder().decode(bytes);

// What a reader is told; anything else that is thrown is a mistake of ours.
export class Refusal extends Error {}

export class Translator {
  constructor(model, tokenizer) { Object.assign(this, { model, tokenizer }); }

  // `read` fetches a file of the model's folder by its name, as bytes.
  static async load(read) {
    const [tokenizer, config, weights] = await Promise.all([
      Translator.loadTokenizer(read), read("config.json"), read("model.safetensors"),
    ]);
    return new Translator(new Transformer(JSON.parse(toText(config)), readTensors(weights)), tokenizer);
  }

  static async loadTokenizer(read) {
    const names = ["vocab.json", "merges.txt", "token_counts.json"];
    const [vocab, merges, counts] = (await Promise.all(names.map(read))).map(toText);
    return new TranslationTokenizer({ vocab: JSON.parse(vocab), merges, counts: JSON.parse(counts) });
  }

  encode(text, to = null, longest = LONGEST) {
    if (!text.isWellFormed()) throw new Refusal("This text contains half a character (an unpaired surrogate): type it again.");
    if (!this.tokenizer.encodeText(text).length) throw new Refusal(NOTHING);
    const ids = this.tokenizer.encodeSource(text, to ?? this.tokenizer.targetLanguage(text));
    if (ids.length > longest) throw new Refusal(`This text has ${ids.length} tokens, and the page takes ${longest} at most: type a single sentence.`);
    return ids;
  }

  // How many tokens are written at most, as in the package.
  room(length) { return 16 * Math.ceil(length / 8) + 10; }

  // Writes a translation and records every number. `prompt` are tokens that the reader chose, `off`
  // heads that are switched off, and `onToken` is told about each token as it is written.
  translate(text, { to = null, prompt = [], off = [], beams = 1, longest, onToken = () => {} } = {}) {
    const source = this.encode(text, to, longest);
    const maxNewTokens = this.room(source.length);
    const tape = new Tape(), target = [], logits = [];
    withoutHeads(this.model, off, () => {
      const chosen = beams > 1 ? beamSearch(this.model, source, { maxNewTokens, nBeams: beams })[0].tokens : null;
      const options = chosen ? { maxNewTokens: 0, prompt: chosen } : { maxNewTokens, prompt };
      record(tape, () => {
        for (const step of stream(this.model, source, options)) {
          target.push(step.token);
          logits.push(step.logits);
          onToken(step);
        }
      });
    });
    return { source, target, logits, tape, text: this.tokenizer.decode(target) };
  }

  // The most probable next tokens, with their probabilities.
  likely(logits, n = 8) {
    const logs = logSoftmax(logits);
    const order = [...logs.keys()].sort((one, other) => logs[other] - logs[one]).slice(0, n);
    return order.map((id) => ({ id, probability: Math.exp(logs[id]) }));
  }
}
