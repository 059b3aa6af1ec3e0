import { bind } from './binding.ts';
import type { NetState } from './binding.ts';
import { firingsEnded } from './consume.ts';
import type { RecordSeq } from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** Returns the firings that a token of this value in `place` would cancel now. */
export function findAbortedFirings(
  state: NetState,
  place: string,
  value: unknown,
): readonly RecordSeq[] {
  const target = state.net.places.get(place);
  const cancelling = (state.net.touched.get(place) ?? []).filter((t) => t.cancels);
  if (target === undefined || cancelling.length === 0) return [];
  const { tokens, seq, at } = state.marking;
  const before = tokens.get(place);
  try {
    const token = { id: `${seq + 1}.0`, at, value: parseTokenValue(target, value) };
    tokens.set(place, [...(before ?? []), token]);
    return cancelling.flatMap((t) => {
      const binding = bind(t, state, at);
      return binding === undefined ? [] : firingsEnded(binding, state);
    });
  } catch {
    return [];
  } finally {
    if (before === undefined) tokens.delete(place);
    else tokens.set(place, before);
  }
}
