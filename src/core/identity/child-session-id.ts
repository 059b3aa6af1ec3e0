import type { FiringId, SessionId } from './ids.ts';

// A firing id is the uid of the session that called, which is a UUID, and a number.
const CHILD = /\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d/;
const EACH_CHILD = /\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d/g;

/** The id of the session in which a called agent works, for the call that this firing makes. */
export function childSessionId(parent: SessionId, firing: FiringId): SessionId {
  return `${parent}/${firing}`;
}

/** True for the id of a session in which a called agent works. Such sessions belong to the one that called. */
export function isChildSessionId(id: SessionId): boolean {
  return CHILD.test(id);
}

/** The session that a message was sent to, for the id of a called agent's session; any other id as it is. */
export function rootSessionId(id: SessionId): SessionId {
  const found = CHILD.exec(id);
  return found === null ? id : id.slice(0, found.index);
}

/** True when the session of this id works for `parent`, directly or through others. */
export function isDescendantSession(id: SessionId, parent: SessionId): boolean {
  const rest = id.startsWith(`${parent}/`) ? id.slice(parent.length) : undefined;
  return rest !== undefined && CHILD.exec(rest)?.index === 0;
}

/** Of the sessions that work for `parent`, the one that it called itself, on the way to `descendant`. */
export function directChildSessionId(parent: SessionId, descendant: SessionId): SessionId {
  const next = CHILD.exec(descendant.slice(parent.length + 1));
  return next === null ? descendant : descendant.slice(0, parent.length + 1 + next.index);
}

/** The session that called the agent of this session; undefined for a session that nobody called. */
export function parentSessionId(id: SessionId): SessionId | undefined {
  const last = [...id.matchAll(EACH_CHILD)].at(-1);
  return last === undefined ? undefined : id.slice(0, last.index);
}
