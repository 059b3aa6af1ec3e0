import { formatSessionKey } from '../../core/index.ts';
import type { LogEvent, Seq } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { CommittedStep, InboxRow } from '../../store/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { EventProjection } from '../wire/event-projection.ts';
import { NetEvents } from './net-events.ts';

/** The projection of a session's log, and the session's uid, from which event ids are derived. */
export interface SessionProjection {
  readonly projection: EventProjection;
  readonly uid: string;
}

export function openProjection(
  { store, projections }: ServerContext,
  session: ManagedSession,
): SessionProjection {
  const key = toSessionKey(session);
  const { uid } = session;
  // The key too: a uid can be forged in a file that an earlier release imported.
  const projection = projections.get(`${formatSessionKey(key)} ${uid}`, () => {
    const read = (from: number): AsyncIterable<LogEvent> => store.read(key, from);
    return new EventProjection({ sessionId: session.id, sessionUid: uid, read });
  });
  return { projection, uid };
}

/** The net events of a session after an event of its log. */
export function openNetEvents(
  { store }: ServerContext,
  session: ManagedSession,
  { uid, from }: { readonly uid: string; readonly from: Seq },
): NetEvents {
  const steps = (after: number): AsyncIterable<CommittedStep> =>
    store.steps(toSessionKey(session), after);
  return new NetEvents({ sessionUid: uid, steps, from });
}

/** The entries of a session's log after a number. */
export function readLog(
  { store }: ServerContext,
  session: ManagedSession,
  from: number,
): AsyncIterable<LogEvent> {
  return store.read(toSessionKey(session), from);
}

/** The accepted inputs of a session that no step has consumed yet. */
export async function readInbox(
  { store }: ServerContext,
  session: ManagedSession,
): Promise<readonly InboxRow[]> {
  return store.inbox(toSessionKey(session), 0);
}

/** Names the session to the runtime. The id of a session that a program made is unique only with its user. */
export function toSessionRef({ id, owner }: ManagedSession): {
  readonly id: string;
  readonly userId: string;
} {
  return { id, userId: owner.userId };
}

export function toSessionKey({ id, owner }: ManagedSession): {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
} {
  return { appName: owner.appName, userId: owner.userId, sessionId: id };
}
