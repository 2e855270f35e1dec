// The front page's picture of a sentence that the reader has typed: the translator runs, and what it
// wrote is drawn as `front.py` draws the sentences that come with the page.

import { Client } from "./machine/client.js";

const ATTENTION = "decoder.layers.1.cross_attention", HEAD = 2;  // as in tools/scenes.py, counted from 0
const LONGEST = 24;  // tokens that can still be told apart
const FAINTEST = 0.015, AROUND = 44, BETWEEN = 10, BEFORE_A_WORD = 16, WIDE_GAP = 500, ROW = 175, TALL_GAP = 620;
const client = new Client();
let loaded = false;

export async function load({ size, version }, say) {
  if (loaded) return;
  await client.ask({ type: "load", size: Number(size), version }, ({ received }) => {
    say(`Loading the translator: ${(received / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB …`);
  });
  loaded = true;
}

export function translate(text, say) {
  say("Translating …");
  return client.ask({ type: "translate", text, beams: 5, longest: LONGEST });
}

const ruler = document.createElement("canvas").getContext("2d");
function width(token) {
  ruler.font = '100px "Book Sans"';
  ruler.fontKerning = "none";
  return Math.max(100, Math.round(ruler.measureText(token).width) + AROUND);
}

const gap = (token, place) => (place ? BETWEEN + (/^[␣<]/.test(token) ? BEFORE_A_WORD : 0) : 0);

function middles(tokens) {
  let at = 0;
  const found = tokens.map((token, place) => {
    const start = at + gap(token, place);
    at = start + width(token);
    return start + Math.floor(width(token) / 2);
  });
  return [found, at];
}

function ribbons(ends, weights, tall) {
  const rows = ends.map(middles), far = tall ? TALL_GAP : WIDE_GAP;
  const extent = tall ? ROW * Math.max(...ends.map((end) => end.length)) : Math.max(...rows.map(([, total]) => total));
  const places = tall
    ? ends.map((end) => end.map((_, i) => Math.floor((extent - ROW * end.length) / 2) + ROW * i + Math.floor(ROW / 2)))
    : rows.map(([found, total]) => found.map((x) => x + Math.floor((extent - total) / 2)));
  const paths = weights.flatMap((row, q) => [...row].map((weight, k) => {
    if (weight < FAINTEST) return "";
    const a = places[0][k], b = places[1][q];
    const points = [[0, a], [far / 2, a], [far / 2, b], [far, b]].map(([x, y]) => (tall ? `${x} ${y}` : `${y} ${x}`));
    return `<path data-q="${q}" data-k="${k}" style="--w:${weight.toFixed(2)}" d="M${points[0]}C${points.slice(1).join(" ")}"/>`;
  })).join("");
  const kind = tall ? "tall" : "broad", [right, down] = tall ? [far, extent] : [extent, far];
  return `<svg class="gb-${kind}" viewBox="0 0 ${right} ${down}" aria-hidden="true" style="--ends:url(#ribbon-own-${kind})">`
    + `<linearGradient id="ribbon-own-${kind}" gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="${tall ? far : 0}" y2="${tall ? 0 : far}">`
    + `<stop class="gb-key-stop"/><stop offset="1" class="gb-query-stop"/></linearGradient>${paths}</svg>`;
}

// The sentence is the reader's: its tokens are set as text, never as HTML.
function row(tokens, kind, said, lang) {
  const row = document.createElement("div");
  row.className = `gb-${kind}`;
  row.role = "group";
  row.ariaLabel = said;
  row.lang = lang;
  row.innerHTML = `<span class="gb-side" lang=en>${said}</span>`;
  for (const [place, token] of tokens.entries()) {
    const button = document.createElement("button"), space = token.startsWith("␣");
    button.type = "button";
    button.className = `gb-t${token.startsWith("<") ? " gb-special" : ""}`;
    button.style = `--w:${width(token) / 100};--g:${gap(token, place) / 100}`;
    if (space) button.innerHTML = '<span class="gb-space">␣</span>';
    button.append(space ? token.slice(1) : token);
    row.append(button);
  }
  return row;
}

export function draw({ source, target, attentions, to }) {
  const ends = [source, target], weights = attentions[ATTENTION].weights[HEAD];
  const stage = document.createElement("div");
  stage.className = "gb-stage";
  stage.style = `--extent:${Math.max(...ends.map((end) => middles(end)[1])) / 100};--rows:${Math.max(...ends.map((end) => end.length))}`;
  stage.innerHTML = ribbons(ends, weights, false) + ribbons(ends, weights, true);
  stage.prepend(row(source, "from", "It reads", to === "fr" ? "en" : "fr"));
  stage.append(row(target, "to", "It writes", to));
  return stage;
}
