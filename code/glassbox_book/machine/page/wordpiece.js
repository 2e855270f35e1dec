// From text to BERT's word pieces, as in chapter 2: cleaned, in small letters, cut at white space and
// punctuation, and each word cut into the longest pieces that the vocabulary has.

const CONTROL = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu;
const CHINESE = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const PUNCTUATION = "\\p{P}!-\\/:-@\\[-`\\{-~";
const WORDS = new RegExp(`[${PUNCTUATION}]|[^\\s${PUNCTUATION}]+`, "gu");
const LONGEST_WORD = 100;

export function normalizeBert(text) {
  const spaced = text.replace(CONTROL, "").replace(CHINESE, " $& ");
  // A capital sigma is looked at alone, so it never takes its form at the end of a word.
  return spaced.normalize("NFD").replace(/\p{Mn}/gu, "").replace(/\u03a3/g, "\u03c3").toLowerCase();
}

export const splitBert = (text) => text.match(WORDS) ?? [];

// The longest piece that fits, from left to right; null if at some point none does.
export function longestMatchFirst(word, vocabulary) {
  const characters = [...word], pieces = [];
  for (let start = 0, end; start < characters.length; start = end) {
    const piece = (end) => (start ? "##" : "") + characters.slice(start, end).join("");
    for (end = characters.length; end > start && !vocabulary.has(piece(end));) end--;
    if (end === start) return null;
    pieces.push(piece(end));
  }
  return pieces;
}

export class WordPiece {
  constructor(tokens) {
    this.tokens = tokens;
    this.vocabulary = new Map(tokens.map((token, id) => [token, id]));
  }

  // Special tokens written in the text are themselves.
  tokenize(text) {
    return text.split(/(\[(?:PAD|UNK|CLS|SEP|MASK)\])/).flatMap((section, i) => (
      i % 2 ? [section] : splitBert(normalizeBert(section)).flatMap((word) => (
        ([...word].length <= LONGEST_WORD && longestMatchFirst(word, this.vocabulary)) || ["[UNK]"]
      ))
    ));
  }

  encode(text) { return ["[CLS]", ...this.tokenize(text), "[SEP]"].map((token) => this.vocabulary.get(token)); }
}
