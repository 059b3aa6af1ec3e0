import { omitUndefined } from '../../core/internal.ts';
import {
  canonicalJson,
  formatSessionKey,
  isDescendantSession,
  optionTable,
  sha256Hex,
  type OptionTable,
  type SessionKey,
} from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { followSessionChanges, isAborted, type ChangeSource } from './session-changes.ts';
import {
  listPendingCallPage,
  toListedCall,
  type ListedPendingCall,
  type PendingCallFilter,
  type PendingCallSource,
} from './pending-call-listing.ts';

/** The options of `runtime.watchPending`. */
export interface WatchPendingOptions extends PendingCallFilter {
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
}

/**
 * A change of the pending calls. `current`: every call that waited when the iteration began has been yielded as
 * `added`; it comes once. `changed`: for example, the call reported progress. `removed`: the call does not wait any
 * more, or does not match the filter any more.
 */
export type PendingCallChange =
  | { readonly type: 'added' | 'changed'; readonly call: ListedPendingCall }
  | {
      readonly type: 'removed';
      readonly callId: string;
      /** The `key` of the call. */
      readonly key: SessionKey;
    }
  | { readonly type: 'current' };

/** The options of `runtime.watchPending`. */
export const WATCH_PENDING_OPTIONS: OptionTable = optionTable<WatchPendingOptions>(
  'watchPending',
  { user: true, agent: true, tool: true, needs: true, signal: true },
  { userId: 'user', agentName: 'agent', name: 'tool', toolName: 'tool' },
);

const PAGE_SIZE = 100;

/** The calls of one session that were yielded and not removed, by id. The text tells whether a call changed. */
interface KnownCalls {
  readonly key: SessionKey;
  readonly calls: Map<string, { readonly digest: string; readonly root: SessionKey }>;
}

/**
 * Yields all pending calls, then their changes. It keeps a digest of each call that waits, and reads the next changes
 * when the reader has taken the last ones.
 */
export async function* watchPendingCalls(
  source: PendingCallSource & ChangeSource,
  { signal, ...filter }: WatchPendingOptions,
): AsyncGenerator<PendingCallChange, void, undefined> {
  // The position comes first, so that a change during the listing is read after it.
  const cursor = await source.changeReader.findEnd();
  const known = new Map<string, KnownCalls>();
  let after: string | undefined;
  do {
    const page = await listPendingCallPage(source, {
      ...filter,
      limit: PAGE_SIZE,
      ...omitUndefined({ after }),
    });
    for (const call of page.calls) {
      remember(known, call);
      yield { type: 'added', call };
    }
    after = page.next;
    if (isAborted(signal)) return;
  } while (after !== undefined);
  yield { type: 'current' };
  const changes = followSessionChanges(source, {
    after: cursor,
    calledAgents: true,
    ...omitUndefined({ user: filter.user, signal }),
  });
  for await (const change of changes) {
    if (change.type === 'current') continue;
    yield* compare(
      source,
      filter,
      known,
      change.key,
      change.type === 'deleted' ? undefined : change.row,
    );
    // When a session stops to wait, nobody waits for the agents that it called.
    for (const { key } of known.values())
      if (isSameUser(key, change.key) && isDescendantSession(key.sessionId, change.key.sessionId))
        yield* compare(source, filter, known, key, await source.store.find(key));
  }
}

/** Yields what differs between the calls of a session, given its row, and those that were yielded. */
async function* compare(
  source: PendingCallSource,
  filter: PendingCallFilter,
  known: Map<string, KnownCalls>,
  key: SessionKey,
  row: SessionRow | undefined,
): AsyncGenerator<PendingCallChange, void, undefined> {
  const current = row === undefined ? [] : await listMatchingCalls(source, filter, row);
  const before = known.get(formatSessionKey(key))?.calls ?? new Map<string, never>();
  const ids = new Set(current.map(({ callId }) => callId));
  for (const [callId, { root }] of before) {
    if (ids.has(callId)) continue;
    forget(known, key, callId);
    yield { type: 'removed', callId, key: root };
  }
  for (const call of current) {
    const digest = before.get(call.callId)?.digest;
    if (digest === toDigest(call)) continue;
    remember(known, call);
    yield { type: digest === undefined ? 'added' : 'changed', call };
  }
}

async function listMatchingCalls(
  source: PendingCallSource,
  { agent, tool, needs }: PendingCallFilter,
  row: SessionRow,
): Promise<readonly ListedPendingCall[]> {
  if (agent !== undefined && row.agent !== agent) return [];
  const calls: ListedPendingCall[] = [];
  for (const call of row.pending) {
    if (call.via !== undefined) continue;
    if (tool !== undefined && call.name !== tool) continue;
    if (needs !== undefined && call.needs !== needs) continue;
    const listed = await toListedCall(source, { key: row.key, agent: row.agent, call });
    if (listed !== undefined) calls.push(listed);
  }
  return calls;
}

function remember(known: Map<string, KnownCalls>, call: ListedPendingCall): void {
  const key = toSessionKey(call);
  const name = formatSessionKey(key);
  const session = known.get(name) ?? { key, calls: new Map() };
  session.calls.set(call.callId, { digest: toDigest(call), root: call.key });
  known.set(name, session);
}

function forget(known: Map<string, KnownCalls>, key: SessionKey, callId: string): void {
  const name = formatSessionKey(key);
  const session = known.get(name);
  session?.calls.delete(callId);
  if (session?.calls.size === 0) known.delete(name);
}

/** The session that made the call. */
function toSessionKey({ key, session }: ListedPendingCall): SessionKey {
  return { ...key, sessionId: session ?? key.sessionId };
}

function isSameUser(one: SessionKey, other: SessionKey): boolean {
  return one.userId === other.userId;
}

/** Arguments may be long, so a digest of the call is kept. */
function toDigest(call: ListedPendingCall): string {
  const { key: _, path: __, ...rest } = call;
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(rest))));
}
