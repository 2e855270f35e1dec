// From text to token ids and back, as in chapter 2: one form of the text, GPT-2's words, the bytes of
// each, and merges in the order in which they were learned.

// White space as Python's str.split has it.
const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const white = new RegExp(`[${WHITE}]+`, "gu");
const around = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "gu");
const GPT2_PATTERN = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

// A printable character for each of the 256 bytes: itself where it prints, else one from U+0100 on.
const byteAlphabet = Array(256);
let hidden = 0x100;
for (let byte = 0; byte < 256; byte++) {
  const prints = (byte >= 0x21 && byte < 0x7f) || (byte >= 0xa1 && byte !== 0xad);
  byteAlphabet[byte] = String.fromCharCode(prints ? byte : hidden++);
}
const toByte = new Map(byteAlphabet.map((character, byte) => [character, byte]));

// One space, one apostrophe, nothing without width, and Unicode's composed form.
export function plainText(text) {
  const plain = text.replace(/[\u00ad\u200b\u2060\ufeff]/g, "").replace(/\u2019/g, "'");
  return plain.normalize("NFC").replace(white, " ").replace(/^ | $/g, "");
}

// Merges the pair of neighbours that was learned first, again and again.
export function bpeWord(symbols, ranks) {
  symbols = [...symbols];
  for (;;) {
    let first = Infinity, pair;
    for (let i = 1; i < symbols.length; i++) {
      const rank = ranks.get(`${symbols[i - 1]} ${symbols[i]}`) ?? Infinity;
      if (rank < first) [first, pair] = [rank, [symbols[i - 1], symbols[i]]];
    }
    if (!pair) return symbols;
    symbols = symbols.reduce((merged, symbol) => {
      if (merged.at(-1) === pair[0] && symbol === pair[1]) merged[merged.length - 1] = pair.join("");
      else merged.push(symbol);
      return merged;
    }, []);
  }
}

// In whose training text are the tokens at home? (Naive Bayes.)
export class LanguageClassifier {
  constructor(counts) {
    this.counts = counts;
    this.totals = Object.fromEntries(Object.entries(counts).map(([language, each]) => [language, each.reduce((a, b) => a + b) + each.length]));
  }

  // The logarithm of what is proportional to the probability of each language.
  logs(tokenIds) {
    return Object.entries(this.counts).map(([language, counts]) => (
      [language, tokenIds.reduce((sum, id) => sum + Math.log((counts[id] + 1) / this.totals[language]), 0)]
    ));
  }
}

// A text is unfamiliar if a token of it was never in the training text, or if its tokens are shorter
// than this share of those.
const SHORT = 0.6, ENOUGH = 10;

export class TranslationTokenizer {
  constructor({ vocab, merges, counts }) {
    this.vocabulary = new Map(Object.entries(vocab));
    this.tokens = [...this.vocabulary.keys()].sort((a, b) => vocab[a] - vocab[b]);
    const pairs = merges.split("\n").filter((line) => line && !line.startsWith("#version"));
    this.ranks = new Map(pairs.map((pair, rank) => [pair, rank]));
    this.classifier = new LanguageClassifier(counts);
    this.special = new Set(["<pad>", "<s>", "</s>", ...Object.keys(counts).map((language) => `<${language}>`)]);
    this.counts = Object.values(counts).reduce((sum, each) => each.map((count, id) => count + sum[id]), this.tokens.map(() => 0));
    this.tokenLen = this.counts.reduce((sum, count, id) => sum + count * this.tokens[id].length, 0) / this.counts.reduce((a, b) => a + b);
  }

  encodeText(text) {
    const plain = plainText(text);
    const words = (plain && ` ${plain}`).match(GPT2_PATTERN) ?? [];
    const shown = words.map((word) => Array.from(new TextEncoder().encode(word), (byte) => byteAlphabet[byte]));
    return shown.flatMap((symbols) => bpeWord(symbols, this.ranks)).map((token) => this.vocabulary.get(token));
  }

  encodeSource(text, to) {
    return [this.vocabulary.get(`<${to}>`), ...this.encodeText(text), this.vocabulary.get("</s>")];
  }

  // The language of the text is the most probable one; it is translated into the other.
  targetLanguage(text) {
    const logs = this.classifier.logs(this.encodeText(text));
    const spoken = logs.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
    return Object.keys(this.classifier.counts).find((language) => language !== spoken);
  }

  isFamiliar(text) {
    const ids = this.encodeText(text), lengths = ids.map((id) => this.tokens[id].length);
    const long = lengths.length < ENOUGH || lengths.reduce((a, b) => a + b) >= SHORT * this.tokenLen * lengths.length;
    return long && ids.every((id) => this.counts[id]);
  }

  decode(ids) { return this.join(ids.map((id) => this.tokens[id]).filter((token) => !this.special.has(token))).replace(around, ""); }

  // The text of one token, for the eye; half a character is shown as �.
  piece(id) { return this.special.has(this.tokens[id]) ? this.tokens[id] : this.join([this.tokens[id]]); }

  join(tokens) {
    const bytes = Uint8Array.from([...tokens.join("")], (character) => toByte.get(character));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}
