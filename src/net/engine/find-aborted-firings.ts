import { bind } from './binding.ts';
import type { NetState } from './binding.ts';
import { firingsEnded } from './consume.ts';
import { tokensIn } from '../journal/marking.ts';
import type { Token } from '../journal/marking.ts';
import type { RecordSeq } from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** Returns the firings that a token of this value in `place` would cancel now. It does not change the marking. */
export function findAbortedFirings(
  state: NetState,
  place: string,
  value: unknown,
): readonly RecordSeq[] {
  const target = state.net.places.get(place);
  const cancelling = (state.net.touched.get(place) ?? []).filter((t) => t.cancels);
  if (target === undefined || cancelling.length === 0) return [];
  const { marking } = state;
  try {
    const token: Token = {
      kind: 'token',
      id: `${marking.seq + 1}.0`,
      at: marking.at,
      value: parseTokenValue(target, value),
    };
    const tokens = new Map(marking.tokens).set(place, [...tokensIn(marking, place), token]);
    const after = { ...state, marking: { ...marking, tokens } };
    return cancelling.flatMap((t) => {
      const binding = bind(t, after, marking.at);
      return binding === undefined ? [] : firingsEnded(binding, after);
    });
  } catch {
    return [];
  }
}
