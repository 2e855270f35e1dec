// Byte-pair encoding of the reader's text by the first merges of a vocabulary.
glassboxWidgets.define('vocabulary_slider', (root) => {
  'use strict';
  const { part, write } = glassboxWidgets;
  const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  const merges = JSON.parse(root.querySelector('script[type="application/json"]').textContent).split('\n');
  const ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  const [text, slider, tokens] = ['text', 'merges', 'tokens'].map((name) => part(root, name));

  // A printable character for each byte, as in Python's byte_alphabet.
  const alphabet = [];
  let hidden = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const prints = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    alphabet.push(String.fromCharCode(prints ? byte : hidden++));
  }
  const bytes = new Map(alphabet.map((character, byte) => [character, byte]));

  const cut = (word, used) => {
    const symbols = Array.from(new TextEncoder().encode(word), (byte) => alphabet[byte]);
    for (;;) {
      let first = used, pair;
      for (let i = 1; i < symbols.length; i++) {
        const rank = ranks.get(`${symbols[i - 1]} ${symbols[i]}`) ?? Infinity;
        if (rank < first) [first, pair] = [rank, merges[rank]];
      }
      if (!pair) return symbols;
      for (let i = 1; i < symbols.length; i++) {
        if (`${symbols[i - 1]} ${symbols[i]}` === pair) symbols.splice(i - 1, 2, symbols[i - 1] + symbols[i]);
      }
    }
  };

  const drawn = (token) => {
    const raw = Uint8Array.from(token, (character) => bytes.get(character));
    try {
      const shown = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
      const safe = shown.replace(/[\0-\x1f\x7f]/g, (c) => String.fromCharCode(c === '\x7f' ? 0x2421 : 0x2400 + c.charCodeAt(0)));
      return safe.replace(/^\p{Zs}+|\p{Zs}+$/gu, (spaces) => '\u2423'.repeat(spaces.length));
    } catch {
      return `\u27e8${Array.from(raw, (byte) => byte.toString(16).padStart(2, '0')).join(' ')}\u27e9`;
    }
  };

  const draw = () => {
    const scaled = Math.round((merges.length + 1) ** (slider.value / slider.max)) - 1;
    const used = Math.max(scaled, Math.min(slider.value, merges.length));  // each step adds one at least
    const words = text.value ? ` ${text.value}`.match(WORDS) : [];
    const found = words.flatMap((word) => cut(word, used)).map(drawn);
    tokens.replaceChildren(...found.flatMap((token) => {
      const chip = document.createElement('code');
      chip.className = 'gb-token';
      chip.append(document.createElement('bdi'));
      chip.firstChild.textContent = token;
      return [chip, ' '];
    }));
    const shown = used.toLocaleString('en-US');
    write(part(root, 'merges-shown'), shown);
    slider.setAttribute('aria-valuetext', shown);
    write(part(root, 'count'), String(found.length));
    write(part(root, 'size'), (256 + used).toLocaleString('en-US'));
  };
  slider.addEventListener('input', draw);
  text.addEventListener('input', draw);
});
