// Tensors as PyTorch has them, small: its dtypes, and its messages where a mistake is known by them.
// A tensor is a shape and, for each entry, the place of its number: a view has other places of the
// same numbers. Python's whole numbers are BigInt here, its other numbers are number.
globalThis.glassboxPage ??= {};
(() => {
  'use strict';
  const LIMIT = 2_000_000;  // steps and new entries in one call of the reader's function
  const STORES = { bool: Uint8Array, int32: Int32Array, int64: Float64Array, float32: Float32Array, float64: Float64Array };
  const ORDER = Object.keys(STORES);

  class PythonError extends Error {
    constructor(kind, message) { super(message); this.kind = kind; }
  }
  const fail = (kind, message) => { throw new PythonError(kind, message); };
  const unknown = (what) => fail('Unknown', what);

  let steps = 0;
  const restart = () => { steps = 0; };
  const spend = (count = 1) => {
    if (!((steps += count) <= LIMIT)) fail('Endless', 'your function takes too many steps for this page: does it ever end, and are its tensors small?');
  };

  class Tuple extends Array {}
  class Dtype { constructor(name) { this.name = name; } }
  class Slice { constructor(start, stop, step) { Object.assign(this, { start, stop, step }); } }
  const ELLIPSIS = { name: 'Ellipsis' };
  const dtypes = Object.fromEntries(ORDER.map((name) => [name, new Dtype(name)]));

  class Tensor {
    constructor(dtype, shape, data, at) {
      spend(at.length);
      Object.assign(this, { dtype, shape, data, at });
    }
    get numbers() { return Array.from(this.at, (place) => this.data[place]); }
  }
  const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
  const upTo = (count) => { spend(count); return Array.from({ length: count }, (_, i) => i); };
  const isFloat = (dtype) => dtype.startsWith('float');
  function make(dtype, shape, numbers) {
    const clean = dtype === 'bool' ? (n) => +(n !== 0) : isFloat(dtype) ? (n) => n : (n) => Math.trunc(Number.isFinite(n) ? n : -(2 ** (dtype === 'int32' ? 31 : 63)));
    return new Tensor(dtype, shape, STORES[dtype].from(numbers, clean), upTo(product(shape)));
  }
  const view = (x, shape, places) => new Tensor(x.dtype, shape, x.data, places.map((place) => x.at[place]));
  const cast = (x, dtype) => make(dtype, x.shape, x.numbers);
  const to = (x, dtype) => (x.dtype === dtype ? x : cast(x, dtype));
  const entry = (dtype, n) => (dtype === 'bool' ? n !== 0 : isFloat(dtype) ? n : BigInt(n));

  function item(x) {
    if (x.at.length !== 1) fail('RuntimeError', `a Tensor with ${x.at.length} elements cannot be converted to Scalar`);
    return entry(x.dtype, x.data[x.at[0]]);
  }
  const dtypeOf = (value) => (value instanceof Tensor ? value.dtype : { boolean: 'bool', bigint: 'int64', number: 'float32' }[typeof value]);
  const number = (value) => (typeof value === 'string' ? unknown('a text as a number') : dtypeOf(value) ? Number(value instanceof Tensor ? item(value) : value) : fail('TypeError', 'a number is expected'));
  const whole = (value) => (dtypeOf(value) && !isFloat(dtypeOf(value)) ? number(value) : fail('TypeError', 'a whole number is expected'));
  const sizes = (list) => Array.from(list.length === 1 && Array.isArray(list[0]) ? list[0] : list, whole);
  const isList = (value) => typeof value === 'object' && value?.length >= 0;  // or a range
  function tensor(value, dtype) {
    if (value instanceof Tensor) return value;
    const shape = [], flat = [];
    (function walk(part, depth) {
      if (!isList(part)) return flat.push(part);
      if ((shape[depth] ??= part.length) !== part.length) fail('ValueError', `expected sequence of length ${shape[depth]} at dim ${depth} (got ${part.length})`);
      return [...part].forEach((each) => walk(each, depth + 1));
    })(value, 0);
    const found = flat.map((each) => dtypeOf(each) ?? fail('TypeError', 'a tensor is made of numbers'));
    return make(dtype ?? ORDER.findLast((name) => found.includes(name)) ?? 'float32', shape, flat.map(number));
  }

  function axis(x, dim) {
    const given = whole(dim), many = Math.max(x.shape.length, 1);
    if (given < -many || given >= many) fail('IndexError', `Dimension out of range (expected to be in range of [${-many}, ${many - 1}], but got ${given})`);
    return (given + many) % many;
  }
  const strides = (shape) => shape.map((_, d) => product(shape.slice(d + 1)));
  // Every sum of one number of each list, the last list moving fastest.
  const combine = (lists) => lists.reduce((sums, list) => {
    spend(sums.length * list.length);
    return sums.flatMap((sum) => list.map((n) => sum + n));
  }, [0]);
  const walk = (count, stride) => upTo(count).map((i) => i * stride);
  function permute(x, order) {
    const step = strides(x.shape);
    return view(x, order.map((d) => x.shape[d]), combine(order.map((d) => walk(x.shape[d], step[d]))));
  }
  function expand(x, shape) {
    if (together(x.shape, shape).join() !== shape.join()) fail('RuntimeError', `a tensor of shape [${x.shape.join(', ')}] does not fit into [${shape.join(', ')}]`);
    const extra = shape.length - x.shape.length, step = strides(x.shape);
    const strideOf = (d) => (d < extra || x.shape[d - extra] === 1 ? 0 : step[d - extra]);
    return view(x, shape, combine(shape.map((size, d) => walk(size, strideOf(d)))));
  }
  function together(one, other) {
    const length = Math.max(one.length, other.length);
    return Array.from({ length }, (_, d) => {
      const [a, b] = [one, other].map((shape) => shape[d - length + shape.length] ?? 1);
      if (a !== b && a !== 1 && b !== 1) fail('RuntimeError', `The size of tensor a (${a}) must match the size of tensor b (${b}) at non-singleton dimension ${d}`);
      return a === 1 ? b : a;
    });
  }
  function reshape(x, wanted) {
    const shape = wanted.map((size) => (size < 0 ? x.at.length / product(wanted.filter((n) => n >= 0)) : size));
    if (product(shape) !== x.at.length || !shape.every(Number.isInteger)) fail('RuntimeError', `shape '[${wanted.join(', ')}]' is invalid for input of size ${x.at.length}`);
    return view(x, shape, upTo(x.at.length));
  }

  // Whether a tensor lies in memory as a view has to.
  function isSteady(y) {
    const step = strides(y.shape), [first] = y.at;
    const apart = y.shape.map((size, d) => (size > 1 ? y.at[step[d]] - first : 0));
    return y.at.every((place, i) => place === first + total(apart.map((by, d) => by * (Math.floor(i / step[d]) % y.shape[d]))));
  }
  function reshaped(x, wanted) {
    const y = reshape(x, wanted);
    return isSteady(y) ? y : cast(y, y.dtype);
  }
  function viewed(x, wanted) {
    const y = reshape(x, wanted);
    return isSteady(y) ? y : fail('RuntimeError', "view size is not compatible with input tensor's size and stride. Use .reshape(...) instead.");
  }

  // What a result is made of: tensors with axes decide, unless what has none is of a higher kind.
  const rank = (dtype) => (dtype === 'bool' ? 0 : isFloat(dtype) ? 2 : 1);
  function promote(...values) {
    const level = (value) => (value instanceof Tensor ? 1 + (value.shape.length > 0) : 0);
    return [2, 1, 0].reduce((dtype, each) => {
      const names = values.filter((value) => level(value) === each).map(dtypeOf);
      const highest = ORDER.findLast((name) => names.includes(name));
      return highest && (!dtype || rank(highest) > rank(dtype)) ? highest : dtype;
    }, undefined);
  }
  const modulo = (a, b) => a - b * Math.floor(a / b);
  const ARITHMETIC = {
    '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b,
    '//': (a, b) => Math.floor(a / b), '%': modulo, '**': (a, b) => a ** b,
    '&': (a, b) => a & b, '|': (a, b) => a | b, '^': (a, b) => a ^ b, minimum: Math.min, maximum: Math.max,
  };
  const COMPARISONS = {
    '==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b,
  };
  function binary(op, a, b) {
    if (!dtypeOf(a) || !dtypeOf(b)) fail('TypeError', `unsupported operand type(s) for ${op}`);
    const dtype = promote(a, b), compares = Object.hasOwn(COMPARISONS, op), f = compares ? COMPARISONS[op] : ARITHMETIC[op];
    if ('&|^'.includes(op) && rank(dtype) > 1) fail('RuntimeError', `"bitwise" not implemented for ${dtype}`);
    if (op === '-' && [a, b].some((x) => dtypeOf(x) === 'bool')) fail('RuntimeError', 'Subtraction, the `-` operator, with a bool tensor is not supported. Use ~ to invert a mask.');
    const [one, other] = [a, b].map((x) => tensor(x, dtype)), shape = together(one.shape, other.shape);
    const [left, right] = [one, other].map((x) => expand(x, shape).numbers);
    return make(compares ? 'bool' : op === '/' && rank(dtype) < 2 ? 'float32' : dtype, shape, left.map((n, i) => +f(n, right[i])));
  }
  const swap = (x, one, other) => {
    const order = upTo(x.shape.length);
    [order[one], order[other]] = [order[other], order[one]];
    return permute(x, order);
  };
  function matmul(a, b) {
    if (!(a instanceof Tensor && b instanceof Tensor)) fail('TypeError', 'both sides of @ must be tensors');
    if (a.dtype !== b.dtype) fail('RuntimeError', `expected m1 and m2 to have the same dtype, but got: ${a.dtype} != ${b.dtype}`);
    const [p, q] = [a.shape, b.shape];
    if (!p.length || !q.length) fail('RuntimeError', 'both arguments to matmul need to be at least 1D');
    if (p.at(-1) !== (q.at(-2) ?? q[0])) {
      fail('RuntimeError', p.length > 1 && q.length === 2 ? `mat1 and mat2 shapes cannot be multiplied (${product(p.slice(0, -1))}x${p.at(-1)} and ${q.join('x')})`
        : `the shapes [${p.join(', ')}] and [${q.join(', ')}] cannot be multiplied`);
    }
    const rows = reshape(a, [...p.slice(0, -1), ...(q.length > 1 ? [1] : []), p.at(-1)]);
    let columns = q.length > 1 ? swap(b, q.length - 2, q.length - 1) : b;
    if (p.length > 1 && q.length > 2) columns = reshape(columns, [...q.slice(0, -2), 1, q.at(-1), q.at(-2)]);
    const products = binary('*', cast(rows, 'float64'), cast(columns, 'float64'));  // added up in full
    return cast(reduce(products, -1n, false, total), a.dtype);
  }

  function sliced({ start, stop, step }, size) {
    const by = step === null ? 1 : whole(step), up = by > 0, found = [];
    if (by === 0) fail('ValueError', 'slice step cannot be zero');
    const clip = (value, otherwise) => (value === null ? otherwise : Math.max(up ? 0 : -1, Math.min(up ? size : size - 1, whole(value) + (whole(value) < 0 ? size : 0))));
    const last = clip(stop, up ? size : -1);
    for (let i = clip(start, up ? 0 : size - 1); up ? i < last : i > last; i += by) found.push(i);
    return found;
  }
  const nonzero = (mask) => {
    const places = mask.numbers.flatMap((n, i) => (n ? [i] : [])), step = strides(mask.shape);
    return mask.shape.map((of, d) => Object.assign(make('int64', [places.length], places.map((place) => Math.floor(place / step[d]) % of)), { of }));
  };
  // The entries that a key means: a view, or a copy where lists or tensors choose.
  function select(x, key) {
    let keys = (key instanceof Tuple ? [...key] : [key]).flatMap((part) => {
      const list = isList(part) ? (part.length ? tensor([...part]) : make('int64', [0], [])) : part;
      return list instanceof Tensor && list.dtype === 'bool' ? nonzero(list) : [list];
    });
    const rest = x.shape.length - keys.filter((part) => part !== null && part !== ELLIPSIS).length;
    if (rest < 0) fail('IndexError', `too many indices for tensor of dimension ${x.shape.length}`);
    if (!keys.includes(ELLIPSIS)) keys.push(ELLIPSIS);
    keys = keys.flatMap((part) => (part === ELLIPSIS ? new Array(rest).fill(new Slice(null, null, null)) : [part]));
    const step = strides(x.shape), shape = [], adds = [], listed = [];
    let d = 0;
    keys.forEach((part, k) => {
      if (part === null) return shape.push([1]);
      const size = x.shape[d], stride = step[d], dim = d++;
      const inside = (i) => (i >= -size && i < size ? (i + size) % size * stride : fail('IndexError', `index ${i} is out of bounds for dimension ${dim} with size ${size}`));
      if (part.of >= 0 && part.of !== size) fail('IndexError', `a mask of size ${part.of} at an axis of size ${size}`);
      if (part instanceof Slice) {
        if (part.step < 0) fail('ValueError', 'step must be greater than zero');
        const found = sliced(part, size);
        shape.push([found.length]);
        return adds.push(found.map(inside));
      }
      if (!(part instanceof Tensor && part.shape.length)) return adds.push([inside(whole(part))]);
      if (isFloat(part.dtype)) fail('IndexError', 'tensors used as indices must be long, int, byte or bool tensors');
      const places = make('int64', part.shape, part.numbers.map(inside)), before = listed.at(-1);
      listed.push({ k, places });
      if (!before) return shape.push(listed) && adds.push(listed);
      return before.k + 1 === k || unknown('a slice between lists or tensors of places');
    });
    const all = listed.length && listed.map(({ places }) => places).reduce((a, b) => binary('+', a, b));
    const result = shape.flatMap((part) => (part === listed ? all.shape : part));
    const found = view(x, result, combine(adds.map((part) => (part === listed ? all.numbers : part))));
    return { found, isView: !listed.length };
  }
  function getItem(x, key) {
    const { found, isView } = select(x, key);
    return isView ? found : cast(found, found.dtype);
  }
  function fill(target, value) {
    const { numbers } = cast(expand(tensor(value, target.dtype), target.shape), target.dtype);
    target.at.forEach((place, i) => { target.data[place] = numbers[i]; });
    return target;
  }

  // The numbers along some axes are rows: each becomes one number, or another row.
  function rowsOf(x, dims) {
    const others = upTo(x.shape.length).filter((d) => !dims.includes(d)), order = [...others, ...dims];
    const { numbers } = permute(x, order), kept = others.map((d) => x.shape[d]), length = product(dims.map((d) => x.shape[d]));
    return { order, kept, rows: upTo(product(kept)).map((i) => numbers.slice(i * length, (i + 1) * length)) };
  }
  function reduce(x, dim, keepdim, f, dtype = x.dtype) {
    const dims = dim === null ? upTo(x.shape.length) : x.shape.length ? [dim].flat().map((each) => axis(x, each)) : [];
    const { rows, kept } = rowsOf(x, dims);
    return make(dtype, keepdim ? x.shape.map((size, d) => (dims.includes(d) ? 1 : size)) : kept, rows.map(f));
  }
  function along(x, dim, f, dtype = x.dtype) {
    const { rows, kept, order } = rowsOf(x, [axis(x, dim)]), changed = rows.map(f);
    return permute(make(dtype, [...kept, x.shape[order.at(-1)]], changed.flat()), order.map((_, d) => order.indexOf(d)));
  }
  const nested = (x) => (x.shape.length ? upTo(x.shape[0]).map((k) => nested(getItem(x, BigInt(k)))) : item(x));
  const total = (row) => row.reduce((a, b) => a + b, 0);

  Object.assign(glassboxPage, {
    ARITHMETIC, Dtype, ELLIPSIS, PythonError, Slice, Tensor, Tuple, along, axis, binary, cast, dtypeOf, dtypes, entry, expand, fail, fill,
    getItem, isFloat, item, make, matmul, nested, nonzero, number, permute, promote, reduce, reshaped, restart, select, sizes, sliced, spend, swap,
    tensor, to, together, total, unknown, upTo, viewed, whole,
  });
})();
