// Cells say where they are and what they hold: under a pointer, a finger, or the arrow keys.
globalThis.glassboxCells ??= (() => {
  'use strict';
  const COLUMN = 1; // the names of the rows come before

  // A picture has no cells; its numbers are the opacity of its pixels.
  const pixels = async (picture) => {
    const { rows, columns } = picture.dataset;
    const layers = {};
    for (const layer of picture.querySelectorAll('i')) {
      const image = new Image();
      image.src = getComputedStyle(layer).getPropertyValue('--png').trim().slice(4, -1).replace(/^["']|["']$/g, '');
      await image.decode();
      const canvas = new OffscreenCanvas(columns, rows).getContext('2d');
      canvas.drawImage(image, 0, 0);
      layers[layer.className] = canvas.getImageData(0, 0, columns, rows).data;
    }
    return layers;
  };

  const numberAt = (picture, row, column) => {
    const opacity = (kind) => picture.layers?.[kind]?.[4 * (row * picture.dataset.columns + column) + 3] ?? 0;
    const share = (opacity('gb-more') - opacity('gb-less')) / 255;
    return (share * picture.dataset.limit).toPrecision(2).replace('-', '\u2212');
  };

  const clear = () => {
    for (const part of document.querySelectorAll('.gb-cells .gb-at, .gb-picture b')) {
      if (part.localName === 'b') part.remove();
      else part.classList.remove('gb-at');
    }
  };

  // One place of a table: marked, with its row and column, and put into words.
  const show = async (table, row, column) => {
    const box = table.closest('.gb-cells');
    const picture = table.querySelector('.gb-picture');
    if (picture) picture.layers ??= await pixels(picture);
    clear();
    box.at = [table, row, column];
    const heads = table.tHead.rows[0].cells;
    const rowHead = picture ? picture.previousElementSibling : table.tBodies[0].rows[row].cells[0];
    const named = !heads[COLUMN].colSpan || heads[COLUMN].colSpan === 1;
    let number;
    if (picture) {
      const { rows, columns } = picture.dataset;
      const mark = document.createElement('b');
      mark.style = `left:${(100 * column) / columns}%;top:${(100 * row) / rows}%;width:${100 / columns}%;height:${100 / rows}%`;
      picture.append(mark);
      number = numberAt(picture, row, column);
    } else {
      const cell = table.tBodies[0].rows[row].cells[column + COLUMN];
      cell.classList.add('gb-at');
      rowHead.classList.add('gb-at');
      if (document.activeElement === table) cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      number = cell.textContent;
    }
    if (named) heads[column + COLUMN]?.classList.add('gb-at');
    const ofRow = picture ? '' : rowHead.textContent;
    const ofColumn = named ? heads[column + COLUMN].textContent : '';
    const title = table.caption?.textContent;
    const name = (label, place, text) => [label, place, text === `${place}` ? '' : text].filter((part) => part !== '').join(' ');
    const { row: rowLabel, column: columnLabel } = box.dataset;
    const parts = rowLabel || columnLabel
      ? [title, (rowLabel || ofRow) && name(rowLabel, row, ofRow), name(columnLabel, column, ofColumn)].filter(Boolean)
      : [title?.replace(/[[\]]/g, ''), ofRow && row, column].filter((part) => part || part === 0);
    const where = rowLabel || columnLabel ? parts.join(' \u00b7 ') : `[${parts.join(', ')}]`;
    box.querySelector('.gb-read').textContent = `${where}: ${number}`;
  };

  const size = (table) => {
    const picture = table.querySelector('.gb-picture');
    if (picture) return [+picture.dataset.rows, +picture.dataset.columns];
    const { rows } = table.tBodies[0];
    return [rows.length, rows[0].cells.length - COLUMN];
  };

  document.addEventListener('pointermove', point);
  document.addEventListener('pointerdown', point);
  function point(event) {
    const cell = event.target.closest?.('.gb-cells tbody td');
    if (!cell) return;
    const table = cell.closest('table');
    let place = [cell.parentElement.sectionRowIndex, cell.cellIndex - COLUMN];
    if (cell.matches('.gb-picture')) {
      const box = cell.getBoundingClientRect();
      const share = [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width];
      place = size(table).map((count, i) => Math.min(count - 1, Math.max(0, Math.floor(share[i] * count))));
    }
    const [was, ...before] = table.closest('.gb-cells').at ?? [];
    if (was !== table || before.join() !== place.join()) show(table, ...place);
  }

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e9], End: [0, 1e9] };
  document.addEventListener('keydown', (event) => {
    const table = event.target;
    const move = MOVES[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey || !table.matches?.('.gb-cells table')) return;
    event.preventDefault();
    const [was, ...at] = table.closest('.gb-cells').at ?? [];
    const place = size(table).map((count, i) => Math.min(count - 1, Math.max(0, (was === table ? at[i] : 0) + move[i])));
    show(table, ...place);
  });
  document.addEventListener('focusin', ({ target }) => {
    if (target.matches('.gb-cells table:focus-visible')) show(target, 0, 0);
  });
  return { show };
})();
