// Says in words and numbers what a drawing shows, in the frame and in the table below it.

const TOUCH = matchMedia('(hover: none)');
const SIDES = ['query · asks', 'key · is looked at'];

const hint = () => {
  const where = data.view === 'neuron' ? ' on the left' : '';
  const point = TOUCH.matches
    ? `Tap a token${where} to read its weights.`
    : `Point at a token${where}, or move to it with Tab and arrow keys, to read its weights.`;
  const press = TOUCH.matches ? 'Tap' : 'Click';
  return {
    head: `${point} Squares are heads: ${press.toLowerCase()} one to switch it.`,
    model: state.open
      ? `${point} ${press} the map again to close it.`
      : 'Rows are layers, columns heads; in each map, queries are on the left, keys on the right. ' +
        `${press} a map to enlarge it.`,
    neuron: point,
  }[data.view];
};

const strongest = (weights, names) =>
  weights
    .map((weight, index) => ({ weight, name: names[index] }))
    .sort((one, other) => other.weight - one.weight);

const shownHead = () => {
  if (data.view === 'head') return state.heads.length === 1 ? state.heads[0] : null;
  return data.view === 'model' ? state.open?.[1] : state.head;
};

// The weights from one query to all keys, or to one key from all queries.
const along = (map, side, index) => (side === 'query' ? map[index] : map.map((row) => row[index]));

const SIDEWAYS = 'Scroll sideways to see all. ';
const DIGITS = 5; // of a difference

// bertviz multiplies q and k entry by entry, divides their sum by √d_k, and shades the keys.
const divisor = () => `√${drawings[0].queries[0][0][0].length}`;
const legend = () =>
  data.view === 'neuron'
    ? [
        element(
          'p',
          { class: 'legend' },
          element('span', { class: 'sideways' }, SIDEWAYS),
          `Blue is positive, brown negative, more is stronger. q · k / ${divisor()}, the sum of a row of ` +
            `products divided by ${divisor()}, is the score; the shade behind a key is its weight, ` +
            'after the softmax.',
        ),
      ]
    : [];

// More than any frame has room for.
const MOST = 24;

const describe = (panel, side, index) => {
  const layer = data.view === 'model' ? state.open[0] : state.layer;
  const [names, others, said] =
    side === 'query'
      ? [data.left, data.right, 'attends to']
      : [data.right, data.left, 'is attended to by'];
  const verb = differs(panel) ? `${said}, with a difference of:` : said;
  const head = shownHead();
  let found;
  if (head !== null) {
    found = strongest(along(panel.weights[layer][head], side, index), others);
  } else {
    found = state.heads
      .map((each) => {
        const [top] = strongest(along(panel.weights[layer][each], side, index), others);
        return { weight: top.weight, name: top.name, head: each };
      })
      .sort((one, other) => other.weight - one.weight);
  }
  return { name: names[index], verb, found };
};

const token = (text) => element('bdi', { class: 'token' }, text);

const say = (readout, panel, side, index) => {
  readout.replaceChildren(...differenceHere());
  if (side === undefined) {
    if (panels.some(({ scroller }) => scroller.matches('.wide'))) readout.append(SIDEWAYS);
    readout.append(differs(panels[0]) ? scale() : hint());
    return;
  }
  const { name, verb, found } = describe(panel, side, index);
  const digits = differs(panel) ? DIGITS : 3;
  readout.append(token(name), ` ${verb} `);
  const said = found.slice(0, MOST).map((each, position) => {
    const head = each.head === undefined ? '' : ` (head ${each.head})`;
    const weight = element('span', { class: 'weight' }, token(each.name), ` ${each.weight.toFixed(digits)}${head}`);
    return position ? element('span', {}, element('span', { class: 'comma' }, ', '), weight) : weight;
  });
  const more = element('span');
  readout.append(...said, more);
  const count = () => {
    const left = found.length - said.length;
    more.textContent = left ? ` … and ${left} more` : '';
  };
  for (count(); said.length > 1 && readout.scrollHeight > readout.clientHeight; count()) said.pop().remove();
};

// How the difference is drawn.
const scale = () => {
  const least = (0.5 * 10 ** -DIGITS).toFixed(DIGITS + 1);
  return largest
    ? `A line of full strength is a difference of ${largest.toFixed(DIGITS)}, the largest of all layers and heads here.`
    : `Nothing is drawn: no two weights, of any layer and head here, differ by as much as ${least}.`;
};

const differenceHere = () => {
  const head = shownHead();
  const layer = data.view === 'model' ? state.open?.[0] : state.layer;
  if (!data.differences || layer === undefined) return [];
  const here = data.differences[layer];
  const most = Math.max(...(head === null ? state.heads.map((each) => here[each]) : [here[head]]));
  const where = `Layer ${data.layers[layer]}, head ${head ?? state.heads.join(', ')}`;
  return [element('span', { class: 'difference' }, `${where}: largest difference ${most.toFixed(DIGITS)}. `)];
};

// The tables below the frame follow the choice, where the page can be reached.
const followInPage = () => {
  const head = shownHead() ?? state.heads?.[0];
  const layer = data.view === 'model' ? state.open?.[0] : state.layer;
  if (head === undefined || layer === undefined) return;
  let details;
  try {
    details = frameElement.parentElement.querySelector('details');
  } catch {
    return;
  }
  const where = (each) =>
    `layer ${data.layers[layer]}, head ${data.view === 'model' ? data.heads[each] : each}`;
  const rename = (text, each) => text.replace(/layer \d+, head \d+/, where(each));
  const several = data.view === 'head' && !data.names; // a table for each head that is on
  let tables = [...details.querySelectorAll('table')];
  if (tables[0].rows[0].cells.length !== data.right.length + 1) tables = []; // the strongest keys alone
  else if (several) {
    const another = () => details.appendChild(tables[0].parentElement.cloneNode(true)).firstChild;
    while (tables.length < state.heads.length) tables.push(another());
    tables.splice(state.heads.length).forEach((table) => table.parentElement.remove());
  }
  tables.forEach((table, which) => {
    const [drawing, each] = several ? [0, state.heads[which]] : [which, head];
    [...table.tBodies[0].rows].forEach((row, query) => {
      [...row.cells].slice(1).forEach((cell, key) => {
        const weight = drawings[drawing].weights[layer][each][query][key];
        cell.textContent = weight.toFixed(2);
        cell.style.background = `rgba(0,114,178,${(0.6 * weight).toFixed(2)})`;
      });
    });
    table.caption.textContent = rename(table.caption.textContent, each);
    const region = table.parentElement;
    region.setAttribute('aria-label', rename(region.getAttribute('aria-label'), each));
    const summary = details.querySelector('summary');
    if (!several) summary.textContent = rename(summary.textContent, head);
    else if (tables.length === 1) summary.textContent = `The weights of ${where(head)} as a table`;
    else summary.textContent = `The weights of layer ${data.layers[layer]} as tables, one for each head`;
  });
  const difference = details.querySelector('.glassbox-difference');
  if (difference) {
    const number = data.differences[layer][head].toFixed(DIGITS);
    difference.textContent = `Largest difference in ${where(head)}: ${number}.`;
  }
};
