// What the page has by name: some of Python's own functions, of math, and of torch what is not
// written in Python in prelude.txt. An entry says what it is called and takes: 'name one two *more'.
(() => {
  'use strict';
  const page = glassboxPage;
  const { Dtype, Tensor, Tuple, along, cast, dtypeOf, fail, isFloat, make, number, reduce, sizes, spend, tensor, to, total, unknown, upTo, whole } = page;

  class Range {
    constructor(start, stop, step) { Object.assign(this, { start, step, length: Math.max(0, Math.ceil((stop - start) / step)) }); }
    * [Symbol.iterator]() { for (let k = 0; k < this.length; k++) yield BigInt(this.start + k * this.step); }
  }
  class Module { constructor(name, ...members) { Object.assign(this, { name, members }); } }
  const TYPES = { bigint: 'int', number: 'float', boolean: 'bool', string: 'str', function: 'function' };
  const CLASSES = [[Tuple, 'tuple'], [Array, 'list'], [Tensor, 'torch.Tensor'], [Range, 'range'], [Module, 'module'], [Dtype, 'torch.dtype']];
  const kind = (value) => TYPES[typeof value] ?? (value === null ? 'NoneType' : CLASSES.find(([type]) => value instanceof type)?.[1] ?? 'generator');

  const mustBeTensor = (name, value) => value instanceof Tensor || fail('TypeError', `${name}(): argument 'input' (position 1) must be Tensor, not ${kind(value)}`);
  // Python's way of calling, by place or by name: what is left out is undefined.
  const placed = (called, takes, args, byName) => {
    const rest = takes.findIndex((each) => each[0] === '*'), end = rest < 0 ? args.length : rest;
    return takes.map((name, k) => {
      if (k === rest) return args.slice(k);
      if (k >= Math.min(end, args.length)) return byName.get(name);
      return byName.has(name) ? fail('TypeError', `${called}() got multiple values for argument '${name}'`) : args[k];
    });
  };
  const table = (entries) => new Map(Object.entries(entries).map(([spec, f]) => {
    const [name, ...takes] = spec.split(' ');
    return [name, (args, byName = new Map()) => {
      if (args.length > takes.length && !spec.includes('*')) unknown(`${name}() with ${args.length} arguments`);
      for (const each of byName.keys()) if (!takes.includes(each)) unknown(`${name}(${each}=...)`);
      if (takes[0] === 'input') mustBeTensor(name, args.length ? args[0] : byName.get('input'));
      return f(...placed(name, takes, args, byName));
    }];
  }));
  const families = (...groups) => table(Object.assign({}, ...groups.map(([takes, wrap, members]) => Object.fromEntries(Object.entries(members).map(([name, f]) => [`${name} ${takes}`, wrap(f)])))));
  const all = (values) => [...page.iterate(values)];
  const yes = (value) => value !== undefined && page.truth(value);

  // Python's own
  const best = (sign) => (values, key) => {
    const found = values.length === 1 ? all(values[0]) : values, of = (value) => (key ? page.call(key, [value]) : value);
    return found.length ? found.reduce((a, b) => (page.truth(page.compare(sign, of(b), of(a))) ? b : a)) : fail('ValueError', 'the largest or smallest of nothing');
  };
  const sorted = (values, key, reverse) => {
    const of = (value) => (key ? page.call(key, [value]) : value), sign = yes(reverse) ? '>' : '<';
    const before = (a, b) => page.truth(page.compare(sign, of(a), of(b)));
    return all(values).sort((a, b) => (before(a, b) ? -1 : +before(b, a)));
  };
  const integer = (n) => (Number.isFinite(n) ? BigInt(n) : fail(Number.isNaN(n) ? 'ValueError' : 'OverflowError', `cannot convert float ${Number.isNaN(n) ? 'NaN' : 'infinity'} to integer`));
  const even = (n) => (Math.abs(n % 1) === 0.5 ? 2 * Math.round(n / 2) : Math.round(n));
  const bounds = (start = 0n, stop, step = 1n) => (stop === undefined ? [0n, start, step] : [start, stop, step]);
  const zip = (lists) => {
    const found = lists.map(all);
    return upTo(Math.min(...found.map((each) => each.length))).map((k) => Tuple.from(found.map((each) => each[k])))[Symbol.iterator]();
  };
  const shown = (values, between) => values.map((value) => page.show(value)).join(between);
  function format(x, spec = '') {
    const [, side, width, digits = 6, as] = /^([<>]?)(\d*)(?:\.(\d+)(?=[f%]))?([df%]?)$/.exec(spec) ?? unknown(`the format :${spec}`);
    const n = as === 'f' ? number(x) : as === '%' ? 100 * number(x) : NaN, text = (Number.isFinite(n) ? n.toFixed(digits) : page.show(x)) + (as === '%' ? as : '');
    spend(text.length + +width);
    return side === '<' || (!side && typeof x === 'string') ? text.padEnd(width) : text.padStart(width);
  }
  const builtins = table({
    'abs x': (x) => (x instanceof Tensor ? methods.get('abs')([x]) : x < 0 ? -x : x), 'pow a b': (a, b) => page.operate('**', a, b),
    'all values': (values) => all(values).every(page.truth), 'any values': (values) => all(values).some(page.truth),
    'bool x': (x) => page.truth(x), 'int x': (x) => integer(Math.trunc(number(x))),
    'float x': (x) => (typeof x === 'string' ? Number(x.replace(/inf(inity)?$/i, 'Infinity')) : number(x)),
    'list values': (values = []) => all(values), 'tuple values': (values = []) => Tuple.from(all(values)),
    'divmod a b': (a, b) => Tuple.of(page.operate('//', a, b), page.operate('%', a, b)),
    'enumerate values start': (values, start = 0n) => all(values).map((value, k) => Tuple.of(BigInt(k) + start, value))[Symbol.iterator](),
    'len x': (x) => BigInt((x instanceof Tensor ? x.shape[0] : x?.length) ?? fail('TypeError', `object of type '${kind(x)}' has no len()`)),
    'map f *lists': (f, lists) => all(zip(lists)).map((each) => page.call(f, [...each]))[Symbol.iterator](), 'zip *lists': zip,
    'max *values key': best('>'), 'min *values key': best('<'), 'sorted values key reverse': sorted, 'reversed values': (values) => all(values).reverse()[Symbol.iterator](),
    'print *values sep end': (values, sep, end = '\n') => { spend(1000); page.printed += shown(values, sep ?? ' ') + (end ?? '\n'); return null; },
    'str x': (x = '') => page.show(x), '_f *parts': (parts) => shown(parts, ''), 'format x spec': format,
    'range start stop step': (...given) => { const [a, b, by] = bounds(...given).map(whole); return by ? new Range(a, b, by) : fail('ValueError', 'range() arg 3 must not be zero'); },
    'round x': (x) => integer(even(number(x))), 'sum values start': (values, start = 0n) => all(values).reduce((a, b) => page.operate('+', a, b), start),
  });
  const lists = table({
    'append l x': (l, x) => { l.push(x); return null; }, 'extend l values': (l, values) => { for (const x of all(values)) l.push(x); return null; },
    'pop l i': (l, i = -1n) => l.splice(page.place(l, i), 1)[0],
  });
  const finite = (f) => (x) => { const n = number(x), found = f(n); return Number.isFinite(found) || !Number.isFinite(n) ? found : fail('ValueError', 'math domain error'); };
  const { sqrt, exp, log, log2, sin, cos, tanh } = Math;
  const math = new Module('math', new Map(Object.entries({ inf: Infinity, pi: Math.PI, nan: NaN, e: Math.E })),
    families(['x', finite, { sqrt, exp, log, log2, sin, cos, tanh, erf }], ['x', (f) => (x) => integer(f(number(x))), { floor: Math.floor, ceil: Math.ceil }], ['values', (f) => (values) => all(values).reduce(f, 1n), { prod: (a, b) => page.operate('*', a, b) }]));

  // Of torch: what works on numbers one by one, on rows of them, or makes them.
  function erf(x) {  // a series near zero, a fraction beyond
    const far = Math.abs(x);
    let term = x, sum = x, tail = 0;
    for (let n = 1; n < 60 && far < 3; n++) sum += (term *= -x * x / n) / (2 * n + 1);
    for (let n = 40; n > 0; n--) tail = n / 2 / (far + tail);
    return far < 3 ? 2 / sqrt(Math.PI) * sum : Math.sign(x) * (1 - exp(-x * x) / sqrt(Math.PI) / (far + tail));
  }
  const largest = (row) => row.reduce((a, b) => (b > a || Number.isNaN(b) ? b : a), -Infinity);
  const smallest = (row) => -largest(row.map((n) => -n));
  const placeOf = (f) => (row) => { const found = f(row); return row.findIndex((n) => n === found || Number.isNaN(n)); };
  const summed = (x) => (isFloat(x.dtype) ? x.dtype : 'int64');
  const mixed = (x) => (isFloat(x.dtype) ? x.dtype : fail('RuntimeError', `mean(): could not infer output dtype. Got: ${x.dtype}`));
  const over = (dtype) => (f) => (x, dim = null, keepdim = undefined) => reduce(x, dim, yes(keepdim), (row) => +f(row), dtype(x));
  const each = (dtype) => (f) => (x) => make(dtype(x), x.shape, x.numbers.map((n) => +f(n)));
  const [same, decimal, whole_, truth] = [(x) => x.dtype, (x) => (isFloat(x.dtype) ? x.dtype : 'float32'), () => 'int64', () => 'bool'];
  const methods = families(
    ['input', each(decimal), { sqrt, exp, log, log2, sin, cos, tanh, erf }], ['input', each(truth), { isnan: Number.isNaN, isfinite: Number.isFinite }],
    ['input', each(same), { abs: Math.abs, floor: Math.floor, ceil: Math.ceil, round: even, clone: (n) => n }],
    ['input', (dtype) => (x) => to(x, dtype), { float: 'float32', double: 'float64', long: 'int64', int: 'int32', bool: 'bool' }],
    ['input dim keepdim', over(same), { amax: largest, amin: smallest }], ['input dim keepdim', over(mixed), { mean: (row) => total(row) / row.length }],
    ['input dim keepdim', over(summed), { sum: total, prod: (row) => row.reduce((a, b) => a * b, 1) }],
    ['input dim keepdim', over(truth), { any: (row) => row.some(Boolean), all: (row) => row.every(Boolean) }],
    ['input dim keepdim', over(whole_), { argmax: placeOf(largest), argmin: placeOf(smallest) }],
    ['input', (f) => f, { item: page.item, numel: (x) => BigInt(x.at.length), dim: (x) => BigInt(x.shape.length), tolist: page.nested, detach: (x) => x, contiguous: (x) => (x.at.every((place, i) => place === x.at[0] + i) ? x : cast(x, x.dtype)) }],
    ['input other', (f) => f, { matmul: page.matmul, copy_: page.fill }],
    ['x other', (op) => (x, y) => page.binary(op, x, y), { add: '+', sub: '-', mul: '*', div: '/', pow: '**', eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' }],
    ['input other', (name) => (x, y) => (y instanceof Tensor ? page.binary(name, x, y) : fail('TypeError', `${name}(): argument 'other' (position 2) must be Tensor, not ${kind(y)}`)), { minimum: 'minimum', maximum: 'maximum' }],
    ['input offset dim1 dim2', (f) => f, {
      diagonal(x, offset = 0n, dim1 = 0n, dim2 = 1n) {
        const dims = [dim1, dim2].map((d) => page.axis(x, d)), others = upTo(x.shape.length).filter((d) => !dims.includes(d));
        const y = page.permute(x, [...others, ...dims]), [m, n] = y.shape.slice(-2), k = whole(offset), rows = upTo(m).filter((i) => i + k >= 0 && i + k < n);
        return page.select(y, Tuple.of(page.ELLIPSIS, ...[0, k].map((by) => make('int64', [rows.length], rows.map((i) => i + by))))).found;
      },
    }],
    ['input other', ([axes, what]) => (x, y) => ([x, y].every(({ shape }) => shape.length === axes) ? page.matmul(x, y) : fail('RuntimeError', `${what} expected`)), {
      mm: [2, 'two matrices'], bmm: [3, 'two batches of matrices'], dot: [1, '1D tensors'],
    }],
    ['input dtype', (f) => f, { to: (x, dtype) => to(x, named(dtype)) }],
    ['input dim keepdim', (names) => (x, dim, keepdim) => {  // of one tensor, or of two
      const [both, value, place] = names.map((name) => methods.get(name));
      if (dim instanceof Tensor) return both([x, dim]);
      return dim === undefined ? value([x]) : Tuple.of(value([x, dim, keepdim]), place([x, dim, keepdim]));
    }, { max: ['maximum', 'amax', 'argmax'], min: ['minimum', 'amin', 'argmin'] }],
    ['input *sizes', (f) => (x, given) => f(x, sizes(given)), {
      reshape: page.reshaped, view: page.viewed, permute(x, dims) {
        const order = dims.map((d) => page.axis(x, BigInt(d))), many = x.shape.length;
        return order.length === many && new Set(order).size === many ? page.permute(x, order) : fail('RuntimeError', `permute: each of ${many} axes is expected once`);
      },
      expand: (x, shape) => page.expand(x, shape.map((n, d) => (n < 0 ? x.shape[d - shape.length + x.shape.length] : n))),
    }],
    ['input dim', (f) => f, {
      size: (x, dim) => (dim === undefined ? Tuple.from(x.shape.map(BigInt)) : BigInt(x.shape[page.axis(x, dim)])),
      cumsum: (x, dim) => along(x, dim, (row) => { let sum = 0; return row.map((n) => sum += n); }, summed(x)),
      argsort: (x, dim = -1n) => along(x, dim, (row) => upTo(row.length).sort((i, j) => row[i] - row[j]), 'int64'),
    }],
  );
  // Python's own types are dtypes as well.
  for (const [name, dtype] of [['bool', 'bool'], ['int', 'int64'], ['float', 'float64']]) builtins.get(name).dtype = dtype;
  const named = (kind, otherwise) => (kind ? kind.name || kind.dtype || unknown('such a dtype') : otherwise);
  const filled = (shape, value, dtype) => make(named(dtype, dtypeOf(value)), Array.from(shape), upTo(shape.reduce((a, b) => a * b, 1)).map(() => number(value)));
  const functions = table({
    'tensor data dtype': (data, dtype) => { const x = tensor(data, named(dtype)); return cast(x, named(dtype, x.dtype)); }, 'full size fill_value dtype': (size, value, dtype) => filled(sizes([size].flat()), value, dtype),
    'zeros *size dtype': (size, dtype) => filled(sizes(size), 0, dtype), 'ones *size dtype': (size, dtype) => filled(sizes(size), 1, dtype),
    'arange start end step dtype'(start, stop, step, dtype) {
      const given = bounds(start, stop, step), [a, b, by] = given.map(number), places = upTo(Math.max(0, Math.ceil((b - a) / by)));
      return make(named(dtype, page.promote(...given)), [places.length], places.map((k) => a + k * by));
    },
    'cat tensors dim'(tensors, dim = 0n) {
      const given = all(tensors), bare = given.findIndex((x) => !x.shape.length), some = given.filter((x) => x.shape.join() !== '0');
      if (bare >= 0) fail('RuntimeError', `zero-dimensional tensor (at position ${bare}) cannot be concatenated`);
      const list = some.length ? some : given, d = page.axis(list[0], dim), first = list.map((x) => page.swap(x, 0, d)), [, ...others] = first[0].shape;
      if (first.some((x) => x.shape.slice(1).join() !== others.join())) fail('RuntimeError', `Sizes of tensors must match except in dimension ${d}.`);
      const dtype = page.promote(...given), found = make(dtype, [total(first.map((x) => x.shape[0])), ...others], first.flatMap((x) => x.numbers));
      return cast(page.swap(found, 0, d), dtype);
    },
    'where condition x other'(...given) {
      if (given[1] === undefined && given[2] === undefined) return Tuple.from(page.nonzero(given[0]));
      const [condition] = given;
      if (!(condition instanceof Tensor)) fail('TypeError', `a boolean tensor is expected as the mask, not ${kind(condition)}`);
      if (condition.dtype !== 'bool') fail('RuntimeError', `where expected condition to be a boolean tensor, but got a tensor with dtype ${condition.dtype}`);
      if (!dtypeOf(given[1]) || !dtypeOf(given[2])) fail('TypeError', 'where() takes tensors and numbers');
      const mixed_ = page.promote(given[1], given[2]), parts = given.map((x, k) => tensor(x, k ? mixed_ : undefined)), shape = parts.map((x) => x.shape).reduce(page.together), [mask, a, b] = parts.map((x) => page.expand(x, shape).numbers);
      return make(mixed_, shape, mask.map((n, k) => (n ? a : b)[k]));
    },
  });

  // A name that one letter more, less or other, but not the first, would make known. Short names are alike by chance.
  const meant = (name, known) => {
    const found = known.find((each) => {
      let k = 0;
      while (k < name.length && name[k] === each[k]) k++;
      return k && each.length > 3 && [[1, 0], [0, 1], [1, 1]].some(([a, b]) => name.slice(k + a) === each.slice(k + b));
    });
    return name + (found ? ` (did you mean ${found}?)` : '');
  };

  // What follows a dot
  page.attribute = (value, name) => {
    if (value instanceof Module) return value.members.find((each) => each.has(name))?.get(name) ?? unknown(`${value.name}.${meant(name, value.members.flatMap((each) => [...each.keys()]))}`);
    const isTensor = value instanceof Tensor, last = isTensor && value.shape.length - 1;
    if (isTensor && name === 'T') return page.permute(value, upTo(last + 1).reverse());
    if (isTensor && name === 'mT') return last > 0 ? page.swap(value, last - 1, last) : fail('RuntimeError', `tensor.mT is only supported on matrices or batches of matrices. Got ${last + 1}-D tensor.`);
    if (isTensor && name === 'shape') return Tuple.from(value.shape.map(BigInt));
    if (isTensor && name === 'ndim') return BigInt(last + 1);
    if (isTensor && name === 'dtype') return page.dtypes[value.dtype];
    if (value instanceof Tuple && (name === 'values' || name === 'indices')) return value[+(name === 'indices')];
    // A tensor's name is no other value's, but for two; a text has more that the page does not know.
    const isOfTensors = methods.has(name) || ['shape', 'dtype', 'ndim', 'T', 'mT'].includes(name);
    if (value === null || (isOfTensors && !isTensor && typeof value !== 'string' && !['sort', 'numel'].includes(name))) {
      fail('AttributeError', `'${kind(value)}' object has no attribute '${name}'`);
    }
    const known = isTensor ? methods : kind(value) === 'list' ? lists : new Map(), f = known.get(name) ?? unknown(`${kind(value)}.${meant(name, [...known.keys()])}`);
    return (args, byName) => f([value, ...args], byName);
  };
  Object.assign(page, { Module, Range, builtins, functions, kind, math, methods, mustBeTensor, placed });
})();
