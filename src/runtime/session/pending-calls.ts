import { parentSessionId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { PendingCall } from './session.ts';

/**
 * Lists the pending calls of a session, and those of the agents that it called.
 * @param findAuthorName returns the author of an agent's messages
 */
export async function listPendingCalls(
  store: Store,
  { key, pending, activity }: SessionRow,
  findAuthorName: (agent: string) => Promise<string>,
): Promise<{ readonly own: readonly PendingCall[]; readonly called: readonly PendingCall[] }> {
  const own = pending.flatMap((call) =>
    call.via === undefined ? [{ ...call, id: call.callId }] : [],
  );
  if (activity === 'idle') return { own, called: [] };
  const rows = await store.list({ ...key, parent: key.sessionId });
  const byId = new Map(rows.map((row) => [row.key.sessionId, row]));
  const called: PendingCall[] = [];
  for (const row of rows.toReversed()) {
    const path = pathTo(row, key, byId);
    if (path === undefined || row.activity === 'idle') continue;
    const names = await Promise.all(path.map(async ({ agent }) => findAuthorName(agent)));
    for (const call of row.pending) {
      if (call.via !== undefined) continue;
      called.push({ ...call, id: call.callId, session: row.key.sessionId, path: names });
    }
  }
  return { own, called };
}

/**
 * Lists the sessions from the one that `key` called down to `row`. Undefined when one is idle: then none waits for
 * `row`.
 */
function pathTo(
  row: SessionRow,
  key: SessionKey,
  byId: ReadonlyMap<string, SessionRow>,
): readonly SessionRow[] | undefined {
  const path = [row];
  for (;;) {
    const parent = parentSessionId(path[0]?.key.sessionId ?? '');
    if (parent === undefined || parent === key.sessionId) return path;
    const above = byId.get(parent);
    if (above === undefined || above.activity === 'idle') return undefined;
    path.unshift(above);
  }
}
