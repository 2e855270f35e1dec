// Gives what bertviz draws roles, names and a keyboard, and fits text that is too long.

const ELLIPSIS = '…';
const characters = (text) =>
  'Segmenter' in Intl ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment) : [...text];

const fire = (target, type) =>
  target.dispatchEvent(
    new MouseEvent(type, { bubbles: type !== 'mouseleave', cancelable: true, view: window }),
  );

// Shortens a text that is wider than its column; the whole of it is one hover away.
const shorten = (text, width) => {
  if (text.getComputedTextLength() <= width) return;
  const whole = text.textContent;
  const parts = characters(whole);
  let [fits, tooLong] = [0, parts.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    text.textContent = parts.slice(0, middle).join('') + ELLIPSIS;
    if (text.getComputedTextLength() <= width) fits = middle;
    else tooLong = middle;
  }
  text.textContent = parts.slice(0, fits).join('') + ELLIPSIS;
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  title.textContent = whole;
  text.parentNode.append(title);
};

const operable = (target, role, label, states = {}) => {
  target.setAttribute('role', role);
  target.setAttribute('aria-label', label);
  for (const [name, value] of Object.entries(states)) target.setAttribute(`aria-${name}`, value);
};

const onKeys = (target, keys, act) =>
  target.addEventListener('keydown', (event) => {
    if (!keys.includes(event.key)) return;
    event.preventDefault();
    act(event);
  });

// One stop of the Tab key for many things; the arrow keys move among them.
const rove = (targets, columns) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const last = targets.length - 1;
  targets.forEach((target, index) => {
    target.setAttribute('tabindex', index ? -1 : 0);
    target.addEventListener('focus', () => {
      targets.forEach((other) => other.setAttribute('tabindex', other === target ? 0 : -1));
    });
    onKeys(target, [...Object.keys(step), 'Home', 'End'], ({ key }) => {
      const next = key === 'Home' ? 0 : key === 'End' ? last : index + step[key];
      targets[next]?.focus();
    });
  });
};

// Tokens: focus does what hovering does, and holds while the pointer goes elsewhere.
// `column` is a list of {group, side, index}; `leaves` gives the element bertviz watches for leaving,
// and `kept` the number of the token that is shown while none is pointed at, if there is one.
const operateTokens = (panel, column, leaves, tell, kept = () => -1) => {
  const texts = column.map(({ group }) => group.querySelector('text'));
  column.forEach(({ group, side, index }, position) => {
    const text = texts[position];
    const name = (side === 'query' ? data.left : data.right)[index];
    operable(text, 'button', `${side} ${index}: ${name}`);
    text.addEventListener('focus', () => {
      state.held = { side, index };
      fire(text, 'mouseover');
    });
    text.addEventListener('blur', ({ relatedTarget }) => {
      if (relatedTarget?.name === 'shown') return; // the same token of the other model comes next
      state.held = null;
      fire(leaves(group), 'mouseleave');
    });
    onKeys(text, ['Escape'], () => text.blur());
    onKeys(text, ['Enter', ' '], () => {
      const icon = group.querySelector('.icon');
      if (icon && !differs(panel)) fire(icon, 'click');
      else fire(text, 'mouseover');
    });
    group.addEventListener('mouseover', () => tell('over', panel, side, index));
    group.addEventListener('click', () => text.focus());
  });
  new Set(column.map(({ group }) => leaves(group))).forEach((place) =>
    place.addEventListener('mouseleave', () => {
      const held = texts[state.held?.side === column[0].side ? state.held.index : kept()];
      if (held) fire(held, 'mouseover');
      else tell('out', panel);
    }),
  );
  rove(texts, 1);
};

const tokenGroups = (panel, selector, side) =>
  [...panel.root.querySelectorAll(selector)].map((group, index) => ({ group, side, index }));

const shortenAll = (panel, selector, width) =>
  panel.root.querySelectorAll(selector).forEach((text) => shorten(text, width));

