// Fills the blanks of a text with a BERT.

import { softmax } from "./attention.js";
import { BertForMaskedLM } from "./bert.js";
import { readTensors } from "./safetensors.js";
import { Refusal, toText } from "./translation.js";
import { WordPiece } from "./wordpiece.js";

export class FillMask {
  constructor(model, tokenizer) { Object.assign(this, { model, tokenizer, maskId: tokenizer.vocabulary.get("[MASK]") }); }

  // `read` fetches a file of the model's folder by its name, as bytes.
  static async load(read) {
    const [config, vocabulary, weights] = await Promise.all(["config.json", "vocab.txt", "model.safetensors"].map(read));
    const tokenizer = new WordPiece(toText(vocabulary).trimEnd().split("\n"));
    return new FillMask(new BertForMaskedLM(JSON.parse(toText(config)), readTensors(weights)), tokenizer);
  }

  // Three underscores are a blank, too.
  encode(text) {
    const tokenIds = this.tokenizer.encode(text.replace(/_{2,}/g, " [MASK] "));
    if (tokenIds.length < 3) throw new Refusal("There is nothing to read yet: type a sentence.");
    if (tokenIds.length > this.model.maxLen) {
      throw new Refusal(`This sentence has ${tokenIds.length - 2} pieces, and this model reads ${this.model.maxLen - 2} at most: try a shorter one.`);
    }
    return tokenIds;
  }

  // The probability of each word piece in each blank, by the blank's position.
  fill(tokenIds) {
    const blanks = [...tokenIds.keys()].filter((i) => tokenIds[i] === this.maskId);
    const hidden = this.model.hidden(tokenIds);
    const logits = this.model.logits(blanks.map((i) => hidden[i]));
    return new Map(blanks.map((i, n) => [i, softmax(logits[n])]));
  }
}
