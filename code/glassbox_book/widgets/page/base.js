// What all widgets have in common: waking up what stands in the page, numbers, softmax.
globalThis.glassboxWidgets ??= (() => {
  'use strict';
  const kinds = new Map();

  // The elements are there already, drawn in their first state: a script takes them over.
  const wake = () => {
    for (const root of document.querySelectorAll('.gb-widget:not([data-awake])')) {
      const start = kinds.get(root.dataset.widget);
      if (!start) continue;
      root.dataset.awake = '';
      for (const part of root.querySelectorAll('.gb-controls')) part.hidden = false;
      for (const part of root.querySelectorAll('[disabled]')) part.disabled = false;
      start(root);
    }
  };

  const define = (kind, start) => {
    if (!kinds.has(kind)) kinds.set(kind, start);
    wake();
  };

  // Finds what Python has named.
  const parts = (root, name) => [...root.querySelectorAll(`[data-part="${name}"]`)];
  const part = (root, name) => parts(root, name)[0];

  // As `fixed` of Python writes it: a minus sign, and none before zero.
  const fixed = (number, digits = 2) => {
    const text = Math.abs(number).toFixed(digits);
    return number < 0 && +text > 0 ? `\u2212${text}` : text;
  };

  // A coordinate to a tenth, as `at` of Python writes it.
  const at = (number) => (Math.round(10 * number) / 10 + 0).toFixed(1);
  const path = (points) => `M${points.map((point) => point.map(at).join(' ')).join('L')}`;

  const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  const softmax = (scores) => {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };

  const entropy = (weights) =>
    weights.reduce((sum, weight) => sum - (weight > 0 ? weight * Math.log2(weight) : 0), 0);

  const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);

  return { define, wake, part, parts, fixed, at, path, write, softmax, entropy, dot };
})();
