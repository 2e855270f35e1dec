// A language model whose tokens are characters (chapter 10).

import { softmax } from "./attention.js";
import { draw } from "./generation.js";
import { Llama } from "./llama.js";
import { readTensors } from "./safetensors.js";
import { Refusal, toText } from "./translation.js";

// Goes on from a text of any length. When the context is full, the last half of it is read again.
function* continuation(model, tokenIds, { choose, maxNewTokens }) {
  const { context } = model, written = [...tokenIds];
  let unread = tokenIds, cache = model.newCache();
  for (let n = 0; n < maxNewTokens; n++) {
    if (cache.length + unread.length >= context) [unread, cache] = [written.slice(-context / 2), model.newCache()];
    const [logits] = model.logits(model.hidden(unread, cache).slice(-1));
    const token = choose(logits);
    yield { token, logits };
    written.push(token);
    unread = [token];
  }
}

export class CharacterModel {
  constructor(model, characters) { Object.assign(this, { model, characters: [...characters] }); }

  // `read` fetches a file of the model's folder by its name, as bytes.
  static async load(read) {
    const [config, alphabet, weights] = await Promise.all(["config.json", "language_model.json", "model.safetensors"].map(read));
    const { characters } = JSON.parse(toText(alphabet));
    return new CharacterModel(new Llama(JSON.parse(toText(config)), readTensors(weights)), characters);
  }

  encode(text) {
    if (!text) throw new Refusal("There is nothing to continue yet: type at least one character.");
    return Array.from(text, (character) => {
      const id = this.characters.indexOf(character);
      if (id < 0) throw new Refusal(`This model knows ${this.characters.length} characters, and “${character}” is not one of them: it was trained on letters without accents and a few other characters.`);
      return id;
    });
  }

  probabilities(logits, temperature = 1) {
    return softmax(Float64Array.from(logits, (logit) => logit / temperature));
  }

  // Characters drawn one after another, and the logits of the one that would follow.
  write(text, { length, temperature = 1, random = Math.random, onCharacter = () => {} }) {
    const choose = (logits) => draw(this.probabilities(logits, temperature), random());
    let written = "", next;
    for (const { token, logits } of continuation(this.model, this.encode(text), { choose, maxNewTokens: length + 1 })) {
      next = logits;
      if ([...written].length === length) break;
      written += this.characters[token];
      onCharacter(this.characters[token]);
    }
    return { text: text + written, logits: next };
  }
}
