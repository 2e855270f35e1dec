// Exercises that are done in the page, and a quiz that remembers. All stays on the reader's machine:
// glassbox:exercise:NAME has what was written, glassbox:answers:PAGE the options in the order chosen,
// glassbox:quiz:PAGE how many questions are answered, as 2/6, for whoever shows progress.
(() => {
  'use strict';
  const { src, dataset: { version } } = document.currentScript;
  const page = decodeURIComponent(location.pathname.split('/').pop()).replace(/\.html$/, '');
  const keep = (key, value) => { try { localStorage.setItem(`glassbox:${key}`, JSON.stringify(value)); } catch { /* not allowed here */ } };
  const kept = (key) => { try { return JSON.parse(localStorage.getItem(`glassbox:${key}`)); } catch { return null; } };
  const tell = (detail) => document.dispatchEvent(new CustomEvent('glassbox:progress', { detail: { page, ...detail } }));
  const make = (name, className, text = '') => Object.assign(document.createElement(name), { className, textContent: text });

  // Exercises -----------------------------------------------------------------------------------

  const loading = new Map();
  const load = (file) => {
    if (!loading.has(file)) {
      loading.set(file, new Promise((done, failed) => {
        const script = make('script', '');
        Object.assign(script, { src: new URL(`glassbox/exercises/${file}.js?v=${version}`, src).href, onload: done, onerror: failed });
        document.head.append(script);
      }).catch((error) => { loading.delete(file); throw error; }));
    }
    return loading.get(file);
  };

  for (const card of document.querySelectorAll('.gb-try')) {
    const { exercise, function: called } = card.dataset;
    const button = card.querySelector('button'), state = card.querySelector('.gb-state'), untried = state.textContent;
    if (!button) continue;
    const cell = card.closest('.cell').querySelector('.cell_input');
    const stub = cell.querySelector('pre').textContent.replace(/\n+check\([^]*$/, '\n');
    let form = null;
    const mark = (passed) => {
      card.classList.toggle('gb-solved', Boolean(passed));
      state.textContent = passed === true ? 'Solved here.' : passed === 'before' ? 'Solved before.' : passed === false ? 'Started here, not solved yet.' : untried;
      button.textContent = form && !form.hidden ? 'Close' : passed === undefined ? 'Try it here' : 'Continue here';
      button.setAttribute('aria-label', `${button.textContent}: ${called}`);
    };
    let mine = {}, undone = {};  // what this page remembers where nothing can be stored, and what was left for a new start
    const memory = () => kept(`exercise:${exercise}`) ?? mine;
    const remember = (value) => {
      mine = value ?? {};
      keep(`exercise:${exercise}`, value);
    };

    const check = async (field, said) => {
      said.className = 'gb-said';
      if (field.value.trim() === stub.trim()) {
        said.textContent = untried;
        return;
      }
      said.textContent = 'Loading the checker …';
      try {
        await load('python');
        await load(exercise);
      } catch {
        said.textContent = 'The checker could not be loaded. Check your connection.';
        return;
      }
      const known = glassboxPage.exercises[exercise];
      const { passed, text } = glassboxPage.check({ ...known, function: called }, field.value);
      const lines = [text, passed && known.gradients ? 'The notebook also checks its gradients.' : ''];
      const printed = glassboxPage.printed.split('\n').slice(0, 20).join('\n').slice(0, 2000).trimEnd();
      said.classList.add(passed ? 'gb-passed' : 'gb-not-yet');
      said.replaceChildren(...lines.filter(Boolean).flatMap((line) => line.split('\n')).map((line) => make('p', '', line)));
      if (printed) said.append(make('p', '', 'Printed:'), make('pre', '', printed));
      remember({ text: field.value, passed });
      mark(passed);
      tell({ exercise, passed });
    };

    const open = () => {
      form = make('form', 'gb-form');
      const label = make('label', '', `Your function ${called}`), field = make('textarea', '');
      const run = make('button', '', 'Check'), over = make('button', '', 'Start over'), said = make('div', 'gb-said');
      const hint = make('span', 'gb-hint', 'or press Ctrl+Enter');
      Object.assign(field, { id: `try-${exercise}`, value: memory().text ?? stub, spellcheck: false, autocapitalize: 'off', autocomplete: 'off', wrap: 'off' });
      label.htmlFor = field.id;
      over.type = 'button';
      said.setAttribute('role', 'status');
      const fit = () => { field.rows = Math.min(30, Math.max(5, field.value.split('\n').length + 1)); };
      // A verdict is about the text that was checked.
      field.addEventListener('input', () => {
        const { passed: known } = undone.text === field.value ? undone : memory(), passed = known && 'before';
        fit();
        remember({ text: field.value, passed: passed ?? false });
        mark(passed ?? false);
        if (said.matches('.gb-passed, .gb-not-yet')) said.className = 'gb-said gb-earlier';
      });
      // Tab leaves the field; a new line is indented like the one before it, and more after a colon.
      field.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' || event.isComposing) return;
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) { form.requestSubmit(); return; }
        const line = field.value.slice(0, field.selectionStart).split('\n').pop();
        document.execCommand('insertText', false, `\n${/^[ \t]*/.exec(line)[0]}${/:\s*(#.*)?$/.test(line) ? '    ' : ''}`);
      });
      form.addEventListener('submit', (event) => { event.preventDefault(); check(field, said); });
      over.addEventListener('click', () => {
        undone = memory();
        field.focus();
        field.select();
        document.execCommand('insertText', false, stub);  // which Ctrl+Z takes back
        remember(null);
        said.replaceChildren();
        said.className = 'gb-said';
        mark();
      });
      const row = make('p', 'gb-row');
      row.append(run, over, hint);
      form.append(label, field, row, said);
      card.append(form);
      fit();
      return field;
    };

    button.hidden = false;
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const field = form ? form.querySelector('textarea') : open(), shows = cell.hidden;
      form.hidden = shows;
      cell.hidden = !shows;
      button.setAttribute('aria-expanded', String(!shows));
      mark(memory().passed);
      if (!shows) field.focus();
    });
    mark(memory().passed);
  }

  // Quiz ----------------------------------------------------------------------------------------

  const questions = [...document.querySelectorAll('.gb-quiz')];
  if (!questions.length) return;
  const idOf = (question) => question.getAttribute('aria-labelledby');
  const answers = kept(`answers:${page}`) ?? {};
  const score = make('p', 'gb-score'), said = make('span', ''), again = make('button', '', 'Start over');
  again.type = 'button';
  said.setAttribute('role', 'status');
  const count = (verdict = '') => {
    const chosen = questions.filter((question) => answers[idOf(question)]?.length);
    const right = chosen.filter((question) => question.querySelectorAll('.gb-option')[answers[idOf(question)][0]]?.classList.contains('gb-right'));
    said.textContent = chosen.length ? `${chosen.length} of ${questions.length} answered, ${right.length} right on the first try. ` : `${questions.length} questions. Your answers stay on this machine.`;
    if (verdict) said.prepend(make('span', 'gb-aloud', `${verdict}. `));
    again.hidden = !chosen.length;
    return chosen.length;
  };
  const save = (verdict) => {
    const answered = count(verdict);
    keep(`answers:${page}`, answers);
    try { localStorage.setItem(`glassbox:quiz:${page}`, `${answered}/${questions.length}`); } catch { /* not allowed here */ }
    tell({ answered, total: questions.length });
  };
  for (const question of questions) {
    [...question.querySelectorAll('.gb-option')].forEach((option, k) => {
      const before = answers[idOf(question)] ?? [];
      option.open = before.length > 0 && before.at(-1) === k;
      option.querySelector('summary').addEventListener('click', () => {
        if (option.open) return;  // it is about to close
        const stored = kept(`answers:${page}`);  // perhaps by another tab
        if (stored) {
          for (const id of Object.keys(answers)) delete answers[id];
          Object.assign(answers, stored);
        }
        answers[idOf(question)] = [...(answers[idOf(question)] ?? []).filter((each) => each !== k || answers[idOf(question)][0] === k), k];
        save(option.classList.contains('gb-right') ? 'Right' : 'Wrong');
      });
    });
  }
  again.addEventListener('click', () => {
    for (const option of document.querySelectorAll('.gb-option[open]')) option.open = false;
    for (const id of Object.keys(answers)) delete answers[id];
    save();
    questions[0].querySelector('summary').focus();
  });
  score.append(said, again);
  questions.at(-1).after(score);
  count();
})();
