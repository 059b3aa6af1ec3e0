import { validateStateDelta } from '../core/index.ts';
import type { Json, LogEntry, StateDelta } from '../core/index.ts';
import { allOf, net, pure, put, upTo } from '../net/index.ts';
import type { MapWrites, Net } from '../net/index.ts';
import { eventOut, sessionWrite, state } from './places.ts';

/** The one transition that writes session state. (Seed name: PersistStateSubnet.) */
export function sessionWriter(): Net {
  const persist = pure('state.persist', {
    take: { write: sessionWrite },
    read: { state },
    give: allOf({ state: put(state), events: upTo(1, eventOut) }),
    run: ({ write, state }) => {
      const { set, removed } = logged(write, state);
      const empty = Object.keys(set).length === 0 && removed.length === 0;
      const changed: LogEntry = { type: 'state.changed', delta: set, ...(removed.length > 0 && { removed }) };
      return { state: write, events: empty ? [] : [changed] };
    },
  });
  return net('session-writer', { in: { sessionWrite }, out: { state, eventOut }, transitions: [persist] });
}

/** The values as they are after the write. `temp:` keys end with the turn and are not logged. */
function logged(write: MapWrites, state: Readonly<Record<string, unknown>>): { readonly set: StateDelta; readonly removed: readonly string[] } {
  const after: Record<string, unknown> = { ...write.set };
  for (const [key, by] of Object.entries(write.increment ?? {})) after[key] = (typeof state[key] === 'number' ? state[key] : 0) + by;
  for (const [key, items] of Object.entries(write.append ?? {})) {
    const before: unknown = state[key];
    after[key] = [...(Array.isArray(before) ? (before as readonly Json[]) : []), ...items];
  }
  const kept = Object.entries(after).filter(([key]) => !key.startsWith('temp:'));
  return {
    set: validateStateDelta(Object.fromEntries(kept)),
    removed: (write.delete ?? []).filter((key) => !key.startsWith('temp:')),
  };
}
