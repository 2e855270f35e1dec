// Builds the frame's content and lets bertviz draw into it.

const data = JSON.parse(document.getElementById('data').textContent);

// What the reader has chosen. The drawings of a comparison share it.
const state = {
  layer: data.layer ?? 0, // index into data.layers
  head: data.head ?? 0,
  heads: data.view === 'head' ? data.heads : null, // those switched on in the head view
  alone: null, // the head that was last shown alone
  open: null, // [layer, head] of the enlarged thumbnail of the model view
  expanded: Boolean(data.expanded),
  query: 0, // the one whose computation the expanded neuron view shows
  held: null, // {side, index} of the token that has the focus
  shown: '0', // of a comparison: a drawing, by its number, or 'both'
};

// One drawing each. Numbers that a second model shares with the first are sent once.
const drawings = data.models.map((model, index) => ({
  id: `view-${index}`,
  name: data.names?.[index],
  ...data.models[0],
  ...model,
}));

const deep = (numbers, change) =>
  Array.isArray(numbers) ? numbers.map((part) => deep(part, change)) : change(numbers);

// The third drawing of a comparison; the largest difference is a line of full strength.
const largest = Math.max(...(data.differences ?? []).flat());
if (data.names) {
  const weights = data.apart ?? deep(drawings[0].weights, () => 0);
  const strengths = deep(weights, (weight) => (largest ? weight / largest : 0));
  drawings.push({ ...drawings[0], id: 'view-2', name: 'difference', weights, strengths });
}
const differs = (panel) => panel.strengths !== undefined;

let panels = drawings.slice(0, 1); // those that are shown
const others = (panel) => panels.filter((other) => other !== panel);

// bertviz asks require.js for its libraries; here they are already loaded.
window.require = { config() {} };
window.requirejs = (names, run) => run(window.jQuery, { ...d3, schemeCategory10: headColors() });

// The book's colours for bertviz's; those of lines and text are in the style sheet.
const COLORS = { '#0c36d8': 'var(--positive)', '#ff6318': 'var(--negative)', '#EEE': 'var(--line)', blue: 'var(--query)' };
const { style } = d3.selection.prototype;
d3.selection.prototype.style = function (name, value, ...more) {
  if (value === undefined) return style.call(this, name);
  const book = (color) => COLORS[color] ?? color;
  const given = typeof value === 'function' ? function (...all) { return book(value.apply(this, all)); } : book(value);
  return style.call(this, name, given, ...more);
};

// D3 computes with them, so they are written out.
const headColors = () => {
  const root = getComputedStyle(document.documentElement);
  return ['1', '2', '3', '4', '5', '6', '7', '8', '1', '2'].map((n) => root.getPropertyValue(`--head-${n}`).trim());
};

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// The letters of the page, from where the page has them.
const { src } = document.currentScript; // none where an output carries its scripts
const useBookFont = () => {
  let faces = [];
  try {
    if (src && [...parent.document.fonts].some(({ family }) => family.includes('Book Sans'))) {
      faces = [['sans', '400'], ['sans-bold', '600']].map(
        ([file, weight]) => new FontFace('Book Sans', `url(${new URL(`../fonts/${file}.woff2`, src)})`, { weight }),
      );
    }
  } catch {
    // A page of another origin keeps its letters to itself.
  }
  faces.forEach((face) => document.fonts.add(face));
  return Promise.allSettled(faces.map((face) => face.load()));
};

const layout = () => {
  const sheet = element('style');
  sheet.textContent = FRAME_STYLE;
  document.head.append(sheet);
  const readout = element('p', { class: 'readout', role: 'status' });
  const place = element('div', { class: 'panels' });
  for (const panel of drawings) {
    panel.controls = element('div', { class: 'controls' });
    panel.scroller = element('div', { class: 'scroller' }, element('div', { id: 'vis' }));
    panel.scroller.addEventListener('scroll', () => {
      markEdges(panel);
      others(panel).forEach(({ scroller }) => { scroller.scrollLeft = panel.scroller.scrollLeft; });
    });
    panel.root = element('section', { class: 'panel', id: panel.id });
    if (panel.name) {
      panel.root.setAttribute('aria-label', panel.name);
      panel.root.append(element('strong', { class: 'name' }, panel.name));
    }
    if (differs(panel) && !largest) panel.scroller.dataset.nothing = 'no difference';
    if (data.view !== 'model') panel.root.append(panel.controls);
    panel.root.append(panel.scroller);
    panel.root.hidden = !panels.includes(panel);
    place.append(panel.root);
  }
  const switches = data.names ? [drawSwitch()] : [];
  document.body.replaceChildren(
    element('main', { class: data.view }, ...switches, place, ...legend(), readout),
  );
  return readout;
};

// Which drawings of a comparison are shown.
const drawSwitch = () => {
  const choices = [...drawings.map(({ name }, index) => [name, `${index}`]), ['both', 'both']];
  const made = element('fieldset', { class: 'switch', 'aria-label': 'What is drawn' });
  for (const [name, value] of choices) {
    const input = element('input', { type: 'radio', name: 'shown', value });
    input.checked = value === state.shown;
    input.addEventListener('change', () => show(value));
    made.append(element('label', {}, input, element('span', {}, name)));
  }
  return made;
};

