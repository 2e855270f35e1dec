// The sinusoidal encoding of any position, and of one that is shifted from it.
glassboxWidgets.define('positional_encoding', (root) => {
  'use strict';
  const { part, parts, fixed, at, path, write, dot } = glassboxWidgets;
  const [WIDTH, WAVE, CURVE, DIAL] = [640, 50, 100, 40]; // as in Python
  const { dModel, base, positions, low } = part(root, 'numbers').dataset;
  const pairs = dModel / 2;
  const last = positions - 1;
  const floor = Math.min(low, 0);
  const sliders = ['position', 'shift'].map((name) => part(root, name));
  const [waves, dials, products] = ['waves', 'dials', 'products'].map((name) => part(root, name));
  const find = (place, selector) => [...place.querySelectorAll(selector)];
  const bars = find(waves, 'rect');
  const lines = find(waves, '.gb-there');
  const hands = ['.gb-here', '.gb-there'].map((kind) => find(dials, kind));
  const dots = ['.gb-here', '.gb-there'].map((kind) => products.querySelector(kind));
  const cells = parts(root, 'component');

  const encode = (position) =>
    Array.from({ length: +dModel }, (_, i) => {
      const angle = position / base ** ((i >> 1) / pairs);
      return i & 1 ? Math.cos(angle) : Math.sin(angle);
    });

  const draw = () => {
    const [position, shift] = sliders.map((slider) => +slider.value);
    const chosen = [position, position + shift];
    const [here, there] = chosen.map(encode);
    const step = WIDTH / pairs;
    bars.forEach((bar, i) => {
      bar.setAttribute('y', at(WAVE - WAVE * Math.max(here[i], 0)));
      bar.setAttribute('height', at(Math.abs(WAVE * here[i])));
      const [x, width] = [bar.getAttribute('x'), bar.getAttribute('width')];
      lines[i].setAttribute('d', `M${x} ${at(WAVE - WAVE * there[i])}h${width}`);
    });
    const radius = Math.min(DIAL / 2 - 1, 0.42 * step);
    [here, there].forEach((vector, which) =>
      hands[which].forEach((hand, i) => {
        const x = step * (i + 0.5);
        const tip = [x + radius * vector[2 * i], DIAL / 2 - radius * vector[2 * i + 1]];
        hand.setAttribute('d', path([[x, DIAL / 2], tip]));
      }),
    );

    const heights = Array.from(
      { length: +positions },
      (_, other) => 1 - (dot(here, encode(other)) / pairs - floor) / (1 - floor),
    );
    const points = heights.map((height, other) => [(WIDTH * other) / last, CURVE * height]);
    products.querySelector('.gb-line').setAttribute('d', path(points));
    dots.forEach((mark, which) => {
      const other = chosen[which];
      mark.hidden = other > last;
      if (mark.hidden) return;
      mark.style.left = `${at((100 * other) / last)}%`;
      mark.style.top = `${at(100 * heights[other])}%`;
    });

    [here, there].forEach((vector, which) =>
      vector.forEach((number, i) => write(cells[4 * (i >> 1) + 2 * which + (i & 1)], fixed(number))),
    );
    for (const slider of sliders) {
      slider.setAttribute('aria-valuetext', slider.value);
      write(part(root, `${slider.dataset.part}-shown`), slider.value);
    }
    write(
      part(root, 'said'),
      `Positions ${chosen.join(' and ')}: dot product ${fixed(dot(here, there))} ` +
        `of at most ${pairs}, as for any two positions ${shift} apart.` +
        (chosen[1] > last ? ` The curve ends before position ${chosen[1]}.` : ''),
    );
  };
  for (const slider of sliders) slider.addEventListener('input', draw);
});
