import type { Agent } from '../../agents/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { planUpgrade } from '../../net/index.ts';
import { renameMarking } from '../../net/internal.ts';
import type { Marking } from '../../net/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { hydrate } from '../journal/hydrate.ts';

/** A stored session, in the names of an agent's net. */
export interface LoadedSession {
  readonly marking: Marking;
  /** How the session continues under the agent's net. Undefined: it is under that net. */
  readonly upgrade: ReturnType<typeof planUpgrade>;
}

/** True when the last step of the session was committed under another net. */
export function isNetChanged(row: SessionRow, agent: Agent): boolean {
  return row.head > 0 && row.netHash !== agent.compiled.hash;
}

/**
 * Loads a session for an agent. Writes nothing.
 * @throws NetChangedError when the session's tokens do not fit the agent
 */
export async function loadSession(
  store: Store,
  key: SessionKey,
  { compiled, migrate }: Agent,
): Promise<LoadedSession> {
  const marking = await hydrate(store, key);
  const upgrade = marking.seq > 0 ? planUpgrade(marking, compiled, migrate) : undefined;
  // The host reads current names before the upgrade is committed.
  renameMarking(marking, compiled);
  return { marking, upgrade };
}
