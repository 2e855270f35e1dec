// Cells say where they are and what they hold: under a pointer, a finger, or the arrow keys.
globalThis.glassboxCells ??= (() => {
  'use strict';
  const pictureOf = (table) => table.querySelector('.gb-picture');

  const sizeOf = (table) => {
    const picture = pictureOf(table);
    if (picture) return [+picture.dataset.rows, +picture.dataset.columns];
    const { rows } = table.tBodies[0];
    return [rows.length, rows[0].cells.length - 1];
  };

  // The nearest place that a table of this size has.
  const inside = (table, place) =>
    sizeOf(table).map((count, i) => Math.min(count - 1, Math.max(0, Math.floor(place[i]))));

  // A picture has no cells: its numbers are the opacity of its pixels. Browsers that hide from
  // websites what they draw return noise instead, also for a pixel that is known.
  const opacities = async (picture) => {
    const { rows, columns } = picture.dataset;
    const found = {};
    for (const layer of picture.querySelectorAll('i')) {
      const image = new Image();
      image.src = layer.style.getPropertyValue('--png').match(/data:[^"')]+/)[0];
      await image.decode();
      const canvas = new OffscreenCanvas(columns, Number(rows) + 1).getContext('2d');
      canvas.drawImage(image, 0, 0);
      canvas.fillStyle = '#123';
      canvas.fillRect(0, rows, columns, 1);
      const known = canvas.getImageData(0, rows, columns, 1).data;
      if (!known.every((part, i) => part === [17, 34, 51, 255][i % 4])) return null;
      found[layer.className] = canvas.getImageData(0, 0, columns, rows).data;
    }
    return found;
  };

  const readPixel = async (picture, row, column) => {
    const { rows, columns, limit } = picture.dataset;
    if (picture.opacities === undefined) picture.opacities = await opacities(picture);
    const alpha = (kind) => picture.opacities[kind]?.[4 * (row * columns + column) + 3] ?? 0;
    const mark = document.createElement('b');
    const share = (number, of) => `${(100 * number) / of}%`;
    Object.assign(mark.style, {
      left: share(column, columns), top: share(row, rows), width: share(1, columns), height: share(1, rows),
    });
    if (!picture.opacities) return [mark, 'hidden by this browser'];
    const number = ((alpha('gb-more') - alpha('gb-less')) / 255) * limit;
    return [mark, number.toPrecision(2).replace('-', '\u2212')];
  };

  const unmark = () => {
    for (const mark of document.querySelectorAll('.gb-picture b')) mark.remove();
    for (const part of document.querySelectorAll('.gb-at')) part.classList.remove('gb-at');
  };

  // One place of a table: marked, with its row and column, and put into words.
  const show = async (table, row, column) => {
    const box = table.closest('.gb-cells');
    const picture = pictureOf(table);
    const head = table.tHead.rows[0].cells;
    const names = head.length === sizeOf(table)[1] + 1 ? [head[column + 1]] : [];
    box.at = [table, row, column];
    let number;
    if (picture) {
      const [mark, read] = await readPixel(picture, row, column);
      unmark();
      picture.append(mark);
      number = read;
    } else {
      unmark();
      const [name, ...cells] = table.tBodies[0].rows[row].cells;
      names.unshift(name);
      cells[column].classList.add('gb-at');
      if (document.activeElement === table) cells[column].scrollIntoView({ block: 'nearest', inline: 'nearest' });
      number = cells[column].textContent;
    }
    for (const name of names) name.classList.add('gb-at');
    box.querySelector('.gb-read').textContent = `${where(table, row, column, names)}: ${number}`;
  };

  // "one head · query position 3 the · key position 0 [CLS]", or "[3, 0]" where nothing has a name.
  const where = (table, row, column, names) => {
    const title = table.caption?.textContent ?? '';
    const labels = table.closest('.gb-cells').dataset;
    const vector = !pictureOf(table) && !names[0].textContent; // the row of a vector has no name
    if (!labels.row && !labels.column) {
      return `[${[title.replace(/[[\]]/g, ''), vector ? '' : row, column].filter((part) => part !== '').join(', ')}]`;
    }
    const text = (name, place) => (name && name.textContent !== `${place}` ? ` ${name.textContent}` : '');
    const [rowName, columnName] = pictureOf(table) ? [null, names[0]] : names;
    const parts = [title, vector ? '' : `${labels.row} ${row}${text(rowName, row)}`, `${labels.column} ${column}${text(columnName, column)}`];
    return parts.filter(Boolean).join(' \u00b7 ');
  };

  const point = (event) => {
    const cell = event.target.closest?.('.gb-cells tbody td');
    if (!cell) return;
    const table = cell.closest('table');
    let place = [cell.parentElement.sectionRowIndex, cell.cellIndex - 1];
    if (cell === pictureOf(table)) {
      const { top, left, height, width } = cell.getBoundingClientRect();
      const [rows, columns] = sizeOf(table);
      place = inside(table, [(rows * (event.clientY - top)) / height, (columns * (event.clientX - left)) / width]);
    }
    const at = table.closest('.gb-cells').at ?? [];
    if ([table, ...place].some((part, i) => part !== at[i])) show(table, ...place);
  };
  document.addEventListener('pointermove', point);
  document.addEventListener('pointerdown', point);

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e9], End: [0, 1e9] };
  document.addEventListener('keydown', (event) => {
    const [table, move] = [event.target, MOVES[event.key]];
    if (!move || event.altKey || event.ctrlKey || event.metaKey || !table.matches('.gb-cells table')) return;
    event.preventDefault();
    const [was, ...at] = table.closest('.gb-cells').at ?? [];
    show(table, ...inside(table, was === table ? move.map((step, i) => at[i] + step) : [0, 0]));
  });
  document.addEventListener('focusin', ({ target }) => {
    if (target.matches('.gb-cells table:focus-visible')) show(target, 0, 0);
  });
  return true;
})();
