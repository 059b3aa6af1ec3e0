import { canonicalJson, validateStateDelta } from '../core/index.ts';
import type { Json, LogEntry, StateDelta } from '../core/index.ts';
import { allOf, net, optional, pure, put, upTo } from '../net/index.ts';
import type { MapWrites, Net } from '../net/index.ts';
import { toolError } from '../tools/index.ts';
import { eventOut, sessionWrite, state, toolResult } from './places.ts';
import type { CallResult, SessionWrite } from './places.ts';
import { resultEvent } from './result-event.ts';

export interface SessionWriterOptions {
  readonly agentName: string;
}

const WRITE_PRIORITY = 10;

/**
 * The one transition that writes session state. A write that builds on a value somebody has changed since is refused
 * whole, and its tool's result with it: nothing is lost silently. (Seed name: PersistStateSubnet.)
 */
export function sessionWriter({ agentName }: SessionWriterOptions): Net {
  const persist = pure('state.persist', {
    take: { write: sessionWrite },
    read: { state },
    give: allOf({ state: put(state), result: optional(toolResult), events: upTo(2, eventOut) }),
    run: ({ write, state }) => {
      const { writes, result } = write;
      const moved = movedKeys(write, state);
      if (moved.length > 0) {
        const refused = result === undefined ? undefined : conflict(result, moved);
        return {
          state: {},
          result: refused,
          events: refused === undefined ? [] : [resultEvent(agentName, refused)],
        };
      }
      const done = result === undefined ? [] : [resultEvent(agentName, result)];
      return { state: writes, result, events: [...changedEvents(writes, state), ...done] };
    },
    // Before anything that reads state could begin.
    priority: WRITE_PRIORITY,
  });
  return net('session-writer', {
    in: { sessionWrite },
    out: { state, toolResult, eventOut },
    transitions: [persist],
  });
}

type Entries = Readonly<Record<string, unknown>>;

/** Keys whose value is not what the writer saw. */
function movedKeys({ seen = {} }: SessionWrite, state: Entries): readonly string[] {
  return Object.entries(seen).flatMap(([key, value]) =>
    canonicalJson(state[key] ?? null) === canonicalJson(value) ? [] : [key],
  );
}

function conflict(result: CallResult, keys: readonly string[]): CallResult {
  const names = keys.map((key) => `"${key}"`).join(', ');
  const message = `State ${names} was changed by someone else while the tool ran: what the tool wrote to state was not kept. Read it again before trying once more.`;
  return { ...result, outcome: 'error', response: toolError('state_conflict', message) };
}

/** The values as they are after the write. `temp:` keys end with the turn and are not logged. */
function changedEvents(writes: MapWrites, state: Entries): readonly LogEntry[] {
  const delta = logged(writes, state);
  const removed = (writes.delete ?? []).filter(isLogged);
  if (Object.keys(delta).length === 0 && removed.length === 0) return [];
  return [{ type: 'state.changed', delta, ...(removed.length > 0 && { removed }) }];
}

function logged(writes: MapWrites, state: Entries): StateDelta {
  const after: Record<string, unknown> = { ...writes.set };
  for (const [key, by] of Object.entries(writes.increment ?? {})) {
    const before = state[key];
    after[key] = (typeof before === 'number' ? before : 0) + by;
  }
  for (const [key, items] of Object.entries(writes.append ?? {})) {
    const before = state[key];
    const list: readonly Json[] = Array.isArray(before) ? before : [];
    after[key] = [...list, ...items];
  }
  return validateStateDelta(
    Object.fromEntries(Object.entries(after).filter(([key]) => isLogged(key))),
  );
}

function isLogged(key: string): boolean {
  return !key.startsWith('temp:');
}
