// The check of glassbox_book.exercises, in the page: the same cases, the same words. Gradients are
// left to the notebook.
(() => {
  'use strict';
  const page = glassboxPage;
  const { Module, PythonError, Tensor, Tuple, dtypes, kind, make, nested } = page;

  // The world of the reader's function: Python's own names, torch, math, and the book's functions.
  let world = null;
  const F_ALONE = 'cross_entropy gelu linear normalize one_hot silu'.split(' ');
  function load(prelude) {
    const torch = new Map(Object.entries({ ...dtypes, long: dtypes.int64, float: dtypes.float32, int: dtypes.int32, double: dtypes.float64, inf: Infinity, pi: Math.PI }));
    const python = new page.Scope(null), ours = new page.Scope(new page.Scope(python));
    python.own = new Map([...page.builtins, ['torch', new Module('torch', torch, page.functions, page.methods)], ['math', page.math]]);
    ours.up.set('check_inputs', (inputs) => page.checkInputs?.(...inputs));
    ours.up.set('check_index', ([x, index]) => index.shape.length === x.shape.length || page.fail('RuntimeError', 'Index tensor must have the same number of dimensions as input tensor'));
    page.parse(prelude, true)(ours);
    const book = new Map();  // what PyTorch does not have, or not like this
    for (const name of ['scaled_dot_product_attention', 'simple_self_attention', 'causal_mask', 'layer_norm', 'split_heads']) book.set(name, ours.own.get(name)) && ours.own.delete(name);
    for (const [name, f] of ours.own) if (!page.methods.has(name) && !F_ALONE.includes(name)) page.methods.set(name, f);
    const also = { new_empty: 'new_zeros', empty_like: 'zeros_like', clip: 'clamp', swapaxes: 'transpose' };
    for (const [name, known] of Object.entries(also)) if (page.methods.has(known)) page.methods.set(name, page.methods.get(known));
    const functional = new Module('torch.nn.functional', ours.own);
    torch.set('empty', page.functions.get('zeros')).set('special', new Module('torch.special', ours.own, page.methods)).set('nn', new Module('torch.nn', new Map([['functional', functional]])));
    // NumPy's names are taken by all of PyTorch but what it has in Python: norm, split and F.
    const plain = { __proto__: null, axis: 'dim', keepdims: 'keepdim' };
    for (const known of [page.functions, page.methods]) {
      for (const [name, f] of known) if (!['norm', 'split'].includes(name)) known.set(name, (args, byName = []) => f(args, new Map([...byName].map(([each, value]) => [plain[each] ?? each, value]))));
    }
    world = new page.Scope(python);
    world.own = new Map([...book, ['gelu', ours.own.get('gelu')], ['F', functional], ['nn', torch.get('nn')], ['glassbox', new Module('glassbox', book)], ['check', () => null]]);  // a solution ends with a call of check
  }

  // What is wrong with a result ------------------------------------------------------------------

  function short(n, many = 4) {  // whole, or Python's .4g
    if (Number.isInteger(n) && Math.abs(n) < 1e15) return String(n);
    if (!Number.isFinite(n)) return Number.isNaN(n) ? 'nan' : n > 0 ? 'inf' : '-inf';
    if (many === 4 && /\.\d\d[02468]50*e/.test(n.toExponential(50))) n *= 1 - 1e-12;  // Python rounds a half to the even digit
    const [digits, power] = n.toExponential(many - 1).split('e');
    if (power < -4 || power >= many) return `${digits.replace(/\.?0+$/, '')}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
    return n.toPrecision(many).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  }
  function show(value, many = 4) {
    const each = () => value.map((entry) => show(entry, many));
    if (value instanceof Tensor) return show(nested(value), many);
    if (value instanceof Tuple) return tuple(each());
    if (Array.isArray(value)) return `[${each().join(', ')}]`;
    if (value === null) return 'None';
    if (value instanceof page.Dtype) return `torch.${value.name}`;
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return typeof value === 'number' ? short(value, many) : ['bigint', 'string'].includes(typeof value) ? String(value) : `<${kind(value)}>`;
  }
  // With as many digits as it takes to tell two values apart.
  const apart = (...pair) => [4, 6, 17].map((many) => pair.map((value) => show(value, many))).find(([a, b], k) => a !== b || k === 2);
  const close = (a, b, tolerance) => a === b || Math.abs(a - b) < tolerance + tolerance * Math.abs(b);
  const same = (names, expected, got, tolerance) => difference(names, expected, got, tolerance) === null;
  const tuple = (sizes) => `(${sizes.join(', ')}${sizes.length === 1 ? ',' : ''})`;

  function difference(names, expected, got, tolerance) {
    if (got === null) return 'Your function gave None. Did you forget return?';
    if (expected instanceof Tuple) return partsDiffer(names, expected, got, tolerance);
    if (expected instanceof Tensor) return tensorsDiffer(names[0], expected, got, tolerance);
    const n = got instanceof Tensor && got.at.length === 1 ? page.item(got) : got;
    if (!page.dtypeOf(n) || n instanceof Tensor) return `Expected ${kind(expected)} for the ${names[0]}, got ${kind(got)}.`;
    const [is, should] = [n, expected].map(Number);
    if (Math.abs(is - should) <= tolerance * (Math.abs(should) || 1)) return null;
    const [shown, wanted] = apart(typeof got === 'bigint' || typeof got === 'boolean' ? got : is, expected);
    return `The ${names[0]} is ${shown}, expected ${wanted}.`;
  }
  function partsDiffer(names, expected, got, tolerance) {
    const wanted = `expected the tuple (${names.join(', ')})`;
    if (!Array.isArray(got)) {
      const alone = names.find((name, k) => same(['part'], expected[k], got, tolerance));
      return alone ? `Your function returned the ${alone} alone, ${wanted}.` : `The result is of type ${kind(got)}, ${wanted}.`;
    }
    if (got.length !== expected.length) return `The result has length ${got.length}, ${wanted}.`;
    for (const [k, name] of names.entries()) {
      const fault = difference([name], expected[k], got[k], tolerance);
      if (!fault) continue;
      const fits = (rest, order) => order.length === rest.length || rest.some((part, n) => !order.includes(n) && same(['part'], expected[order.length], part, tolerance) && fits(rest, [...order, n]));
      if (expected.some((part) => typeof part !== 'bigint') && fits(got, [])) return `These are the right results in the wrong order, ${wanted}.`;
      return got[k] === null ? `The ${name} is None, ${wanted}.` : fault;
    }
    return null;
  }
  function tensorsDiffer(name, expected, got, tolerance) {
    if (!(got instanceof Tensor)) return `Expected torch.Tensor for the ${name}, got ${kind(got)}.`;
    if (got.shape.join() !== expected.shape.join()) return `The shape of the ${name} is ${tuple(got.shape)}, expected ${tuple(expected.shape)}.`;
    if (got.dtype !== expected.dtype) return `The dtype of the ${name} is torch.${got.dtype}, expected torch.${expected.dtype}.${expected.dtype === 'float64' ? ' New tensors take the dtype of the inputs.' : ''}`;
    const [is, should] = [got.numbers, expected.numbers], wrong = is.map((n, i) => !close(n, should[i], tolerance));
    if (!wrong.includes(true)) return null;
    const all = apart(got, expected);
    if (is.length <= 12) return `The ${name}: ${all[0]}\nexpected: ${all[1]}`;
    const gaps = is.map((n, i) => (Number.isNaN(n - should[i]) ? (n === should[i] ? 0 : Infinity) : Math.abs(n - should[i])));
    let place = gaps.indexOf(Math.max(...gaps));
    const at = got.shape.map((_, d) => { const by = got.shape.slice(d + 1).reduce((a, b) => a * b, 1), k = Math.floor(place / by); place %= by; return BigInt(k); });
    const [one, other] = apart(...[got, expected].map((x) => page.getItem(x, Tuple.from(at))));
    return `The ${name} at ${show(at)}: ${one}, expected ${other} (${wrong.filter(Boolean).length} of ${is.length} entries are wrong).`;
  }
  function resemblance(names, expected, got, tolerance) {
    if (expected instanceof Tuple && Array.isArray(got)) {
      const parts = names.slice(0, got.length).map((name, k) => [name, resemblance([name], expected[k], got[k], tolerance)]).reverse();
      const [name, said] = parts.find((part) => part[1]) ?? [];
      return name ? `The ${name}: ${said[0].toLowerCase()}${said.slice(1)}` : null;
    }
    if (!(expected instanceof Tensor && got instanceof Tensor)) return null;
    const [e, g] = [expected, got].map((x) => page.cast(x, 'float64')), last = e.shape.length - 1, fits = (x) => same(['part'], x, g, tolerance);
    if (fits(e)) return null;
    if (last > 0 && fits(page.swap(e, last - 1, last))) return 'This is the expected result transposed, with the last two axes exchanged.';
    if (fits(page.binary('-', 1n, e))) return `This is 1 minus the expected result${expected.dtype === 'bool' ? ', with true and false exchanged' : ''}.`;
    if (g.shape.join() !== e.shape.join() || e.at.length < 2 || !e.numbers.some(Boolean)) return null;
    const factor = page.total(page.binary('*', g, e).numbers) / page.total(e.numbers.map((n) => n * n));
    return factor && fits(page.binary('*', e, factor)) ? `Every entry is ${short(factor)} times the expected one.` : null;
  }

  // The verdict ----------------------------------------------------------------------------------

  // What a known mistake gives is kept as a sample of its numbers.
  function isSample(sample, got) {
    if (sample instanceof Tuple) return Array.isArray(got) && got.length === sample.length && sample.every((part, k) => isSample(part, got[k]));
    if (typeof sample === 'string' || typeof got === 'string') return sample === got;
    if (!sample?.places) return got !== null && (Object.is(sample, got) || same(['part'], sample, got, sample ? 1e-4 : 0));
    if (!(got instanceof Tensor) || got.dtype !== sample.dtype || got.shape.join() !== sample.shape.join()) return false;
    const plain = (n) => (Number.isNaN(n) ? 12345 : n), { numbers } = got;
    return sample.places.every((place, k) => close(plain(numbers[place]), plain(sample.numbers[k]), 1e-4));
  }
  const failed = (text) => ({ passed: false, text });
  const says = (error) => `${error.kind}: ${error.message}`;
  const values = {
    tensor: (dtype, shape, numbers) => make(dtype, shape, numbers),
    permute: page.permute,
    tuple: (...parts) => Tuple.from(parts),
    sample: (dtype, shape, places, numbers) => ({ dtype, shape, places, numbers }),
  };
  const unlike = (before, after) => (before instanceof Tensor ? before.numbers.some((n, i) => n !== after.numbers[i] && !Number.isNaN(n)) : Array.isArray(before) && (before.length !== after.length || before.some((each, k) => unlike(each, after[k]))));

  function attempt(names, given, before, answer) {
    const { takes } = answer, known = takes?.map(({ name }) => name);
    if (takes && !takes.some(({ isRest }) => isRest) && (given.length > takes.length || given.length < takes.filter(({ otherwise }) => !otherwise).length)) {
      return { fault: `Your function takes ${known.join(', ') || 'nothing'}; it is called with ${names.join(', ')}${names[1] ? ', in this order' : ''}.` };
    }
    page.line = null;
    page.restart();
    try {
      const got = answer(given), changed = names.find((_, k) => unlike(before[k], given[k]));
      const advice = given[names.indexOf(changed)] instanceof Tensor ? 'Work on a new tensor: x = x - 1 makes one, x -= 1 and x.sub_(1) do not.' : 'Work on a copy.';
      return { got, fault: changed && `Your function changed its argument ${changed} in place. ${advice}` };
    } catch (error) {
      if (error instanceof RangeError) return { got: 'RecursionError', fault: 'Your function raised an error:\n    RecursionError: maximum recursion depth exceeded' };
      if (!(error instanceof PythonError) || ['Unknown', 'Endless'].includes(error.kind)) throw error;
      const line = page.line && page.source?.split('\n')[page.line - 1].trim();
      return { got: says(error), fault: `Your function raised an error${page.line ? ` in line ${page.line}` : ''}:${line ? `\n    ${line}` : ''}\n    ${says(error)}` };
    }
  }
  // An exercise makes its cases anew for every call: nothing that a function changes stays.
  function judge(exercise, answer) {
    const { returns, tolerance } = exercise, names = exercise.arguments, make_ = () => exercise.cases(values);
    page.printed ??= '';
    const cases = make_(), before = make_();
    const tried = cases.map((each, k) => {
      const found = attempt(names.slice(0, each.given.length), each.given, before[k].given, answer);
      return { ...each, ...found, fault: found.fault ?? difference(returns, each.expected, found.got, tolerance) };
    });
    const wrong = tried.flatMap(({ fault }, k) => (fault ? [k] : []));
    if (!wrong.length) return { passed: true, text: `Right in all ${cases.length} cases: ${cases.map(({ about }) => about).join('; ')}.` };
    const first = tried[wrong[0]], right = cases.length - wrong.length;
    const off = wrong.filter((k) => difference(returns, tried[k].expected, tried[k].got, 1e-4)), [one] = off;
    const fits = exercise.mistakes(values).map(({ says: sentence, gives }) => [sentence, off.length && isSample(gives[one], tried[one].got) ? tried.filter(({ got }, k) => isSample(gives[k], got)).length : 0]);
    const [sentence, most] = fits.reduce((a, b) => (b[1] > a[1] ? b : a), [null, Math.max(1, cases.length - off.length - 1)]);
    const lines = [
      `Not yet: ${right} of ${cases.length} cases ${right === 1 ? 'is' : 'are'} right. The first that is not: ${first.about}.`,
      `Called with ${first.called}.`, first.fault,
      sentence ? (most < cases.length ? 'This would explain some of your results: ' : '') + sentence : off.length && resemblance(returns, tried[one].expected, tried[one].got, tolerance),
    ];
    return failed(lines.filter(Boolean).join('\n'));
  }

  const SUBSET = 'This page knows a part of Python and of PyTorch: functions, conditions, loops, lists and the usual operations on tensors. The notebook knows the rest.';
  // Judges what the reader wrote: the function of that name, as text.
  function check(exercise, source) {
    Object.assign(page, { line: null, source, printed: '' });
    page.restart();
    try {
      const scope = new page.Scope(world);
      page.parse(source)(scope);
      const answer = scope.own.get(exercise.function);
      if (typeof answer !== 'function') return failed(`There is no function called ${exercise.function}.`);
      return judge(exercise, answer);
    } catch (error) {
      const where = page.line ? `Line ${page.line}: ` : '';
      if (error instanceof RangeError) return failed('This is nested too deeply for this page.');
      const isKnown = error instanceof PythonError;  // what the tables are called with in vain is not
      if (!isKnown || error.kind === 'Unknown') return failed(`${where}${isKnown ? error.message : 'What is done here'} is not known here. ${SUBSET}`);
      return failed(where + (error.kind === 'Endless' ? error.message : says(error)));
    }
  }
  Object.assign(page, { check, judge, load, show });
})();
