// A query and a key that rotary positions turn, pair by pair.
glassboxWidgets.define('rotary_arrows', (root) => {
  'use strict';
  const { part, parts, fixed, at, path, write } = glassboxWidgets;
  const [RADIUS, BARB, CURVE] = [50, 9, 100]; // as in Python
  const data = part(root, 'numbers').dataset;
  const [query, key] = [JSON.parse(data.query), JSON.parse(data.key)];
  const speeds = query.filter((_, i) => i % 2).map((_, i) => data.base ** ((-2 * i) / query.length));
  const [low, high, last] = [+data.low, +data.high, +data.last];
  const sliders = ['position', 'distance'].map((name) => part(root, name));
  const [arrows, shares] = ['arrow', 'share'].map((name) => parts(root, name));
  const mark = part(root, 'products').querySelector('.gb-dot');
  const longest =
    Math.max(...[query, key].flatMap((x) => speeds.map((_, i) => Math.hypot(x[2 * i], x[2 * i + 1])))) || 1;

  const turned = (vector, i, angle) => {
    const [a, b, c, s] = [vector[2 * i], vector[2 * i + 1], Math.cos(angle), Math.sin(angle)];
    return [a * c - b * s, b * c + a * s];
  };
  const head = (x, y) => {
    const length = Math.hypot(x, y) || 1;
    const [back, aside] = [BARB / length, BARB / length / 2];
    const [one, two] = [1, -1].map((side) => [
      x - back * x - side * aside * y,
      y - back * y + side * aside * x,
    ]);
    return path([[0, 0], [x, y]]) + path([one, [x, y], two]);
  };

  const draw = () => {
    const [position, distance] = sliders.map((slider) => +slider.value);
    let score = 0;
    speeds.forEach((speed, i) => {
      [query, key].forEach((vector, which) => {
        const [a, b] = turned(vector, i, (position + (which ? 0 : distance)) * speed);
        arrows[2 * i + which].setAttribute('d', head((RADIUS * a) / longest, (-RADIUS * b) / longest));
      });
      const [a, b] = turned(query, i, distance * speed);
      const share = a * key[2 * i] + b * key[2 * i + 1];
      score += share;
      write(shares[i], fixed(share));
    });
    mark.style.left = `${at((100 * distance) / last)}%`;
    mark.style.top = `${at((CURVE * (high - score)) / (high - low))}%`;
    for (const slider of sliders) {
      slider.setAttribute('aria-valuetext', slider.value);
      write(part(root, `${slider.dataset.part}-shown`), slider.value);
    }
    write(
      part(root, 'said'),
      `Key at ${position}, query at ${position + distance}: score ${fixed(score)}, ` +
        `as wherever the query is ${distance} after the key.`,
    );
  };
  for (const slider of sliders) slider.addEventListener('input', draw);
});
