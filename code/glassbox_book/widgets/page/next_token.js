// A sentence written token by token: what is left of each distribution, and a choice out of it.
glassboxWidgets.define('next_token', (root) => {
  'use strict';
  const { part, parts, fixed, at, write } = glassboxWidgets;
  const FIRST = 30; // as in Python
  const { vocabulary, nodes } = JSON.parse(part(root, 'tree').textContent);
  const rows = parts(root, 'offer');
  const others = part(root, 'others');
  const [heat, k, p, m] = ['heat', 'k', 'p', 'm'].map((name) => part(root, name));
  let path = [[0, 0]]; // the nodes on the way here, and the log-probability of getting there
  let now = [];

  // Logits as [logit, how many tokens have it, which offer it is], the largest first.
  const unpack = ([, offers, others]) => {
    let above = FIRST;
    const size = (i) => {
      if (i < FIRST - offers.length) return 1;
      const count = Math.min(Math.floor(above / 10), vocabulary - above);
      above += count;
      return count;
    };
    return [
      ...offers.map(([logit], i) => [logit, 1, i]),
      ...others.map((logit, i) => [logit, size(i)]),
    ].sort((one, other) => other[0] - one[0]);
  };

  // The probability of one token of each group, and how many of each are left.
  const share = (groups) => {
    const powers = groups.map(([logit]) => Math.exp(logit - groups[0][0]));
    const sum = groups.reduce((all, [, count], i) => all + count * powers[i], 0);
    return powers.map((power) => power / sum);
  };

  // Temperature, top-k, top-p, min-p, in this order, as `glassbox.generation.process` has it.
  const reshape = (groups) => {
    const left = groups.map(([logit, count]) => [logit / (heat.value / 20), count]);
    if (k.value < 21) {
      let sum = 0;
      const [least] = left.find(([, count]) => (sum += count) >= k.value);
      for (const group of left) if (group[0] < least) group[1] = 0;
    }
    if (p.value < 100) {
      const shares = share(left);
      let room = 1 - p.value / 100;
      for (let i = left.length - 1; i > 0 && room > 0; i--) {
        const out = Math.min(left[i][1], Math.floor(room / shares[i] + 1e-9));
        room -= out * shares[i];
        left[i][1] -= out;
        if (left[i][1]) break;
      }
    }
    for (const group of left) if (Math.exp(group[0] - left[0][0]) < m.value / 100) group[1] = 0;
    return [share(left), left.map(([, count]) => count)];
  };

  const offers = () => (path.at(-1)[0] < 0 ? [] : nodes[path.at(-1)[0]][1]);
  // Numbers of the groups, of those alone that are offers, in the order of the offers.
  const ofOffers = (groups, numbers) => {
    const found = [];
    groups.forEach(([, , offer], i) => {
      if (offer !== undefined) found[offer] = numbers[i];
    });
    return found;
  };

  const bar = (row, was, is, left) => {
    const cells = row.querySelectorAll('td');
    write(cells[0], fixed(was, 3));
    write(cells[1], left ? fixed(is, 3) : 'cut');
    cells[2].firstChild.style.setProperty('--was', `${at(100 * was)}%`);
    cells[2].querySelector('span').style.width = `${at(100 * is)}%`;
  };

  const draw = (told) => {
    const [place, log] = path.at(-1);
    const ended = place < 0;
    const node = nodes[ended ? path.at(-2)[0] : place];
    const groups = unpack(node);
    const [shares, counts] = reshape(groups);
    const kept = counts.reduce((sum, count) => sum + count, 0);
    const was = ofOffers(groups, share(groups));
    const left = ofOffers(groups, counts);
    now = ofOffers(groups, shares).map((each, i) => each * left[i]);
    const focused = rows.find((row) => row.contains(document.activeElement));
    rows.forEach((row, i) => {
      const offer = node[1][i];
      row.classList.toggle('gb-blank', !offer);
      if (!offer) return;
      for (const name of row.querySelectorAll('bdi')) write(name, offer[1]);
      row.querySelector('button').setAttribute('aria-disabled', ended || !left[i]);
      bar(row, was[i], now[i], left[i]);
    });
    const last = rows.findLast((row) => !row.classList.contains('gb-blank'));
    last.after(others); // empty rows stand below
    if (focused?.classList.contains('gb-blank')) last.querySelector('button').focus();
    const rest = (numbers) => Math.max(0, 1 - numbers.reduce((sum, x) => sum + x, 0));
    const outside = kept - left.filter((count) => count).length;
    write(
      others.querySelector('bdi'),
      `${(vocabulary - was.length).toLocaleString('en')} others`,
    );
    bar(others, rest(was), outside ? rest(now) : 0, outside);
    write(part(root, 'written'), node[0] || 'nothing yet');
    const [t, q, r] = [heat.value / 20, p.value / 100, m.value / 100].map((x) => fixed(x));
    const shown = [t, k.value < 21 ? k.value : 'all', q, r];
    [heat, k, p, m].forEach((slider, i) => {
      write(part(root, `${slider.dataset.part}-shown`), shown[i]);
      slider.setAttribute('aria-valuetext', shown[i]);
    });
    const chance = Math.exp(log);
    const written = chance < 0.001 ? 'less than 0.001' : fixed(chance, 3);
    const counted = kept.toLocaleString('en');
    const of = `${counted} of ${vocabulary.toLocaleString('en')} tokens can be drawn.`;
    const all = `All ${counted} tokens can be drawn.`;
    const sofar = path.length > 1 ? ` The model gives this beginning a probability of ${written}.` : '';
    const end = `The sentence has ended. The model gives it a probability of ${written}.`;
    write(part(root, 'told'), told ?? (ended ? end : (kept < vocabulary ? of : all) + sofar));
    for (const name of ['draw', 'best']) part(root, name).setAttribute('aria-disabled', ended);
    for (const name of ['undo', 'again']) {
      part(root, name).setAttribute('aria-disabled', path.length < 2);
    }
  };

  const take = (i) => {
    const offer = offers()[i];
    if (!offer || !(now[i] > 0)) return;
    const [place, log] = path.at(-1);
    const groups = unpack(nodes[place]);
    path.push([offer[2], log + Math.log(ofOffers(groups, share(groups))[i])]);
    draw();
  };

  rows.forEach((row, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(document.createElement('bdi'));
    button.addEventListener('click', () => take(i));
    row.querySelector('th').append(button);
  });
  const press = (name, act) => part(root, name).addEventListener('click', act);
  press('draw', () => {
    if (!offers().length) return;
    let chance = Math.random();
    const i = now.findIndex((share) => (chance -= share) < 0);
    if (i >= 0) take(i);
    else draw('The draw fell on one of the others, whose continuation is not stored. Draw again.');
  });
  press('best', () => take(now.indexOf(Math.max(...now))));
  press('undo', () => {
    if (path.length > 1) path.pop();
    draw();
  });
  press('again', () => {
    path = [[0, 0]];
    draw();
  });
  for (const slider of [heat, k, p, m]) slider.addEventListener('input', () => draw());
  draw();
});
