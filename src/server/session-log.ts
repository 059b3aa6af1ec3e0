import type { LogEvent, Seq } from '../core/index.ts';
import type { ManagedSession } from '../managed/index.ts';
import type { CommittedStep, InboxRow } from '../store/index.ts';
import { NetEvents } from './net-events.ts';
import type { ServerParts } from './server-parts.ts';
import { notFound } from './wire-error.ts';
import { WireFace } from './wire-face.ts';

/** The wire's view of a session's log, with what it takes to name its events. */
export interface SessionFace {
  readonly face: WireFace;
  readonly uid: string;
}

/** @throws WireError 404 when the session is gone */
export async function faceOf(
  { store, faces }: ServerParts,
  session: ManagedSession,
): Promise<SessionFace> {
  const key = keyOf(session);
  const row = await store.find(key);
  if (row === undefined) throw notFound('session', session.id);
  const { uid } = row;
  const face = faces.get(uid, () => {
    const read = (from: number): AsyncIterable<LogEvent> => store.read(key, from);
    return new WireFace({ sessionId: session.id, sessionUid: uid, read });
  });
  return { face, uid };
}

/** What the session's net did after an event of its log. */
export function netEventsOf(
  { store }: ServerParts,
  session: ManagedSession,
  { uid, from }: { readonly uid: string; readonly from: Seq },
): NetEvents {
  const steps = (after: number): AsyncIterable<CommittedStep> => store.steps(keyOf(session), after);
  return new NetEvents({ sessionUid: uid, steps, from });
}

/** What is in a session's log after a number. */
export function readLog(
  { store }: ServerParts,
  session: ManagedSession,
  from: number,
): AsyncIterable<LogEvent> {
  return store.read(keyOf(session), from);
}

/** The inputs of a session that were accepted and that no step has consumed. */
export async function inboxOf(
  { store }: ServerParts,
  session: ManagedSession,
): Promise<readonly InboxRow[]> {
  return store.inbox(keyOf(session), 0);
}

export function keyOf({ id, owner }: ManagedSession): {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
} {
  return { appName: owner.appName, userId: owner.userId, sessionId: id };
}
