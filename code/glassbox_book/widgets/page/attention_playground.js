// The attention of a few tokens, computed anew with every number that changes.
glassboxWidgets.define('attention_playground', (root) => {
  'use strict';
  const { part, parts, fixed, at, path, write, softmax, dot } = glassboxWidgets;
  const [HALF, BARB, TURN] = [150, 9, 0.7]; // as in Python
  const form = root.querySelector('form');
  const choices = [...form.querySelectorAll('[name="asking"]')];
  const names = choices.map((choice) => choice.parentElement.textContent.trim());
  const alone = parts(root, 'vector').length > 0; // one vector of a token is all three
  const kinds = alone ? ['vector'] : ['query', 'key', 'value'];
  const inputs = Object.fromEntries(kinds.map((kind) => [kind, parts(root, kind)]));
  const vectors = Object.fromEntries(kinds.map((kind) => [kind, names.map(() => [0, 0])]));
  const asking = () => choices.findIndex((choice) => choice.checked);

  // What cannot be understood leaves the number as it was, and both are named.
  const read = () => {
    let fault = '';
    for (const kind of kinds) {
      inputs[kind].forEach((input, i) => {
        const number = input.valueAsNumber;
        const good = number >= +input.min && number <= +input.max;
        const [vector, c] = [vectors[kind][i >> 1], i & 1];
        const axis = input.ariaLabel.split(', ').at(-1);
        input.setAttribute('aria-invalid', !good);
        if (good) vector[c] = number;
        else
          fault =
            `In the ${kind} of ${names[i >> 1]}, ${axis} must be between ${fixed(+input.min, 0)} ` +
            `and ${input.max}. Until it is, ${fixed(vector[c])} is used. `;
      });
    }
    return fault;
  };

  const compute = () => {
    const { vector, query = vector, key = vector, value = vector } = vectors;
    const product = query.map((q) => key.map((k) => dot(q, k)));
    const score = product.map((row) => row.map((number) => number / (alone ? 1 : Math.SQRT2)));
    const weight = score.map(softmax);
    const context = weight.map((row) => [0, 1].map((c) => dot(row, value.map((v) => v[c]))));
    return { product, score, weight, context };
  };

  const fill = (found) => {
    for (const [kind, rows] of Object.entries(found)) {
      const cells = parts(root, kind);
      if (!cells.length) continue;
      rows.flat().forEach((number, i) => {
        write(cells[i], fixed(number));
        if (kind === 'weight') cells[i].style.setProperty('--weight', fixed(number));
      });
    }
    for (const row of root.querySelectorAll('.gb-steps tbody tr')) {
      row.toggleAttribute('data-asking', row.sectionRowIndex === asking());
    }
  };

  const say = (fault, { weight, context }) => {
    const gives = weight[asking()].map(
      (number, i) => `${fixed(number)} to ${i === asking() ? 'itself' : names[i]}`,
    );
    const takes = context[asking()].map((number) => fixed(number)).join(', ');
    write(
      part(root, 'said'),
      `${fault}${names[asking()]} gives ${gives.slice(0, -1).join(', ')} and ${gives.at(-1)}, ` +
        `and its context is (${takes}).`,
    );
  };

  // A plane: what `planes.py` draws, element by element.
  const planeOf = (name) => {
    const svg = part(root, name);
    const axes = [...svg.querySelectorAll('.gb-name')].map((text) => text.textContent);
    let extent = +svg.dataset.extent;
    let drawn = [];
    const place = ([x, y]) => [(HALF * x) / extent, (-HALF * y) / extent];
    const add = (tag, attributes, text = '') => {
      const element = document.createElementNS(svg.namespaceURI, tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.textContent = text;
      drawn.push(element);
    };
    const arrow = (vector, kind) => {
      const [x, y] = place(vector);
      const length = Math.hypot(x, y);
      if (length < 4) return add('circle', { class: `${kind} gb-dot`, r: 4 });
      const [back, aside] = [BARB / length, BARB / length / 2];
      const [left, right] = [1, -1].map((side) => [
        x - back * x - side * aside * y,
        y - back * y + side * aside * x,
      ]);
      add('path', { class: kind, d: path([[0, 0], [x, y]]) + path([left, [x, y], right]) });
    };
    const labels = (list, who, kind, turn) => {
      const spots = new Map();
      list.forEach((vector, i) => {
        const spot = place(vector).map(at).join(' ');
        spots.set(spot, [...(spots.get(spot) ?? []), who[i]]);
      });
      for (const [spot, found] of spots) {
        const [x, y] = spot.split(' ').map(Number);
        const angle = (Math.hypot(x, y) >= 4 ? Math.atan2(y, x) : 0.8) + turn;
        const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
        const anchor = dx > 0.36 ? 'start' : dx < -0.36 ? 'end' : 'middle';
        const where = { x: at(x + 12 * dx), y: at(y + 14 * dy + 4) };
        add('text', { class: kind, ...where, 'text-anchor': anchor }, found.join(', '));
      }
    };
    const handle = (vector, kind, row) => {
      const [cx, cy] = place(vector).map(at);
      add('circle', { class: 'gb-handle', cx, cy, r: 14, 'data-name': kind, 'data-row': row });
    };
    const begin = () => {
      drawn = [];
      const places = [];
      for (let n = -extent; n <= extent; n += 1) if (n) places.push(at((HALF * n) / extent));
      const grid = places.map((x) => `M${x} ${-HALF}V${HALF}M${-HALF} ${x}H${HALF}`).join('');
      add('path', { class: 'gb-grid', d: grid });
      add('path', { class: 'gb-axis', d: `M0 ${-HALF}V${HALF}M${-HALF} 0H${HALF}` });
      ['', 'rotate(-90)'].forEach((transform, i) => {
        const y = transform ? -HALF - 6 : HALF + 15;
        add('text', { class: 'gb-name', x: 0, y, 'text-anchor': 'middle', transform }, axes[i]);
      });
    };
    const reach = (...lists) => {
      const largest = Math.max(...lists.flat(2).map(Math.abs));
      extent = Math.max(2, Math.ceil(1.15 * largest));
      svg.dataset.extent = extent;
    };
    const end = () => svg.replaceChildren(...drawn);
    return { svg, place, add, arrow, labels, handle, begin, reach, end, extent: () => extent };
  };
  const meeting = alone ? null : planeOf('meeting');
  const mixing = planeOf('mixing');

  const meet = ({ query, key }) => {
    const { place, add, arrow, labels, handle, extent } = meeting;
    const asks = query[asking()];
    const square = dot(asks, asks);
    const along = (share) => place(asks.map((number) => number * share));
    meeting.begin();
    if (square) {
      const far = extent() / Math.max(...asks.map(Math.abs));
      add('path', { class: 'gb-along', d: path([along(-far), along(far)]) });
      for (const k of key) {
        add('path', { class: 'gb-shadow', d: path([place(k), along(dot(asks, k) / square)]) });
      }
    }
    query.forEach((q, i) => i !== asking() && arrow(q, 'gb-query gb-faint'));
    arrow(asks, 'gb-query');
    for (const k of key) arrow(k, 'gb-key');
    labels(key, names, 'gb-key', TURN);
    labels([asks], [names[asking()]], 'gb-query', -TURN);
    handle(asks, 'query', asking());
    key.forEach((k, i) => handle(k, 'key', i));
    meeting.end();
  };

  const mix = ({ vector, value = vector }, { weight, context }) => {
    const { place, add, arrow, labels, handle } = mixing;
    const others = names.map((_, i) => i).filter((i) => i !== asking());
    mixing.begin();
    value.forEach((a, i) =>
      value.slice(i + 1).forEach((b, j) =>
        value.slice(i + j + 2).forEach((c) => {
          add('path', { class: 'gb-hull', d: `${path([a, b, c].map(place))}Z` });
        }),
      ),
    );
    value.forEach((v, i) => {
      const line = path([place(context[asking()]), place(v)]);
      const style = `stroke-width:${at(12 * weight[asking()][i])}px`;
      add('path', { class: 'gb-pull', d: line, style });
    });
    for (const v of value) arrow(v, 'gb-value');
    for (const i of [...others, asking()]) {
      const [cx, cy] = place(context[i]).map(at);
      const kind = i === asking() ? 'gb-context' : 'gb-context gb-faint';
      add('circle', { class: kind, cx, cy, r: i === asking() ? 6 : 4 });
    }
    labels(value, names, 'gb-value', TURN);
    value.forEach((v, i) => handle(v, kinds.at(-1), i));
    mixing.end();
  };

  // While an arrow is dragged the planes stay as they are.
  const draw = (settled = true) => {
    const fault = read();
    const found = compute();
    if (settled) {
      meeting?.reach(vectors.query, vectors.key);
      mixing.reach(vectors[kinds.at(-1)]);
    }
    fill(found);
    say(fault, found);
    if (meeting) meet(vectors);
    mix(vectors, found);
  };

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => draw());
  part(root, 'reset').addEventListener('click', () => {
    form.reset();
    draw();
  });

  for (const { svg, extent } of [meeting, mixing].filter(Boolean)) {
    let held = null;
    const move = (event) => {
      const toPlane = svg.getScreenCTM().inverse();
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPlane);
      [point.x, -point.y].forEach((where, c) => {
        const input = inputs[held.kind][2 * held.row + c];
        const most = Math.min(extent(), input.max);
        const number = Math.max(-most, Math.min(most, (extent() * where) / HALF));
        input.value = Math.round(10 * number) / 10 + 0;
      });
      draw(false);
    };
    svg.addEventListener('pointerdown', (event) => {
      const { name, row } = event.target.dataset;
      if (!name || event.button) return;
      held = { kind: name, row: +row };
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    // A finger on a handle drags it; beside one, it scrolls the page. Browsers heed `touch-action` on
    // a whole drawing alone.
    svg.addEventListener('touchstart', (event) => {
      if (event.target.dataset.name) event.preventDefault();
    }, { passive: false });
    svg.addEventListener('pointermove', (event) => held && move(event));
    for (const end of ['pointerup', 'pointercancel']) {
      svg.addEventListener(end, () => {
        if (!held) return;
        held = null;
        draw();
      });
    }
  }
  read();
});
