import { isChildSessionId, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { SessionRowChange, Store } from '../../store/index.ts';
import type { ChangeSignal } from './change-signal.ts';

/** Selects the sessions whose changes are read, and where reading begins. */
export interface SessionChangesOptions {
  readonly user?: string;
  readonly agent?: string;
  /** Also reads the sessions of called agents. Default: false. */
  readonly calledAgents?: boolean;
  /** Continues after the `cursor` of a change. Default: begins now. */
  readonly after?: string;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
}

/**
 * A change of a session. `current`: every change up to here has been yielded; it comes once. `created`, `changed`:
 * `row` is the session as it is now. A session that was created and changed before it was read may come as `changed`
 * only, and one that was deleted and created again as `created` with another `uid`. `deleted`: the session with this
 * `uid` is gone; it also comes for other agents than `agent`, because the agent is not known any more.
 */
export type SessionChangeEvent =
  | SessionRowChange
  | { readonly type: 'current'; readonly cursor: string };

/** The options of `runtime.changes`. */
export const SESSION_CHANGES_OPTIONS: OptionTable = optionTable<SessionChangesOptions>(
  'changes',
  { user: true, agent: true, calledAgents: true, after: true, signal: true },
  { userId: 'user', agentName: 'agent', cursor: 'after' },
);

/** How many changes are read at once. It bounds the memory of a stream, however slow its reader is. */
const PAGE_SIZE = 100;

export interface ChangeSource {
  readonly store: Store;
  readonly app: string;
  readonly signal: ChangeSignal;
  readonly isClosed: () => boolean;
}

/**
 * Yields the changes of an app's sessions after a position, then new ones. Reads the next page from the store when the
 * reader has taken the last one, so nothing is buffered.
 * @throws InvalidInputError when `after` is not a cursor of this store
 */
export async function* followSessionChanges(
  source: ChangeSource,
  options: SessionChangesOptions,
): AsyncGenerator<SessionChangeEvent, void, undefined> {
  const { store, app: appName } = source;
  let after = options.after ?? (await store.changes({ appName, limit: PAGE_SIZE })).cursor;
  let isCurrent = false;
  while (!source.isClosed() && !isAborted(options.signal)) {
    const seen = source.signal.notices;
    const page = await store.changes({ appName, after, limit: PAGE_SIZE });
    for (const change of page.changes) {
      if (isSelected(change, options)) yield change;
      if (isAborted(options.signal)) return;
    }
    after = page.cursor;
    if (!page.isLast) continue;
    if (!isCurrent) {
      isCurrent = true;
      yield { type: 'current', cursor: after };
    }
    await source.signal.wait(seen, options.signal);
  }
}

function isSelected(
  change: SessionRowChange,
  { user, agent, calledAgents = false }: SessionChangesOptions,
): boolean {
  const { key } = change;
  if (user !== undefined && key.userId !== user) return false;
  if (!calledAgents && isChildSessionId(key.sessionId)) return false;
  // The agent of a deleted session is not known, so every reader is told.
  return agent === undefined || change.type === 'deleted' || change.row.agent === agent;
}

// A function, because TypeScript would narrow `signal.aborted` across a yield, which may change it.
export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
