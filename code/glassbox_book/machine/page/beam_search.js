// Several continuations at a time, and the best of them at the end (chapter 10).

import { logSoftmax } from "./generation.js";

// The n best ways to continue any of the beams by one token.
export function bestCandidates(beams, logProbs, n) {
  const candidates = beams.flatMap((beam, b) => {
    const worst = logProbs[b].toSorted().at(-n);
    const good = [];
    logProbs[b].forEach((log, token) => { if (log >= worst) good.push({ beam, token, score: beam.score + log }); });
    return good;
  });
  return candidates.sort((one, other) => other.score - one.score).slice(0, n);
}

// The texts that `nBeams` beams find, those with the most probable tokens on average first.
export function beamSearch(model, sourceIds, { maxNewTokens, nBeams = 5 }) {
  const memory = model.encode(sourceIds);
  const { bos_id: bosId, eos_id: eosId } = model.config;
  let beams = [{ tokens: [], score: 0, cache: model.newCache() }], ended = [];
  for (let length = 1; length <= maxNewTokens; length++) {
    const logProbs = beams.map((beam) => {
      const [logits] = model.logits(model.hidden([beam.tokens.at(-1) ?? bosId], memory, beam.cache));
      return logSoftmax(logits);
    });
    const candidates = bestCandidates(beams, logProbs, 2 * nBeams);
    const ends = ({ token }) => token === eosId || length === maxNewTokens;

    // Only the best n may end; those behind them are there to be followed in their place.
    const endNow = candidates.slice(0, nBeams).filter(ends)
      .map(({ beam, token, score }) => ({ tokens: [...beam.tokens, token], score: score / length }));
    ended = [...ended, ...endNow].sort((one, other) => other.score - one.score).slice(0, nBeams);

    const running = candidates.filter((candidate) => !ends(candidate)).slice(0, nBeams);
    const worst = ended.length < nBeams ? -Infinity : ended.at(-1).score;
    if (!running.length || running[0].score / length <= worst) break;
    beams = running.map(({ beam, token, score }) => ({ tokens: [...beam.tokens, token], score, cache: beam.cache.copy() }));
  }
  return ended;
}
