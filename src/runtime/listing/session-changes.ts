import { isChildSessionId, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { SessionRowChange } from '../../store/index.ts';
import type { ChangePage, ChangeReader } from './change-reader.ts';

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

export interface ChangeSource {
  readonly changeReader: ChangeReader;
}

/**
 * Yields the changes of an app's sessions after a position, then new ones. Reads the next page from the store when the
 * reader has taken the last one, so nothing is buffered.
 * @throws InvalidInputError when `after` is not a cursor of this store
 */
export async function* followSessionChanges(
  { changeReader: reader }: ChangeSource,
  options: SessionChangesOptions,
): AsyncGenerator<SessionChangeEvent, void, undefined> {
  const { signal } = options;
  let after = options.after ?? (await reader.findEnd());
  if (reader.isClosed || isAborted(signal)) return;
  let isCurrent = false;
  let page: ChangePage | undefined = await reader.read(after);
  while (page !== undefined) {
    for (const change of page.changes) {
      if (isSelected(change, options)) yield change;
      if (isAborted(signal)) return;
    }
    after = page.cursor;
    if (page.isLast && !isCurrent) {
      isCurrent = true;
      yield { type: 'current', cursor: after };
    }
    if (reader.isClosed || isAborted(signal)) return;
    page = page.isLast ? await reader.next(after, page.notices, signal) : await reader.read(after);
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