const drawControls = (panel) => {
  const choice = (name, id) => {
    const label = panel.name ? `${name}, ${panel.name}` : name;
    return element('label', {}, `${name} `, element('select', { id, 'aria-label': label }));
  };
  const controls = [];
  if (data.view !== 'model') controls.push(choice('Layer', 'layer'));
  if (data.view === 'head') controls.push(element('button', { type: 'button', class: 'alone' }));
  if (data.view === 'neuron') controls.push(choice('Head', 'att_head'));
  if (data.view === 'neuron' && !differs(panel)) {
    controls.push(element('button', { type: 'button', class: 'expand' }));
  }
  panel.controls.replaceChildren(...controls);
};

// bertviz's scripts read their parameters from these two globals, at the moment they run.
const runBertviz = (panel) => {
  const { left, right, layers } = data;
  const all = {
    attn: panel.strengths ?? panel.weights,
    queries: panel.queries,
    keys: panel.keys,
    left_text: left,
    right_text: right,
  };
  window.PYTHON_PARAMS = window.bertviz_params = {
    attention: { all },
    default_filter: 'all',
    root_div_id: panel.id,
    display_mode: 'light', // the colours that the style sheet and COLORS replace
    layer: data.view === 'head' ? layers[state.layer] : state.layer,
    head: state.head,
    heads: state.heads,
    include_layers: layers,
    include_heads: data.heads,
    total_heads: data.columns,
    bidirectional: !data.causal,
  };
  bertviz[data.view]({ log() {} });
};

const select = (panel, id) => panel.root.querySelector(`#${id}`);

// Layers left out keep their numbers: bertviz's neuron view counts what it is given.
const nameLayers = (panel) => {
  if (data.view !== 'neuron') return;
  for (const option of select(panel, 'layer').options) option.text = data.layers[option.value];
};

// What bertviz bends, it draws here as it is: a line is as strong as its weight.
const straighten = ({ root }) => {
  root.querySelectorAll('.horiz-line-group line, .qk-line-group path, .vector-highlight-group rect').forEach((line) => {
    line.style.strokeOpacity = d3.select(line).datum();
  });
};

const SVG = 'http://www.w3.org/2000/svg';

// The colour of lines from queries to keys: it goes from the one's to the other's.
const ribbon = (panel, group, x1, x2) => {
  const id = `${panel.id}-ribbon-${x1}`;
  const svg = panel.scroller.querySelector('svg');
  let gradient = document.getElementById(id);
  if (!gradient) {
    gradient = document.createElementNS(SVG, 'linearGradient');
    for (const side of ['query', 'key']) {
      const stop = document.createElementNS(SVG, 'stop');
      stop.setAttribute('class', side);
      stop.setAttribute('offset', side === 'query' ? 0.1 : 0.9);
      gradient.append(stop);
    }
    gradient.setAttribute('gradientUnits', 'userSpaceOnUse');
    gradient.id = id;
    svg.append(gradient);
  }
  gradient.setAttribute('x1', x1);
  gradient.setAttribute('x2', x2);
  group.style.setProperty('--ribbon', `url("#${id}")`);
};

// Where bertviz draws lines from and to, and how wide its drawing is.
const COLUMNS = { head: [110, 225, 335], neuron: [120, 295, 415] }[data.view];

// Moves the keys to the right, or nearer, so that a drawing fills its column.
const spread = (panel, width) => {
  const [from, to, natural] = COLUMNS;
  const end = to + width - natural;
  panel.root.querySelectorAll('#right, #collapsed #rightText, .labels .key').forEach((moved) => {
    moved.setAttribute('transform', `translate(${end - to})`);
  });
  const lines = panel.root.querySelectorAll('#attention line, #collapsed line');
  lines.forEach((line) => line.setAttribute('x2', end));
  ribbon(panel, panel.root, from, end);
};

// Fits a drawing into its column, within the scales at which it is legible.
const fit = (panel) => {
  const svg = panel.scroller.querySelector('svg');
  if (!svg) return;
  const [narrowest, height, smallest, largest, top, widest] =
    state.expanded && data.expandedSize ? data.expandedSize : data.size;
  const room = panel.scroller.clientWidth;
  const scale = Math.min(largest, Math.max(smallest, room / narrowest));
  const width = Math.max(narrowest, Math.min(widest, room / scale));
  if (widest) spread(panel, width);
  svg.setAttribute('viewBox', `0 ${top} ${width} ${height}`);
  svg.style.width = `${width * scale}px`;
  svg.style.height = `${height * scale}px`;
  panel.scroller.style.height = `${height * scale + 14}px`;
  panel.root.style.setProperty('--scale', scale);
  const wide = panel.scroller.scrollWidth > panel.scroller.clientWidth + 1;
  const label = `Drawing${panel.name ? `, ${panel.name}` : ''}: scrolls sideways`;
  panel.scroller.classList.toggle('wide', wide);
  for (const [name, value] of [['tabindex', 0], ['role', 'region'], ['aria-label', label]]) {
    if (wide) panel.scroller.setAttribute(name, value);
    else panel.scroller.removeAttribute(name);
  }
  markEdges(panel);
};

const markEdges = ({ scroller }) => {
  const after = scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft;
  scroller.style.setProperty('--before', scroller.scrollLeft > 1 ? '32px' : '0px');
  scroller.style.setProperty('--after', after > 1 ? '32px' : '0px');
};

// The frame is as high as its content, where its page can be reached.
const fitFrame = () => {
  const wanted = document.querySelector('main').offsetHeight + 2;
  try {
    if (Math.abs(frameElement.offsetHeight - wanted) > 1) frameElement.style.height = `${wanted}px`;
  } catch {
    // A page of another origin: the frame scrolls.
  }
};
