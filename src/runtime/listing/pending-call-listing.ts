import { omitUndefined } from '../../core/internal.ts';
import {
  InvalidInputError,
  optionTable,
  parentSessionId,
  rootSessionId,
  type OptionTable,
  type SessionKey,
} from '../../core/index.ts';
import type { SessionPendingCall, SessionRow, Store } from '../../store/index.ts';
import type { PendingCall } from '../session/session.ts';

/** Selects the pending calls that match every given member. */
export interface PendingCallFilter {
  readonly user?: string;
  /** The agent that made the call. */
  readonly agent?: string;
  /** The name of the tool. */
  readonly tool?: string;
  readonly needs?: PendingCall['needs'];
}

/** Selects a page of pending calls. */
export interface PendingCallPageOptions extends PendingCallFilter {
  /** 1 to 1,000. Default: 100. */
  readonly limit?: number;
  /** Continues after a page: its `next`. */
  readonly after?: string;
}

/** A pending call of any session. */
export interface ListedPendingCall extends PendingCall {
  /** The session to answer through: `runtime.find(key.sessionId, { user: key.userId })`. */
  readonly key: SessionKey;
  /** The agent that made the call. For a call of a called agent: the called agent, in the session `session`. */
  readonly agent: string;
}

/** One page of pending calls, the longest waiting first. */
export interface PendingCallPage {
  readonly calls: readonly ListedPendingCall[];
  /** Pass it as `after` to read the next page. Missing on the last page. */
  readonly next?: string;
}

/** The options of `runtime.pending`. */
export const PENDING_OPTIONS: OptionTable = optionTable<PendingCallPageOptions>(
  'pending',
  { user: true, agent: true, tool: true, needs: true, limit: true, after: true },
  { userId: 'user', agentName: 'agent', name: 'tool', toolName: 'tool', page: 'after' },
);

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export interface PendingCallSource {
  readonly store: Store;
  readonly app: string;
  /** Returns the author of an agent's messages. */
  readonly findAuthorName: (agent: string) => Promise<string>;
}

/** @throws InvalidInputError when `limit` or `after` is invalid */
export async function listPendingCallPage(
  source: PendingCallSource,
  { user, limit = DEFAULT_LIMIT, after, ...filter }: PendingCallPageOptions,
): Promise<PendingCallPage> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new InvalidInputError('limit', `must be an integer from 1 to 1,000; it is ${limit}.`);
  const calls: { readonly position: string; readonly call: ListedPendingCall }[] = [];
  let from = after;
  for (;;) {
    const page = await source.store.pendingCalls({
      appName: source.app,
      ...omitUndefined({ userId: user, after: from }),
      ...filter,
      limit: limit + 1,
    });
    for (const one of page) {
      const call = await toListedCall(source, one);
      if (call !== undefined) calls.push({ position: one.position, call });
    }
    from = page.at(-1)?.position;
    // A page has fewer calls than were read when some belong to agents that nobody waits for.
    if (calls.length > limit || page.length <= limit) break;
  }
  const pageCalls = calls.slice(0, limit);
  return {
    calls: pageCalls.map(({ call }) => call),
    ...omitUndefined({ next: calls.length > limit ? pageCalls.at(-1)?.position : undefined }),
  };
}

/** Undefined for a call of a called agent that nobody waits for any more. */
export async function toListedCall(
  { store, findAuthorName }: PendingCallSource,
  { key, agent, call }: Omit<SessionPendingCall, 'position'>,
): Promise<ListedPendingCall | undefined> {
  const { sessionId } = key;
  const root = { ...key, sessionId: rootSessionId(sessionId) };
  const listed = { ...call, id: call.callId, key: root, agent };
  if (root.sessionId === sessionId) return listed;
  const callers = await listCallers(store, key);
  if (callers === undefined) return undefined;
  const path = await Promise.all(
    [...callers.slice(1).map((row) => row.agent), agent].map(findAuthorName),
  );
  return { ...listed, session: sessionId, path };
}

/** Lists the sessions above a called agent, from the top. Undefined when one is gone or at rest. */
async function listCallers(
  store: Store,
  key: SessionKey,
): Promise<readonly SessionRow[] | undefined> {
  const callers: SessionRow[] = [];
  let id = parentSessionId(key.sessionId);
  while (id !== undefined) {
    const row = await store.find({ ...key, sessionId: id });
    if (row === undefined || row.activity === 'idle') return undefined;
    callers.unshift(row);
    id = parentSessionId(id);
  }
  return callers;
}
