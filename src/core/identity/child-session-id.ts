import type { FiringId, SessionId } from './ids.ts';

// A firing id is the uid of the calling session (a UUID), a slash and a number.
const CHILD = /\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d/;
const EACH_CHILD = /\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d/g;

/** Returns the id of the child session in which a called agent runs. `firing` is the firing that makes the call. */
export function childSessionId(parent: SessionId, firing: FiringId): SessionId {
  return `${parent}/${firing}`;
}

/** True for the id of a child session, in which a called agent runs. It belongs to the session that made the call. */
export function isChildSessionId(id: SessionId): boolean {
  return CHILD.test(id);
}

/** Returns the id of the top-level session of a child session. Any other id is returned unchanged. */
export function rootSessionId(id: SessionId): SessionId {
  const found = CHILD.exec(id);
  return found === null ? id : id.slice(0, found.index);
}

/** True if a session is a child of `parent`, directly or through other child sessions. */
export function isDescendantSession(id: SessionId, parent: SessionId): boolean {
  const rest = id.startsWith(`${parent}/`) ? id.slice(parent.length) : undefined;
  return rest !== undefined && CHILD.exec(rest)?.index === 0;
}

/** Returns the direct child of `parent` that is `descendant` or an ancestor of it. */
export function directChildSessionId(parent: SessionId, descendant: SessionId): SessionId {
  const next = CHILD.exec(descendant.slice(parent.length + 1));
  return next === null ? descendant : descendant.slice(0, parent.length + 1 + next.index);
}

/** Returns the session that made the call of a child session. Undefined for a top-level session. */
export function parentSessionId(id: SessionId): SessionId | undefined {
  const last = [...id.matchAll(EACH_CHILD)].at(-1);
  return last === undefined ? undefined : id.slice(0, last.index);
}
