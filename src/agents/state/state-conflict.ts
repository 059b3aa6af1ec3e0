import { canonicalJson, validateStateDelta } from '../../core/index.ts';
import type { Json, JsonObject, LogEntry, StateDelta } from '../../core/index.ts';
import type { MapWrites } from '../../net/index.ts';
import { isReadOnly } from '../../tools/state/state-writes.ts';
import type { StateWrites } from '../../tools/index.ts';
import type { SessionWrite } from '../vocabulary/state.ts';

type Entries = Readonly<Record<string, unknown>>;

/** Keys whose value is not what the writer saw. */
export function conflictingKeys({ seen = {} }: SessionWrite, state: Entries): readonly string[] {
  return Object.entries(seen).flatMap(([key, value]) =>
    canonicalJson(state[key] ?? null) === canonicalJson(value) ? [] : [key],
  );
}

/** What is said to a writer whose keys somebody else has changed. */
export function conflictMessage(keys: readonly string[]): string {
  const names = keys.map((key) => `"${key}"`).join(', ');
  return `State ${names} was changed by someone else while the tool ran: what the tool wrote to state was not kept. Read it again before trying once more.`;
}

/** The values as they are after the write. `temp:` keys end with the turn and are not logged. */
export function stateChangedEvents(
  { writes, invocationId, author, branch }: Omit<SessionWrite, 'seen'>,
  state: Entries,
): readonly LogEntry[] {
  const delta = toLoggedDelta(writes, state);
  const removed = (writes.delete ?? []).filter(isLogged);
  if (Object.keys(delta).length === 0 && removed.length === 0) return [];
  return [
    {
      type: 'state.changed',
      delta,
      ...(removed.length > 0 && { removed }),
      ...(invocationId !== undefined && { invocationId }),
      ...(author !== undefined && { author }),
      ...(branch !== undefined && { branch }),
    },
  ];
}

function toLoggedDelta(writes: MapWrites, state: Entries): StateDelta {
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

/** What a tool or a callback wrote, as it is to be judged; nothing when it only read. */
export function toSessionWrite(writes: StateWrites, state: JsonObject): SessionWrite | undefined {
  if (isReadOnly(writes)) return undefined;
  const { set, delete: removed, increment, append } = writes;
  return { writes: { set, delete: removed, increment, append }, seen: readValues(writes, state) };
}

/** Of the keys it changed, what it saw of them. */
function readValues(
  { read, set, delete: removed, based = {} }: StateWrites,
  state: JsonObject,
): JsonObject {
  const changed = [...Object.keys(set), ...removed];
  return Object.fromEntries(
    read
      .filter((key) => changed.includes(key))
      .map((key) => [key, based[key] ?? state[key] ?? null]),
  );
}
