// The weights of some scores at any temperature.
glassboxWidgets.define('softmax_temperature', (root) => {
  'use strict';
  const { part, fixed, at, write, softmax, entropy } = glassboxWidgets;
  const HIGHEST = 20; // as in Python
  const slider = part(root, 'temperature');
  const plot = root.querySelector('.gb-plot');
  const rows = [...root.querySelectorAll('[data-score]')];
  const scores = rows.map((row) => +row.dataset.score);

  const draw = () => {
    const place = slider.value / slider.max; // from -1 to 1
    const exact = HIGHEST ** place;
    const written = fixed(exact, exact < 1 ? 2 : 1);
    const temperature = +written; // what the reader sees is what is computed with
    const weights = softmax(scores.map((score) => score / temperature));
    const bits = entropy(weights);
    rows.forEach((row, i) => {
      write(part(row, 'scaled'), fixed(scores[i] / temperature));
      write(part(row, 'weight'), fixed(weights[i], 3));
      row.querySelector('.gb-bar span').style.width = `${at(100 * weights[i])}%`;
    });
    write(part(root, 'temperature-shown'), written);
    slider.setAttribute('aria-valuetext', written);
    write(part(root, 'entropy'), fixed(bits));
    write(part(root, 'alike'), fixed(2 ** bits, 1));
    plot.style.setProperty('--at', `${at(50 + 50 * place)}%`);
    plot.style.setProperty('--height', `${at((100 * bits) / Math.log2(scores.length))}%`);
  };
  slider.addEventListener('input', draw);
});