// What the columns are, above them.
const label = (svg, names, y, left, right, [query, key]) => {
  const group = d3.select(svg).append('g').attr('class', names);
  const write = (side, said) => group.append('text').attr('class', side).attr('y', y).text(said);
  const width = (text) => text.node().getComputedTextLength();
  const [asks, seen] = [write('query', query), write('key', key)];
  asks.attr('x', Math.max(0, left - width(asks)));
  seen.attr('x', Math.min(right, right + ROOM - width(seen))); // what is too long begins further left
};
const ROOM = 100; // for what is said above a column

const adaptHead = (panel, tell) => {
  const svg = panel.root.querySelector('svg');
  const squares = [...svg.lastElementChild.children];
  svg.prepend(svg.lastElementChild); // they stand above the tokens, and come before them
  for (const [id, side] of [['left', 'query'], ['right', 'key']]) {
    const column = tokenGroups(panel, `#${id} > g:not(.attentionBoxes) > g`, side);
    operateTokens(panel, column, (group) => group.closest(`#${id}`), tell);
  }
  shortenAll(panel, '#left text, #right text', 96);
  panel.squares = squares;
  const numbers = d3.select(svg).append('g').attr('class', 'numbers').attr('aria-hidden', true);
  squares.forEach((square, head) => {
    const x = (head % data.squares) * 25;
    const y = data.size[4] + Math.floor(head / data.squares) * 25;
    d3.select(square).attr('x', x).attr('y', y).attr('width', 25).attr('height', 25).attr('rx', 4);
    numbers.append('text').attr('x', x + 12.5).attr('y', y + 17).text(head);
    operable(square, 'checkbox', `Head ${head}`);
    square.addEventListener('click', () => tell('square', panel, head, 'click'));
    square.addEventListener('dblclick', () => tell('square', panel, head, 'dblclick'));
    onKeys(square, ['Enter', ' '], ({ shiftKey }) => fire(square, shiftKey ? 'dblclick' : 'click'));
  });
  rove(squares, data.squares);
  label(svg, 'labels', 20, 102.5, 232.5, SIDES);
  markSquares(panel);
};

// bertviz keeps to itself which heads are on; it lightens the colour of those that are off.
const markSquares = (panel) => {
  const numbers = panel.root.querySelectorAll('.numbers text');
  const colors = headColors();
  state.heads = [];
  panel.squares.forEach((square, head) => {
    const color = colors[head % 10];
    const on = square.getAttribute('fill') === color;
    if (on) state.heads.push(head);
    square.setAttribute('aria-checked', on);
    const { r, g, b } = d3.rgb(color);
    const [red, green, blue] = [r, g, b].map((c) =>
      c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4,
    );
    const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    numbers[head].setAttribute('class', on ? (luminance > 0.179 ? 'on-light' : 'on-dark') : 'off');
  });
  const alone = state.heads.length === 1;
  panel.root.classList.toggle('lone', alone);
  if (alone) [state.alone] = state.heads;
  const button = panel.controls.querySelector('.alone');
  button.textContent = alone ? 'Show all heads' : `Show head ${state.alone ?? state.heads[0]} alone`;
  button.hidden = panel.squares.length === 1;
};

const adaptNeuron = (panel, tell) => {
  for (const part of ['collapsed', 'expanded']) {
    const column = tokenGroups(panel, `#${part} #leftText > g`, 'query');
    column.forEach(({ group }) => {
      const icon = group.lastElementChild; // a transparent square over the plus or minus sign
      icon.classList.add('icon');
      icon.setAttribute('aria-hidden', 'true'); // the button above does the same, with a name
      icon.addEventListener('click', () => tell('expand', panel, part === 'collapsed'));
    });
    const kept = () => (part === 'expanded' && state.expanded ? state.query : -1);
    operateTokens(panel, column, (group) => group, tell, kept);
    column.forEach(({ group }) => operateIcon(group, part));
  }
  nameScores(panel);
  label(panel.root.querySelector('#collapsed'), 'labels', 34, 110, 303, SIDES);
  straighten(panel);
  shortenAll(panel, '#leftText text', 92);
  shortenAll(panel, '#rightText text', 106);
};

