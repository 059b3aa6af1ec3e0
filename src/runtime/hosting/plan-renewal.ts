import type { Agent } from '../../agents/index.ts';
import type { SessionReplacement, SessionRow, Store } from '../../store/index.ts';
import { hydrate } from '../journal/hydrate.ts';

/** True if the journal of a session is so long that it begins anew. */
export function isLong(head: number, { renewal }: Agent): boolean {
  return renewal !== undefined && head >= renewal.afterSteps;
}

/**
 * Plans how a session begins anew: with the input of its agent, then with its unread inputs. The time of its creation
 * stays. Undefined: its agent has no such input.
 */
export async function planRenewal(
  store: Store,
  { key, uid, head, createdAt: at }: SessionRow,
  { name, compiled, renewal }: Agent,
  owner: string,
): Promise<SessionReplacement | undefined> {
  if (renewal === undefined) return undefined;
  const unread = await store.inbox(key, 0);
  const input = renewal.toInput(await hydrate(store, key));
  if (input === undefined) return undefined;
  return {
    expected: { uid, head, unread: unread.length },
    init: { agent: name, owner, at, netHash: compiled.hash },
    inputs: [
      { input, dedupeKey: `renewal:${uid}` },
      ...unread.map((row) => ({ input: row.input, dedupeKey: row.key })),
    ],
  };
}
