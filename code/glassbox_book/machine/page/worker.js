// Runs the models beside the page, so that the page answers while it computes.
//
// A request is `{id, type: "load", size, version}`, `{id, type: "translate", text, ...options}`
// or, without the weights, `{id, type: "tokenize", text, size, version}`; and of the language model
// `{id, type: "loadPoet", size, version}` and `{id, type: "write", text, ...options}`; and of the BERT
// `{id, type: "loadBert", size, version}`, `{id, type: "encode", text}` and `{id, type: "fill", tokenIds}`.
// The answers carry its id: any number of `progress`, `read` or `token`, then one `done` or `refused`.

import { CharacterModel } from "./character_model.js";
import { visible } from "./draw.js";
import { FillMask } from "./fill_mask.js";
import { Refusal, Translator } from "./translation.js";

let translator, tokenizer, poet, bert;

// A browser keeps the files for the next visit where it lets us; each edition of them has a name.
async function openStore(folder, version) {
  try {
    const name = `glassbox-${folder}-${version}`;
    for (const other of await caches.keys()) {
      if (other.startsWith(`glassbox-${folder}-`) && other !== name) await caches.delete(other);
    }
    return await caches.open(name);
  } catch {
    return null;  // not on this address, or not in a private window
  }
}

async function fetchFile(url, onBytes) {
  const unreachable = "The model could not be loaded: ";
  let response;
  try { response = await fetch(url); } catch { throw new Refusal(`${unreachable}there is no connection. Press the button again when you are online.`); }
  if (!response.ok) throw new Refusal(`${unreachable}the server answers ${response.status}. Press the button again later.`);
  const pieces = [];
  try {
    for (let reader = response.body.getReader(), part; !(part = await reader.read()).done;) {
      pieces.push(part.value);
      onBytes(part.value.length);
    }
  } catch { throw new Refusal(`${unreachable}the connection was lost. Press the button again.`); }
  return new Blob(pieces).arrayBuffer();
}

// Something out of the files of a model: from the store, or fetched and then kept.
async function loadWith(loader, folder, { size, version }, answer) {
  const store = await openStore(folder, version);
  const fetched = [];
  let received = 0;
  const onBytes = (bytes) => answer("progress", { received: received += bytes, size });
  const loaded = await loader(async (name) => {
    const url = new URL(`${folder}/${name}`, import.meta.url);
    const kept = await store?.match(url);
    const bytes = kept ? await kept.arrayBuffer() : await fetchFile(url, onBytes);
    if (!kept) fetched.push([url, bytes]);
    return bytes;
  });
  // Kept only now that they could be read.
  for (const [url, bytes] of fetched) await store?.put(url, new Response(bytes)).catch(() => {});  // no room
  return loaded;
}

async function load(request, answer) { translator = await loadWith(Translator.load, "model", request, answer); }

async function loadPoet(request, answer) {
  poet = await loadWith(CharacterModel.load, "poet", request, answer);
  return poet.characters;
}

const write = (request, answer) => poet.write(request.text, { ...request, onCharacter: (character) => answer("token", { character }) });

async function loadBert(request, answer) { bert = await loadWith(FillMask.load, "bert", request, answer); }

function encode({ text }) {
  const tokenIds = bert.encode(text);
  return { tokenIds, pieces: tokenIds.map((id) => bert.tokenizer.tokens[id]) };
}

// The likeliest pieces of each blank, by the blank's position.
function fill({ tokenIds, nLikely }) {
  return [...bert.fill(tokenIds)].map(([position, probabilities]) => {
    const order = [...probabilities.keys()].sort((one, other) => probabilities[other] - probabilities[one]);
    return [position, order.slice(0, nLikely).map((id) => ({ id, piece: visible(bert.tokenizer.tokens[id]), probability: probabilities[id] }))];
  });
}

// For this the weights are not needed.
async function tokenize({ text, ...request }, answer) {
  tokenizer ??= await loadWith(Translator.loadTokenizer, "model", request, answer);
  return read(new Translator(null, tokenizer), text);
}

// What a translator reads of a text.
function read(translator, text, { to, longest } = {}) {
  const sourceIds = translator.encode(text, to, longest);
  return { sourceIds, source: sourceIds.map((id) => visible(translator.tokenizer.piece(id))) };
}

function translate({ text, ...options }, answer) {
  const { tokenizer } = translator, reading = read(translator, text, options);
  answer("read", reading);
  const describe = ({ id, probability }) => ({ id, probability, piece: visible(tokenizer.piece(id)) });
  const written = [];
  const onToken = ({ token, logits }) => {
    written.push(token);
    answer("token", { logits, piece: visible(tokenizer.piece(token)), likely: translator.likely(logits).map(describe), text: tokenizer.decode(written) });
  };
  const { target, tape, text: translation } = translator.translate(text, { ...options, onToken });
  const pieces = (ids) => ids.map((id) => visible(tokenizer.piece(id)));
  const outputs = Object.entries(tape.outputs).filter(([name]) => /_positions$|layers\.\d+$/.test(name));
  return {
    ...reading, target: pieces(target), targetIds: target, text: translation,
    to: reading.source[0].slice(1, -1), expected: tokenizer.targetLanguage(text), familiar: tokenizer.isFamiliar(text),
    attentions: tape.attentions, stream: Object.fromEntries(outputs),
  };
}

addEventListener("message", async ({ data: { id, type, ...request } }) => {
  const answer = (kind, content) => postMessage({ id, type: kind, ...content });
  try {
    answer("done", { result: await { load, tokenize, translate, loadPoet, write, loadBert, encode, fill }[type](request, answer) });
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    const message = error instanceof Refusal ? error.message : `Something went wrong in the machine (${error.message}): reload the page.`;
    answer("refused", { message });
  }
});
