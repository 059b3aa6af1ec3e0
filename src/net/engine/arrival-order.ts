import type { Firing, Token } from '../journal/marking.ts';
import type { RecordSeq } from '../journal/record.ts';

/** When a token or a firing came into the net: its record, and its index among the tokens that the record added. */
export interface ArrivalOrder {
  readonly seq: RecordSeq;
  readonly index: number;
}

/** The order of a firing that takes no token: after all others. */
export const LAST_ARRIVAL: ArrivalOrder = { seq: Number.POSITIVE_INFINITY, index: 0 };

/** Returns when a token or a firing in flight came into the net. A firing came with the record that started it. */
export function arrivalOrder(candidate: Token | Firing): ArrivalOrder {
  if (candidate.kind === 'firing') return { seq: candidate.id, index: 0 };
  const { id } = candidate;
  const dot = id.indexOf('.');
  return { seq: Number(id.slice(0, dot)), index: Number(id.slice(dot + 1)) };
}

/** Compares two arrivals: negative if `a` came first, 0 if they are the same. */
export function compareArrivals(a: ArrivalOrder, b: ArrivalOrder): number {
  return a.seq === b.seq ? a.index - b.index : a.seq < b.seq ? -1 : 1;
}
