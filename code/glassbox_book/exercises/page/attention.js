// What the book's attention refuses, and how: a page needs this for the exercises that use it.
glassboxPage.checkInputs = (query, key, value, mask) => {
  const { Tensor, Tuple, fail, kind, show } = glassboxPage;
  const tuple = (sizes) => show(Tuple.from(sizes)), refuse = (why) => fail('ValueError', why);
  const [q, k, v] = [query, key, value].map(({ shape }) => shape), [width, depth] = [q, k].map((shape) => shape.at(-1));
  const shown = `query ${tuple(q)}, key ${tuple(k)}, value ${tuple(v)}; expected (..., q_len, d_k), (..., k_len, d_k), (..., k_len, d_v)`;
  const ahead = (shape) => shape.slice(0, -2).join();
  if (Math.min(q.length, k.length, v.length) < 2) refuse(`each input needs a length and a width: ${shown}`);
  if (k.at(-2) !== v.at(-2)) refuse(`keys and values come in pairs, but there are ${k.at(-2)} keys and ${v.at(-2)} values: ${shown}`);
  if (ahead(q) !== ahead(k) || ahead(k) !== ahead(v)) refuse(`the axes before the last two differ: ${shown}`);
  if (mask !== null) {
    if (mask.dtype !== 'bool') {
      const given = mask instanceof Tensor ? `torch.${mask.dtype}` : `of type ${kind(mask)}`;
      fail('TypeError', `mask is ${given}; expected torch.bool, True where a query may attend to a key. Turn a mask of ones and zeros into one with mask.bool(), and one of 0 and -inf with mask == 0`);
    }
    const scores = [...q.slice(0, -1), k.at(-2)], missing = scores.length - mask.shape.length;
    if (missing < 0 || mask.shape.some((size, d) => size !== 1 && size !== scores[d + missing])) {
      const axes = { 3: ['batch', 'q_len', 'k_len'], 4: ['batch', 'n_heads', 'q_len', 'k_len'] }[scores.length] ?? [];
      const remedies = ['k_len', 'batch, k_len', 'q_len, k_len', 'batch, q_len, k_len', 'n_heads, q_len, k_len'].map((names) => {
        const kept = names.split(', ');
        if (kept.length >= axes.length || kept.map((axis) => scores[axes.indexOf(axis)]).join() !== mask.shape.join()) return '';
        return `. If these are (${names}): mask[${axes.map((axis) => (kept.includes(axis) ? ':' : 'None')).join(', ')}]`;
      });
      refuse(`mask has shape ${tuple(mask.shape)}, which does not broadcast to the scores' shape ${tuple(scores)}, (..., q_len, k_len)${remedies.join('')}`);
    }
  }
  if (width !== depth) refuse(`a query of width ${width} has no dot product with a key of width ${depth}: project both to one width d_k first`);
};
