// Puts the parts together: draw, listen, keep the drawings of a comparison in step.

const readout = layout();
const main = document.querySelector('main');
let copying = false; // an event that one drawing passes on must not come back
let unfolded = state.expanded; // a difference is drawn folded, and what follows it as it was

const inStep = (act) => {
  if (copying) return;
  copying = true;
  act();
  copying = false;
};

const tokenText = (panel, side, index) => {
  if (data.view === 'model') return panel.root.querySelectorAll('.detail > g > [role=button]')[index];
  const part = data.view === 'neuron' ? (state.expanded ? '#expanded ' : '#collapsed ') : '';
  const id = { head: { query: 'left', key: 'right' }, neuron: { query: 'leftText' } }[data.view][side];
  return panel.root.querySelectorAll(`${part}#${id} [role=button]:not(.icon)`)[index];
};

const leave = (text) =>
  fire(data.view === 'head' ? text.closest('#left, #right') : text.parentNode, 'mouseleave');

const happenings = {
  over(panel, side, index) {
    if (side === 'query') state.query = index;
    if (!copying) say(readout, panel, side, index);
    panel.over = tokenText.bind(null, panel, side, index);
    if (panels.length > 1) {
      inStep(() => others(panel).forEach((other) => fire(tokenText(other, side, index), 'mouseover')));
    }
  },
  out(panel) {
    if (!copying) say(readout);
    inStep(() =>
      others(panel).forEach((other) => {
        const text = other.over?.();
        if (text) leave(text);
      }),
    );
  },
  square(panel, head, type) {
    inStep(() => others(panel).forEach((other) => fire(other.squares[head], type)));
    markSquares(panel);
    say(readout);
    followInPage();
  },
  expand(panel, expanded) {
    if (copying) return;
    state.expanded = unfolded = expanded;
    inStep(() =>
      others(panel).forEach((other) => {
        const part = expanded ? '#collapsed' : '#expanded';
        fire(other.root.querySelector(`${part} .icon`), 'click');
      }),
    );
    main.classList.toggle('expanded', expanded);
    panels.forEach((each) => labelExpand(each));
    panels.forEach(fit);
    rest(panel);
    fitFrame();
  },
  map(panel, layer, head) {
    const same = state.open?.[0] === layer && state.open?.[1] === head;
    if (!copying) state.open = same ? null : [layer, head];
    adaptDetail(panel, tell);
    if (copying) return;
    const index = layer * data.heads.length + head;
    inStep(() => others(panel).forEach((other) => fire(other.maps[index], 'click')));
    say(readout);
    followInPage();
  },
};

// What is seen and said while no token is pointed at.
const rest = (panel) => {
  const text = data.view === 'neuron' && tokenText(panel, 'query', state.query);
  if (text) fire(state.expanded ? text : text.closest('g'), state.expanded ? 'mouseover' : 'mouseleave');
  else say(readout);
};

const tell = (what, ...details) => happenings[what](...details);

const labelExpand = (panel) => {
  const button = panel.root.querySelector('.expand');
  if (!button) return;
  button.textContent = state.expanded ? 'Hide q and k' : 'Show q and k';
  button.title = 'Queries and keys, and how they make the weights';
  button.setAttribute('aria-expanded', state.expanded);
};

const adapt = (panel) => {
  ({ head: adaptHead, neuron: adaptNeuron, model: adaptModel })[data.view](panel, tell);
  fit(panel);
};

// bertviz draws anew whenever a choice changes; its own listener was there first.
const listen = (panel) => {
  for (const [id, name] of [['layer', 'layer'], ['att_head', 'head']]) {
    const choice = select(panel, id);
    choice?.addEventListener('change', () => {
      const labels = data.view === 'head' ? data.layers : data.layers.map((_, index) => index);
      state[name] = id === 'layer' ? labels.indexOf(+choice.value) : +choice.value;
      adapt(panel);
      inStep(() =>
        others(panel).forEach((other) => {
          select(other, id).value = choice.value;
          select(other, id).dispatchEvent(new Event('change', { bubbles: true }));
        }),
      );
      if (copying) return;
      rest(panel);
      followInPage();
    });
  }
  panel.root.querySelector('.alone')?.addEventListener('click', () => {
    fire(panel.squares[state.alone ?? state.heads[0]], 'dblclick');
  });
  panel.root.querySelector('.expand')?.addEventListener('click', () => {
    fire(panel.root.querySelector(`${state.expanded ? '#expanded' : '#collapsed'} .icon`), 'click');
  });
};

const draw = () => {
  const { open, held } = state;
  state.expanded = false; // bertviz starts folded
  state.open = null;
  for (const panel of panels) {
    drawControls(panel);
    runBertviz(panel);
    nameLayers(panel);
    adapt(panel);
    listen(panel);
    labelExpand(panel);
  }
  main.classList.remove('expanded');
  if (unfolded) panels[0].root.querySelector('.expand')?.click();
  if (open) fire(panels[0].maps[open[0] * data.heads.length + open[1]], 'click');
  rest(panels[0]);
  if (held) fire(tokenText(panels[0], held.side, held.index), 'mouseover');
  fitFrame();
};

// Shows one drawing of a comparison, or both models.
const show = (shown) => {
  state.shown = shown;
  panels = shown === 'both' ? drawings.slice(0, 2) : [drawings[shown]];
  drawings.forEach((panel) => { panel.root.hidden = !panels.includes(panel); });
  main.classList.toggle('both', shown === 'both');
  draw();
};

// The token that had the focus before the switch is let go with it, or with Escape.
const release = () => {
  const { held } = state;
  state.held = null;
  if (held) leave(tokenText(panels[0], held.side, held.index));
};
const choices = main.querySelector('.switch');
choices?.addEventListener('focusout', ({ relatedTarget }) => {
  if (!choices.contains(relatedTarget)) release();
});
if (choices) onKeys(choices, ['Escape'], release);

useBookFont().then(() => {
  theme.watch(draw);
  draw();
  const wide = () => panels.filter(({ scroller }) => scroller.matches('.wide')).length;
  new ResizeObserver(() => {
    const before = wide();
    panels.forEach(fit);
    if (wide() !== before && !state.held) rest(panels[0]); // which says whether there is more to see
    fitFrame();
  }).observe(main);
});
