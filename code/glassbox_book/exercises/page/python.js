// The part of Python that the exercises need. What is read becomes functions of a scope; all that
// they can reach stands in tables of these files: JavaScript's own names are out of reach.
(() => {
  'use strict';
  const page = glassboxPage;
  const { ARITHMETIC, ELLIPSIS, Slice, Tensor, Tuple, dtypeOf, fail, isFloat, spend, unknown, upTo, whole } = page;

  // Words ---------------------------------------------------------------------------------------

  const WORD = new RegExp([
    /([^\S\n]+|\\\n|#.*)|(\n)/,
    /([bfruBFRU]{0,2}(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))/,
    /(0[xobXOB][\da-fA-F_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d+)(?:[eE][-+]?\d+)?)|([\p{L}_][\p{L}\p{N}_]*)/,
    /((?:\*\*|\/\/)=?|\.\.\.|->|:=|<<|>>|[-+*/%@&|^<>=!]=|[-+*/%@&|^~<>=.,:;()[\]{}])/,
  ].map((part) => part.source).join('|'), 'uy');
  const KINDS = ['space', 'newline', 'text', 'number', 'name', 'sign'];
  const KEYWORDS = new Set(('False None True and break continue def elif else for from if import in is lambda not or '
    + 'pass return while').split(' '));
  const OTHERS = new Set(('assert async await class del except finally global nonlocal raise try with yield '
    + ':= { << >>').split(' '));

  function words(source, first = 1) {
    const found = [], indents = [0];
    const opened = [];  // the lines of the brackets that are still open
    let line = first, fresh = true, place = 0;
    const add = (kind, text = '') => found.push({ kind, text, line });
    const wrong = (message) => { page.line = line; fail('SyntaxError', message); };
    // f'a {x:.2f}' is read as _f('a ', format(x, '.2f')).
    const formatted = (text) => {
      const [, quote, inside] = /^("{3}|'{3}|.)([^]*)\1$/.exec(text), parts = [];
      for (const [piece, value, spec = ''] of inside.matchAll(/\{([^{}]+?)(?::([^{}[\]:]*))?\}|(?:[^{}]|\{\{|\}\})+|./g)) {
        if (/^[{}]$/.test(piece)) wrong('this brace in an f-string is not known here');
        if (/[^=!<>]=\s*$|![rsa]$/.test(value)) { page.line = line; unknown(`{${value}} in an f-string`); }
        parts.push(value ? `format(${value}, ${quote}${spec}${quote})` : quote + piece.replace(/([{}])\1/g, '$1') + quote);
      }
      found.push(...words(`_f(${parts})`, line).slice(0, -2).map((word) => ({ ...word, line })));
    };
    while (place < source.length) {
      if (fresh) {
        const [blank] = /^[^\S\n]*/.exec(source.slice(place)), indent = blank.replaceAll('\t', '    ').length;
        if (!'#\n'.includes(source[place + blank.length] ?? '\n')) {
          if (indent > indents.at(-1)) add('in', indents.push(indent));
          while (indent < indents.at(-1)) add('out', indents.pop());
          if (indent !== indents.at(-1)) wrong('this line is not indented like any before it');
          fresh = false;
        }
      }
      WORD.lastIndex = place;
      const [text, ...groups] = WORD.exec(source) ?? wrong(`${String.fromCodePoint(source.codePointAt(place))} was not expected here`);
      const kind = KINDS[groups.findIndex((group) => group !== undefined)];
      if (kind === 'newline' && !opened.length) {
        if (!fresh) add('line');
        fresh = true;
      } else if (kind !== 'newline' && kind !== 'space') {
        if ('([{'.includes(text)) opened.push(line);
        else if (')]}'.includes(text)) opened.pop();
        if (kind === 'text' && /^[fF]["']/.test(text)) formatted(text.slice(1));
        else add(OTHERS.has(text) || (kind === 'text' && /^\w/.test(text)) ? 'other' : KEYWORDS.has(text) ? 'sign' : kind, text);
      }
      line += text.split('\n').length - 1;
      place += text.length;
    }
    if (opened.length) {
      line = opened.at(-1);
      wrong('a bracket is not closed');
    }
    add('line');
    while (indents.pop()) add('out');
    add('end');
    return found;
  }

  // Grammar: each part becomes a function of a scope -------------------------------------------------

  const BREAK = { jump: 'break' }, CONTINUE = { jump: 'continue' };
  const CONSTANTS = { None: null, True: true, False: false, '...': ELLIPSIS };
  const [NOT, COMPARING, ABOVE] = [2, 3, 4];
  const LEVELS = [['or'], ['and'], [], ['in', 'is', 'not', '==', '!=', '<', '<=', '>', '>='], ['|'], ['^'], ['&'],
    ['+', '-'], ['*', '/', '//', '%', '@']];

  class Scope {
    constructor(up, read) { Object.assign(this, { up, read, own: new Map() }); }  // read: in a function, what it took from above, and where
    find(name) {
      if (this.own.has(name)) return this.own.get(name);
      this.read?.set(name, page.line);
      return this.up ? this.up.find(name) : page.elsewhere.has(name) ? unknown(name) : fail('NameError', `name '${name}' is not defined`);
    }
    set(name, value) {
      if (this.read?.has(name)) {
        page.line = this.read.get(name);
        fail('UnboundLocalError', `cannot access local variable '${name}' where it is not associated with a value`);
      }
      this.own.set(name, value);
    }
  }

  function parse(source, isOurs = false) {
    const tokens = words(source.normalize().replace('\ufeff', ''));
    page.elsewhere = new Set('dict filter frozenset getattr hasattr isinstance iter next set slice str type'.split(' '));  // and what is imported
    let i = 0, start = 0;  // of a statement
    const is = (...texts) => tokens[i].kind === 'sign' && texts.includes(tokens[i].text);
    const accept = (...texts) => (is(...texts) ? tokens[i++].text : null);
    const wrong = (message = 'invalid syntax') => {
      page.line = tokens[i].line;
      const { text: first } = tokens[start];
      if (first === '@' || first === 'match') unknown(first === '@' ? 'a decorator' : first);
      return tokens[i].kind === 'other' ? unknown(tokens[i].text) : fail('SyntaxError', message);
    };
    const expect = (text) => accept(text) ?? wrong(`“${text}” is missing here`);
    const take = (kind) => (tokens[i].kind === kind ? tokens[i++].text : wrong());

    // What may stand to the left of = knows how to give its value away.
    const assign = (target, scope, value) => (target.assign ?? (() => unknown('this way to assign')))(scope, value);
    const spread = (parts, scope) => parts.flatMap((part) => (part.isStarred ? [...iterate(part(scope))] : [part(scope)]));
    const sequence = (parts, type) => Object.assign((scope) => type.from(spread(parts, scope)), {
      assign(scope, value) {
        if (parts.some((part) => part.isStarred)) unknown('* to the left of =');
        const values = [...iterate(value)], [wanted, got] = [parts.length, values.length];
        if (got > wanted) fail('ValueError', `too many values to unpack (expected ${wanted})`);
        if (got < wanted) fail('ValueError', `not enough values to unpack (expected ${wanted}, got ${got})`);
        parts.forEach((part, k) => assign(part, scope, values[k]));
      },
    });
    const part = () => (accept('*') ? Object.assign(operators(ABOVE), { isStarred: true }) : expression());
    const list = (each = part) => {
      const parts = [each()];
      if (!is(',') && !parts[0].isStarred) return parts[0];
      while (accept(',') && !is('=', 'in') && tokens[i].kind !== 'line') parts.push(each());
      return sequence(parts, Tuple);
    };
    const target = () => list(() => {
      if (!is('*')) return operators(ABOVE);
      page.line = tokens[i].line;
      return unknown('* to the left of in');
    });
    // Between brackets stand parts, or one part for each of something.
    const bracket = (end, each = part) => {
      const parts = [];
      let comma = null;
      do {
        if (is(end)) break;
        parts.push(each());
        if (is('for')) {
          const run = clauses();
          return expect(end) && { parts, run: (scope) => run(scope, parts[0]) };
        }
        comma = accept(',');
      } while (comma);
      return expect(end) && { parts, isOne: parts.length === 1 && !comma && !parts[0].isStarred };
    };
    const clauses = () => {
      const found = [];
      while (accept('for')) {
        const each = { target: target(), items: expect('in') && operators(0), tests: [] };
        while (accept('if')) each.tests.push(operators(0));
        found.push(each);
      }
      return (scope, element) => {
        const inner = new Scope(scope);
        return (function* run(k) {
          if (k === found.length) yield element(inner);
          else for (const value of iterate(found[k].items(inner))) {
            assign(found[k].target, inner, value);
            if (found[k].tests.every((test) => truth(test(inner)))) yield* run(k + 1);
          }
        })(0);
      };
    };

    const parameters = (end) => bracket(end, () => {
      const isRest = accept('*');
      if (is('**', '/') || (isRest && is(','))) {
        page.line = tokens[i].line;
        unknown(isRest ? 'a * without a name' : `${tokens[i].text} in front of a parameter`);
      }
      const own = { isRest, name: take('name') };
      if (end === ')' && accept(':')) expression();
      return Object.assign(own, accept('=') && { otherwise: expression() });
    }).parts;
    const makeFunction = (called, takes, run) => (scope) => {
      const defaults = takes.map(({ otherwise }) => otherwise?.(scope));
      const refuse = (how) => (isOurs ? unknown(`${called}() ${how}`) : fail('TypeError', `${called}() cannot be called ${how}`));
      return Object.assign((args, byName = new Map()) => {
        if (isOurs && args.length && takes[0].name === 'x') page.mustBeTensor(called, args[0]);
        const local = new Scope(scope, new Map());
        for (const name of byName.keys()) if (!takes.some((each) => each.name === name)) refuse(`with an argument '${name}'`);
        page.placed(called, takes.map(({ name, isRest }) => (isRest ? '*' : '') + name), args, byName).forEach((given, k) => {
          const { name, isRest } = takes[k], value = isRest ? Tuple.from(given) : given === undefined ? defaults[k] : given;
          local.set(name, value === undefined ? refuse(`without an argument '${name}'`) : value);
        });
        if (args.length > takes.length && !takes.some(({ isRest }) => isRest)) refuse(`with ${args.length} arguments`);
        const { line } = page, found = deeper(() => run(local));
        page.line = line;
        return found;
      }, { takes });
    };

    const expression = () => {
      if (accept('lambda')) {
        const takes = parameters(':');
        return makeFunction('<lambda>', takes, expression());
      }
      const value = operators(0);
      if (!accept('if')) return value;
      const test = operators(0), other = expect('else') && expression();
      return (scope) => (truth(test(scope)) ? value(scope) : other(scope));
    };
    const operators = (level) => {
      if (level === LEVELS.length) return unary();
      if (level === NOT && accept('not')) {
        const value = operators(NOT);
        return (scope) => !truth(value(scope));
      }
      let left = operators(level + 1);
      if (level === COMPARING) return comparison(left);
      for (let sign = accept(...LEVELS[level]); sign; sign = accept(...LEVELS[level])) {
        const one = left, op = sign, other = operators(level + 1);
        left = level > NOT ? (scope) => operate(op, one(scope), other(scope)) : (scope) => {
          const value = one(scope);
          return truth(value) === (op === 'or') ? value : other(scope);
        };
      }
      return left;
    };
    const comparison = (first) => {
      const rest = [];
      for (let sign = accept(...LEVELS[COMPARING]); sign; sign = accept(...LEVELS[COMPARING])) {
        if (sign === 'not') sign = expect('in') && 'not in';
        if (sign === 'is' && accept('not')) sign = 'not is';
        rest.push([sign, operators(ABOVE)]);
      }
      return rest.length ? (scope) => {
        let left = first(scope), result = true;
        for (const [sign, other] of rest) {
          const right = other(scope);
          result = sign.startsWith('not ') ? !truth(compare(sign.slice(4), left, right)) : compare(sign, left, right);
          if (rest.length > 1 && !truth(result)) return result;
          left = right;
        }
        return result;
      } : first;
    };
    const unary = () => {
      const sign = accept('-', '+', '~');
      if (sign) {
        const value = unary();
        return (scope) => negative(sign, value(scope));
      }
      const base = primary(), power = accept('**') && unary();
      return power ? (scope) => operate('**', base(scope), power(scope)) : base;
    };
    const primary = () => {
      const isText = () => tokens[i].kind === 'text' || tokens[i].text === '_f', begins = isText();
      let value = atom();
      for (let sign = accept('.', '(', '['); sign; sign = accept('.', '(', '[')) value = { '.': member, '(': called, '[': entry }[sign](value);
      if (!begins || !isText()) return value;
      const one = value, rest = primary();
      return (scope) => operate('+', one(scope), rest(scope));
    };
    const member = (value) => {
      const name = take('name');
      return (scope) => page.attribute(value(scope), name);
    };
    const entry = (value) => {
      const { parts, isOne } = bracket(']', slice), key = isOne ? parts[0] : sequence(parts, Tuple);
      return Object.assign((scope) => getItem(value(scope), key(scope)), {
        assign: (scope, given) => setItem(value(scope), key(scope), given),
      });
    };
    const called = (value) => {
      const { run, parts } = bracket(')', argument), byName = parts.filter((each) => each.byName), byPlace = parts.filter((each) => !each.byName);
      if (parts.some((each, k) => !each.byName && !each.isStarred && parts[k - 1]?.byName)) wrong('positional argument follows keyword argument');
      return (scope) => call(value(scope), run ? [run(scope)] : spread(byPlace, scope), new Map(byName.map((each) => [each.byName, each(scope)])));
    };
    const argument = () => {
      const byName = tokens[i + 1].text === '=' && take('name');
      if (!byName) return part();
      const value = expect('=') && expression();
      return Object.assign((scope) => value(scope), { byName });
    };
    const slice = () => {
      const parts = [is(':') ? null : part()];
      while (accept(':')) parts.push(is(':', ',', ']') ? null : expression());
      return parts.length === 1 ? parts[0] : (scope) => new Slice(...[0, 1, 2].map((k) => parts[k]?.(scope) ?? null));
    };
    const atom = () => {
      const { kind, text } = tokens[i++];
      if (kind === 'name') return Object.assign((scope) => scope.find(text), { assign: (scope, value) => scope.set(text, value) });
      if (kind === 'text') {
        const inside = text.replace(/^("""|'''|.)([^]*)\1$/, '$2').replace(/\\([nt\\'"\n])/g, (_, sign) => ({ n: '\n', t: '\t', '\n': '' })[sign] ?? sign);
        return () => inside;
      }
      if (kind === 'number') {
        const plain = text.replaceAll('_', ''), value = /^(\d+|0[xob].*)$/i.test(plain) ? BigInt(plain) : Number(plain);
        return () => value;
      }
      if (kind === 'sign' && Object.hasOwn(CONSTANTS, text)) return () => CONSTANTS[text];
      if (kind === 'sign' && text === '(') {
        const { run, parts, isOne } = bracket(')');
        return run ?? (isOne ? parts[0] : sequence(parts, Tuple));
      }
      if (kind === 'sign' && text === '[') {
        const { run, parts } = bracket(']');
        return run ? (scope) => [...run(scope)] : sequence(parts, Array);
      }
      i--;
      return wrong();
    };

    // Statements: each gives nothing, or where to jump.
    const at = (line) => { if (!isOurs) page.line = line; };
    const run = (statements) => (scope) => {
      for (const { line, act } of statements) {
        at(line);
        spend();
        const jump = act(scope);
        if (jump) return jump;
      }
      return undefined;
    };
    const block = () => {
      expect(':');
      if (tokens[i].kind !== 'line') return run(simple());
      if (tokens[++i].kind !== 'in') wrong('an indented block is missing here');
      const found = [];
      for (i++; tokens[i].kind !== 'out';) found.push(...statement());
      i++;
      return run(found);
    };
    const condition = () => {
      const { line } = tokens[i], test = expression(), then = block(), other = accept('elif') ? condition() : accept('else') && block();
      return (scope) => { at(line); return truth(test(scope)) ? then(scope) : other?.(scope); };
    };
    const loop = (begin) => {
      const body = block(), other = accept('else') && block();
      return (scope) => {
        for (const start of begin(scope)) {
          start();
          const jump = body(scope);
          if (jump === BREAK) return undefined;
          if (jump && jump !== CONTINUE) return jump;
        }
        return other?.(scope);
      };
    };
    const compound = {
      if: condition,
      while() {
        const { line } = tokens[i], test = expression();
        return loop(function* begin(scope) { while (at(line), truth(test(scope))) yield () => {}; });
      },
      for() {
        const each = target(), items = expect('in') && list();
        return loop(function* begin(scope) { for (const value of iterate(items(scope))) yield () => assign(each, scope, value); });
      },
      def() {
        const name = take('name'), takes = expect('(') && parameters(')');
        if (accept('->')) expression();
        const body = block(), make = makeFunction(name, takes, (scope) => body(scope)?.value ?? null);
        return (scope) => scope.set(name, make(scope));
      },
    };
    const statement = () => {
      start = i;
      const { line } = tokens[i], sign = accept(...Object.keys(compound));
      if (tokens[i].kind === 'in') wrong('this line is indented too far');
      return sign ? [{ line, act: compound[sign]() }] : simple();
    };
    const simple = () => {
      const found = [];
      do { if (tokens[i].kind !== 'line') found.push({ line: tokens[i].line, act: small() }); } while (accept(';'));
      take('line');
      return found;
    };
    const small = () => {
      const sign = accept('pass', 'break', 'continue', 'return', 'import', 'from');
      if (sign === 'import' || sign === 'from') while (tokens[i].kind !== 'line') page.elsewhere.add(tokens[i++].text);  // all that is known is there
      if (sign === 'return') {
        const value = tokens[i].kind === 'line' ? () => null : list();
        return (scope) => ({ value: value(scope) });
      }
      if (sign) return () => ({ break: BREAK, continue: CONTINUE })[sign];
      const targets = [list()];
      if (accept(':') && expression() && !is('=')) return () => undefined;  // an annotation alone
      const { kind, text } = tokens[i];
      if (kind === 'sign' && text !== '==' && /^\W+=$/.test(text)) {
        const value = ++i && list();
        return (scope) => assign(targets[0], scope, inPlace(text.slice(0, -1), targets[0](scope), value(scope)));
      }
      while (accept('=')) targets.push(list());
      const value = targets.pop();
      return (scope) => { const given = value(scope); targets.forEach((each) => assign(each, scope, given)); };
    };

    const statements = [];
    while (tokens[i].kind !== 'end') statements.push(...statement());
    return run(statements);
  }

  // Values: how they compare and combine, and how they are called -----------------------------------

  const { Range, kind } = page;
  const isInt = (value) => typeof value === 'bigint' || typeof value === 'boolean';
  const isNumber = (value) => isInt(value) || typeof value === 'number';
  const areTensors = (a, b) => (a instanceof Tensor || b instanceof Tensor) && dtypeOf(a) && dtypeOf(b);
  const cannot = (op, a, b) => ([a, b].some((value) => typeof value === 'string') ? unknown(`${op} with a text`) : fail('TypeError', `unsupported operand type(s) for ${op}: '${kind(a)}' and '${kind(b)}'`));

  function* counted(values) { for (const value of values) { spend(); yield value; } }
  function iterate(value) {
    if (value instanceof Tensor && value.shape.length) return counted(upTo(value.shape[0]).map((k) => page.getItem(value, BigInt(k))));
    return typeof value?.[Symbol.iterator] === 'function' ? counted(value) : fail('TypeError', `'${kind(value)}' object is not iterable`);
  }
  function truth(value) {
    if (value instanceof Tensor && value.at.length !== 1) fail('RuntimeError', 'Boolean value of Tensor with more than one value is ambiguous');
    return Boolean(value instanceof Tensor ? page.item(value) : Array.isArray(value) || value instanceof Range ? value.length : value);
  }
  const equal = (a, b) => (Array.isArray(a) && Array.isArray(b) ? kind(a) === kind(b) && a.length === b.length && a.every((each, k) => truth(compare('==', each, b[k])))
    : isNumber(a) && isNumber(b) ? a == b : a === b);  // numbers of either kind
  function compare(sign, a, b) {
    if (sign === 'is') return a === b;
    if (sign === 'in') return [...iterate(b)].some((each) => truth(compare('==', each, a)));
    if (areTensors(a, b)) return page.binary(sign, a, b);
    if (sign === '==' || sign === '!=') return equal(a, b) === (sign === '==');
    if (Array.isArray(a) && Array.isArray(b) && kind(a) === kind(b)) {  // the first that differ decide
      const k = a.findIndex((each, i) => i >= b.length || !truth(compare('==', each, b[i])));
      return a[k] === undefined || b[k] === undefined ? compare(sign, BigInt(a.length), BigInt(b.length)) : compare(sign, a[k], b[k]);
    }
    return isNumber(a) && isNumber(b) ? { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[sign] : cannot(sign, a, b);
  }

  const remainder = (a, b) => ((a % b) + b) % b;
  const power = (a, b, size = Number(b) * a.toString(16).length) => (size < 9_999 ? spend(size) ?? a ** b : unknown('such a large number'));
  const WHOLE = { ...ARITHMETIC, '%': remainder, '//': (a, b) => (a - remainder(a, b)) / b, '**': power };
  function arithmetic(op, a, b) {
    if ('//%'.includes(op) && b == 0) fail('ZeroDivisionError', 'division by zero');
    if (op === '**' && a == 0 && b < 0) fail('ZeroDivisionError', '0.0 cannot be raised to a negative power');
    if (!isInt(a) || !isInt(b) || op === '/' || (op === '**' && b < 0)) return '&|^'.includes(op) ? cannot(op, a, b) : ARITHMETIC[op](Number(a), Number(b));
    const found = WHOLE[op](BigInt(a), BigInt(b));
    if (op === '*') power(found, 1n);
    return typeof a === 'boolean' && typeof b === 'boolean' && '&|^'.includes(op) ? found === 1n : found;
  }
  function operate(op, a, b) {
    if (op === '@') return page.matmul(a, b);
    if (isNumber(a) && isNumber(b)) return arithmetic(op, a, b);
    if (areTensors(a, b)) return page.binary(op, a, b);
    if (op === '+' && Array.isArray(a) && kind(a) === kind(b)) { spend(a.length + b.length); return a.concat(b); }
    if (typeof a === 'string' && typeof b === 'string' && op === '+') { spend(a.length + b.length); return a + b; }
    if (typeof a === 'string' && isInt(b) && op === '*') return upTo(Math.max(0, Number(b))).fill(a).join('');
    if (op === '*' && Array.isArray(a) && isInt(b)) return a.slice(0, 0).concat(upTo(Math.max(0, Number(b)) * a.length).map((k) => a[k % a.length]));
    return op === '*' && Array.isArray(b) && isInt(a) ? operate(op, b, a) : cannot(op, a, b);
  }
  function inPlace(op, a, b) {
    if (kind(a) === 'list' && op === '+') { page.attribute(a, 'extend')([b]); return a; }
    const found = operate(op, a, b);
    if (!(a instanceof Tensor) || op === '@') return found;
    return isFloat(found.dtype) && !isFloat(a.dtype) ? fail('RuntimeError', `result type Float can't be cast to the desired output type ${a.dtype}`) : page.fill(a, found);
  }
  function negative(sign, value) {
    const dtype = dtypeOf(value), isTensor = value instanceof Tensor;
    if (isTensor && sign === '~' && isFloat(dtype)) fail('TypeError', '~ is only implemented on integer and Boolean-type tensors');
    if (isTensor && sign === '-' && dtype === 'bool') fail('RuntimeError', 'Negation, the `-` operator, on a bool tensor is not supported. Use ~ to invert a mask.');
    if (!dtype || (sign === '~' && isFloat(dtype))) fail('TypeError', `bad operand type for unary ${sign}: '${kind(value)}'`);
    if (sign === '~') return isTensor && dtype === 'bool' ? page.binary('==', value, false) : operate('-', -1n, value);
    return sign === '-' ? operate('*', value, -1n) : value;
  }

  const place = (list, key) => {
    const k = whole(key) + (whole(key) < 0 ? list.length : 0);
    return k >= 0 && k < list.length ? k : fail('IndexError', `${kind(list)} index out of range`);
  };
  function getItem(value, key) {
    if (value instanceof Tensor) return page.getItem(value, key);
    const items = value instanceof Range ? [...value] : Array.isArray(value) ? value : fail('TypeError', `'${kind(value)}' object is not subscriptable`);
    return key instanceof Slice ? items.slice(0, 0).concat(page.sliced(key, items.length).map((k) => items[k])) : items[place(items, key)];
  }
  function setItem(value, key, given) {
    if (value instanceof Tensor) {
      const { found } = page.select(value, key);
      if (!dtypeOf(given)) fail('TypeError', `can't assign a ${kind(given)} to a torch.Tensor`);
      while (given.shape?.length > found.shape.length && given.shape[0] === 1) given = page.getItem(given, 0n);  // as PyTorch does
      page.fill(found, given);
    } else if (kind(value) === 'list') value[key instanceof Slice ? unknown('a slice of a list to the left of =') : place(value, key)] = given;
    else fail('TypeError', `'${kind(value)}' object does not support this assignment`);
  }

  let depth = 0;
  function deeper(run) {
    try { return ++depth > 400 ? fail('RecursionError', 'maximum recursion depth exceeded') : run(); } finally { depth--; }
  }
  function call(f, args, byName) {
    spend();
    return typeof f === 'function' ? f(args, byName) : fail('TypeError', `'${kind(f)}' object is not callable`);
  }

  Object.assign(page, { Scope, call, compare, iterate, operate, parse, place, truth });
})();
