// The loops that write: read, choose, append (chapter 10).

// The most probable token; of equals the first.
export function greedy(logits) {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id] > logits[best]) best = id;
  return best;
}

// Where `u`, a random number from 0 to 1, falls when the probabilities stand in a row.
export function draw(probabilities, u) {
  let id = 0;
  for (let end = probabilities[0]; end <= u && id < probabilities.length - 1; end += probabilities[id]) id++;
  return id;
}

export function logSoftmax(logits) {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0));
  return logits.map((logit) => logit - largest - total);
}

// The reader's tokens first, then the model's own, each with the logits it was chosen from.
export function* stream(model, sourceIds, { maxNewTokens, prompt = [] }) {
  const memory = model.encode(sourceIds), cache = model.newCache();
  const { bos_id: bosId, eos_id: eosId } = model.config;
  let token = bosId;
  for (let length = 0; length < prompt.length + maxNewTokens && (!length || token !== eosId); length++) {
    const [logits] = model.logits(model.hidden([token], memory, cache));
    token = prompt[length] ?? greedy(logits);
    yield { token, logits };
  }
}