// bertviz divides the scores it draws by √d_k, and heads them with the product alone.
const nameScores = (panel) => {
  const [, , products, scores] = panel.root.querySelectorAll('#heading text');
  products.setAttribute('x', +products.getAttribute('x') - 26); // makes room
  d3.select(scores).attr('x', +scores.getAttribute('x') + 16).attr('text-anchor', 'middle');
  scores.textContent = `q·k / ${divisor()}`;
};

// The sign beside a token shows while its token does, and only then can it be reached.
const operateIcon = (group, part) => {
  const icon = group.querySelector('.icon');
  icon.removeAttribute('aria-hidden');
  operable(icon, 'button', part === 'collapsed' ? 'Show queries and keys' : 'Hide queries and keys', {
    expanded: part === 'expanded',
  });
  icon.setAttribute('tabindex', -1);
  const text = group.querySelector('text');
  text.addEventListener('focus', () => icon.setAttribute('tabindex', 0));
  icon.addEventListener('focus', () => fire(text, 'mouseover'));
  icon.addEventListener('blur', () => {
    icon.setAttribute('tabindex', -1);
    fire(group, 'mouseleave');
  });
  onKeys(icon, ['Enter', ' '], () => fire(icon, 'click'));
};

const adaptModel = (panel, tell) => {
  const maps = [...panel.root.querySelectorAll('svg > g')].filter((group) =>
    group.querySelector('.attn_background'),
  );
  panel.maps = maps.map((group) => group.lastElementChild);
  maps.forEach((group) => {
    const line = group.querySelector('line');
    ribbon(panel, group, +line.getAttribute('x1'), +line.getAttribute('x2'));
  });
  panel.maps.forEach((map, index) => {
    const layer = Math.floor(index / data.heads.length);
    const head = index % data.heads.length;
    operable(map, 'button', `Layer ${data.layers[layer]}, head ${data.heads[head]}`, { expanded: false });
    map.classList.add('map');
    map.addEventListener('click', () => tell('map', panel, layer, head));
    onKeys(map, ['Enter', ' '], () => fire(map, 'click'));
    onKeys(map, ['Escape'], () => state.open && fire(openMap(panel), 'click'));
  });
  rove(panel.maps, data.heads.length);
};

const openMap = (panel) => panel.maps[state.open[0] * data.heads.length + state.open[1]];

// In a narrow frame the enlarged map may lie outside of what is scrolled to.
const showDetail = ({ root, scroller }) => {
  const detail = root.querySelector('rect.detail').getBoundingClientRect();
  const seen = scroller.getBoundingClientRect();
  if (detail.right > seen.right) scroller.scrollLeft += detail.right - seen.right + 8;
  if (detail.left < seen.left) scroller.scrollLeft -= seen.left - detail.left + 8;
};

const adaptDetail = (panel, tell) => {
  panel.maps.forEach((map) => map.setAttribute('aria-expanded', 'false'));
  if (!state.open) return;
  openMap(panel).setAttribute('aria-expanded', 'true');
  showDetail(panel);
  const frame = panel.root.querySelector('rect.detail');
  const x = +frame.getAttribute('x');
  const lines = panel.root.querySelector('g.detail:has(line)');
  ribbon(panel, lines, x + 80, x + 220);
  label(lines.parentNode, 'detail', +frame.getAttribute('y') + 30, x + 78, x + 222, ['query', 'key']);
  shortenAll(panel, '.detail .token', 76);
  const column = tokenGroups(panel, 'g.detail > g:has(.token)', 'query').slice(0, data.left.length);
  operateTokens(panel, column, (group) => group, tell);
  column.forEach(({ group }) =>
    onKeys(group, ['Escape'], () => {
      const map = openMap(panel);
      fire(map, 'click');
      map.focus();
    }),
  );
};
