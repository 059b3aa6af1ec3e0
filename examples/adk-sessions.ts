/** Sessions: state scopes, state that survives a session, and an append to a session that has changed. */
import assert from 'node:assert/strict';
import { DatabaseSessionService, StaleSessionError } from 'petrichor/adk';
import type { Event, Session } from 'petrichor/adk';
import { createEventActions } from 'petrichor/core';

// A path, sqlite:///…, :memory:, postgresql://user:password@host/db with the package pg, or mysql://… with mysql2.
const sessions = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
const who = { appName: 'shop', userId: 'ada' } as const;

const first = await sessions.createSession({
  ...who,
  sessionId: 's1',
  state: {
    step: 'cart', // this session
    'user:language': 'en', // all sessions of the user
    'app:sale': true, // all sessions of the app
    'temp:draft': 1, // never stored
  },
});
assert.deepEqual(first.state, { step: 'cart', 'user:language': 'en', 'app:sale': true });

// Another writer appends to the session that was read.
const theirs = await sessions.getSession({
  ...who,
  sessionId: 's1',
  config: { numRecentEvents: 10 },
});
assert.ok(theirs !== undefined);
await sessions.appendEvent({ session: theirs, event: note('theirs', { step: 'paid' }) });
await append(first, note('ours'));

const read = await sessions.getSession({ ...who, sessionId: 's1' });
console.log(read?.state, read?.events.length);
assert.deepEqual([read?.state['step'], read?.events.length], ['paid', 2]);

// User and app state survives the session.
await sessions.deleteSession({ ...who, sessionId: 's1' });
const second = await sessions.createSession(who);
assert.deepEqual(second.state, { 'user:language': 'en', 'app:sale': true });
await sessions.close();

/** Appends an event. If the session has changed since it was read, reads it again and appends. */
async function append(session: Session, event: Event): Promise<Event> {
  try {
    return await sessions.appendEvent({ session, event });
  } catch (error) {
    if (!(error instanceof StaleSessionError)) throw error;
    const fresh = await sessions.getSession({ ...who, sessionId: session.id });
    if (fresh === undefined) throw error;
    return sessions.appendEvent({ session: fresh, event });
  }
}

function note(text: string, stateDelta: Record<string, string> = {}): Event {
  return {
    id: crypto.randomUUID(),
    timestamp: Date.now() / 1000,
    invocationId: 'e-by-hand',
    author: 'user',
    content: { role: 'user', parts: [{ text }] },
    actions: createEventActions({ stateDelta }),
  };
}
