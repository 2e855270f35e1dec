// Builds the frame's content and lets bertviz draw into it.

const data = JSON.parse(document.getElementById('data').textContent);

// What the reader has chosen. Both drawings of a comparison share it.
const state = {
  layer: data.layer ?? 0, // index into data.layers
  head: data.head ?? 0,
  heads: data.view === 'head' ? data.heads : null, // those switched on in the head view
  open: null, // [layer, head] of the enlarged thumbnail of the model view
  expanded: Boolean(data.expanded),
  query: 0, // the one whose computation the expanded neuron view shows
};

// One drawing. Numbers that a second model shares with the first are sent once.
const panels = data.models.map((model, index) => ({
  id: `view-${index}`,
  name: data.names?.[index],
  ...data.models[0],
  ...model,
}));

// bertviz asks require.js for its libraries; here they are already loaded.
window.require = { config() {} };
window.requirejs = (names, run) => run(window.jQuery, window.d3);

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

const layout = () => {
  const style = element('style');
  style.textContent = FRAME_STYLE;
  document.head.append(style);
  const readout = element('p', { class: 'readout', role: 'status' });
  const drawings = element('div', { class: 'panels' });
  for (const panel of panels) {
    panel.controls = element('div', { class: 'controls' });
    panel.scroller = element('div', { class: 'scroller' }, element('div', { id: 'vis' }));
    panel.scroller.addEventListener('scroll', () => markEdges(panel));
    panel.root = element('section', { class: 'panel', id: panel.id });
    if (panel.name) {
      panel.root.setAttribute('aria-label', panel.name);
      panel.root.append(element('strong', { class: 'name' }, panel.name));
    }
    if (data.view !== 'model') panel.root.append(panel.controls);
    panel.root.append(panel.scroller);
    drawings.append(panel.root);
  }
  const main = element('main', { class: data.view }, drawings, ...legend(), readout);
  if (panels.length > 1) main.classList.add('two');
  else if (data.beside) main.classList.add('beside');
  main.style.setProperty('--natural', `${data.size[0] * data.size[3]}px`);
  document.body.replaceChildren(main);
  return readout;
};

const drawControls = (panel) => {
  const choice = (name, id) => {
    const label = panel.name ? `${name}, ${panel.name}` : name;
    return element('label', {}, `${name} `, element('select', { id, 'aria-label': label }));
  };
  const controls = [];
  if (data.view !== 'model') controls.push(choice('Layer', 'layer'));
  if (data.view === 'neuron') {
    controls.push(choice('Head', 'att_head'), element('button', { type: 'button', class: 'expand' }));
  }
  panel.controls.replaceChildren(...controls);
};

// bertviz's scripts read their parameters from these two globals, at the moment they run.
const runBertviz = (panel) => {
  const { left, right, layers } = data;
  const all = {
    attn: panel.weights,
    queries: panel.queries,
    keys: panel.keys,
    left_text: left,
    right_text: right,
  };
  window.PYTHON_PARAMS = window.bertviz_params = {
    attention: { all },
    default_filter: 'all',
    root_div_id: panel.id,
    display_mode: theme.current(),
    layer: data.view === 'head' ? layers[state.layer] : state.layer,
    head: state.head,
    heads: state.heads,
    include_layers: layers,
    include_heads: data.heads,
    total_heads: data.columns,
    bidirectional: !data.causal,
  };
  bertviz[data.view]();
};

const select = (panel, id) => panel.root.querySelector(`#${id}`);

// Layers left out keep their numbers: bertviz's neuron view counts what it is given.
const nameLayers = (panel) => {
  if (data.view !== 'neuron') return;
  for (const option of select(panel, 'layer').options) option.text = data.layers[option.value];
};

// Weak lines, which a light page shows as pale, would drown in a dark one.
const strengthen = ({ root }) => {
  if (theme.current() !== 'dark') return;
  root.querySelectorAll('line[stroke-opacity]').forEach((line) => {
    line.style.strokeOpacity = Math.sqrt(line.getAttribute('stroke-opacity'));
  });
};

// Fits a drawing into its column, within the scales at which it is legible.
const fit = (panel) => {
  const svg = panel.scroller.querySelector('svg');
  if (!svg) return;
  const [width, height, smallest, largest, top] =
    state.expanded && data.expandedSize ? data.expandedSize : data.size;
  const scale = Math.min(largest, Math.max(smallest, panel.scroller.clientWidth / width));
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
