// Pictures of numbers. `scene.py` draws the first state in the same way.

const LEVELS = 10;

export const escape = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const NOTHING = "There is nothing to read yet: type a sentence in English or French.";

// As `fixed` of Python writes it: a minus sign, and none before zero.
export function fixed(number, digits) {
  const text = Math.abs(number).toFixed(digits);
  return number < 0 && +text > 0 ? `\u2212${text}` : text;
}

// What would not be seen, or would turn the text around, is named.
export function visible(piece) {
  return piece.replace(/^\p{Zs}+|\p{Zs}+$/gu, (spaces) => "\u2423".repeat(spaces.length))
    .replace(/[\0-\x1f\x7f]/g, (control) => String.fromCharCode(control === "\x7f" ? 0x2421 : 0x2400 + control.charCodeAt(0)))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]/gu, (sign) => (
      `\u27e8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`
    )) || "\u27e8empty\u27e9";
}

// One path for each step of ink.
export function smallMap(weights) {
  const paths = Array(LEVELS + 1).fill("");
  weights.forEach((row, i) => row.forEach((weight, j) => { paths[Math.floor(weight * LEVELS + 0.5)] += `M${j} ${i}h1v1h-1z`; }));
  const drawn = paths.map((path, level) => (level && path ? `<path style="--v:${level / LEVELS}" d="${path}"/>` : ""));
  const width = Math.max(...weights.map((row) => row.length));
  return `<svg viewBox="0 0 ${width} ${weights.length}" preserveAspectRatio="none" aria-hidden="true">${drawn.join("")}</svg>`;
}

const tone = (weight) => (weight < 0.53 ? "low" : weight < 0.72 ? "middle" : "high");

export function largeMap(weights, rows, columns, cell, step) {
  const head = columns.map((token) => `<th scope="col">${escape(token)}</th>`).join("");
  const body = weights.map((row, i) => {
    const cells = columns.map((_, j) => {
      if (j >= row.length) return "<td data-unwritten></td>";
      const chosen = i === cell[0] && j === cell[1] ? [" data-chosen", ' aria-current="true"'] : ["", ""];
      return `<td style="--v:${row[j].toFixed(4)}" data-tone="${tone(row[j])}"${chosen[0]}>`
        + `<button type="button" tabindex="-1"${chosen[1]}>${row[j].toFixed(2)}</button></td>`;
    });
    return `<tr${i === step ? " data-step" : ""}><th scope="row">${escape(rows[i])}</th>${cells.join("")}</tr>`;
  });
  return `<thead><tr><td></td>${head}</tr></thead><tbody>${body.join("")}</tbody>`;
}

export function bars(likely, written) {
  return likely.map(({ id, piece, probability }) => (
    `<li><button type="button" tabindex="-1" data-id="${id}" style="--v:${probability.toFixed(4)}" aria-pressed="${id === written}">`
    + `<b>${escape(piece)}</b><i></i><span>${probability.toFixed(3)}</span></button></li>`
  )).join("");
}

export const strip = (numbers) => Array.from(numbers, (number) => `<i style="--s:${number.toFixed(3)}"></i>`).join("");

// One stop of the Tab key for many buttons; the arrow keys move among them, and who is on one of them
// stays there when they are drawn again.
export function rove(box, selector, columns = () => 1, preferred = selector) {
  const all = () => [...box.querySelectorAll(selector)];
  const stop = (button) => all().forEach((other) => { other.tabIndex = other === button ? 0 : -1; });
  box.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns(), ArrowDown: columns(), Home: -Infinity, End: Infinity };
    const buttons = all(), here = buttons.indexOf(event.target);
    if (here < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const there = buttons[Math.min(buttons.length - 1, Math.max(0, here + steps[event.key]))];
    stop(there);
    there.focus();
    there.scrollIntoView({ block: "nearest", inline: "nearest" });  // not only some of it
  });
  box.addEventListener("focusin", (event) => event.target.matches(selector) && stop(event.target));
  return (html) => {
    const here = all().indexOf(document.activeElement);
    if (html !== undefined) box.innerHTML = html;
    stop(box.querySelector(preferred) ?? all()[0]);
    if (here >= 0) (all()[here] ?? all().at(-1))?.focus({ preventScroll: true });
  };
}
