import assert from 'node:assert/strict';
import { createEventActions, InvalidStateKeyError } from '../../../core/index.ts';
import type { Event, JsonObject } from '../../../core/index.ts';
import { SessionExistsError, StaleSessionError } from '../session-errors.ts';
import type { SessionService } from '../session-service.ts';

/** A check that every session service must pass. Each check gets a service without sessions. */
export interface SessionServiceCase {
  readonly name: string;
  readonly check: (service: SessionService) => Promise<void>;
}

export const alice = { appName: 'chatbot', userId: 'alice' } as const;

export function event(
  text: string,
  more: Partial<Event> & { stateDelta?: JsonObject } = {},
): Event {
  const { stateDelta = {}, ...rest } = more;
  return {
    id: crypto.randomUUID(),
    timestamp: 1_700_000_000,
    invocationId: 'inv-001',
    author: 'user',
    content: { role: 'user', parts: [{ text }] },
    actions: createEventActions({ stateDelta }),
    ...rest,
  };
}

export const readTexts = (events: readonly Event[]): readonly unknown[] =>
  events.map(({ content }) => content?.parts[0] && Reflect.get(content.parts[0], 'text'));

export const sessionServiceContract: readonly SessionServiceCase[] = [
  {
    name: 'a session gets a generated id or the requested one, which must be new',
    check: async (service) => {
      const one = await service.createSession(alice);
      const two = await service.createSession(alice);
      assert.notEqual(one.id, two.id);
      const named = await service.createSession({ ...alice, sessionId: 's1' });
      assert.equal(named.id, 's1');
      assert.deepEqual([named.appName, named.userId], ['chatbot', 'alice']);
      await assert.rejects(
        service.createSession({ ...alice, sessionId: 's1' }),
        SessionExistsError,
      );
    },
  },
  {
    name: 'the initial state is stored by its prefixes, and adds no event',
    check: async (service) => {
      const session = await service.createSession({
        ...alice,
        sessionId: 's1',
        state: {
          'session:last_city': 'London',
          'user:lang': 'en',
          'app:feature_x': true,
          'temp:scratch': 1,
        },
      });
      assert.deepEqual(session.state, {
        last_city: 'London',
        'user:lang': 'en',
        'app:feature_x': true,
      });
      assert.deepEqual(session.events, []);
      const other = await service.createSession(alice);
      assert.deepEqual(other.state, { 'user:lang': 'en', 'app:feature_x': true });
      const bob = await service.createSession({ appName: 'chatbot', userId: 'bob' });
      assert.deepEqual(bob.state, { 'app:feature_x': true });
      const elsewhere = await service.createSession({ appName: 'other', userId: 'alice' });
      assert.deepEqual(elsewhere.state, {});
    },
  },
  {
    name: 'a deleted session loses its own state, and the state of user and app remains',
    check: async (service) => {
      const state = { own: 1, 'user:lang': 'en', 'app:x': true };
      await service.createSession({ ...alice, sessionId: 's1', state });
      await service.deleteSession({ ...alice, sessionId: 's1' });
      assert.equal(await service.getSession({ ...alice, sessionId: 's1' }), undefined);
      const again = await service.createSession({ ...alice, sessionId: 's1' });
      assert.deepEqual(again.state, { 'user:lang': 'en', 'app:x': true });
    },
  },
  {
    name: 'every reader sees an appended event with its state, in the order of appends',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1' });
      // The timestamps are equal, so the order must come from the log.
      for (const text of ['one', 'two', 'three'])
        await service.appendEvent({
          session,
          event: event(text, { stateDelta: { last: text } }),
        });
      const read = await service.getSession({ ...alice, sessionId: 's1' });
      assert.deepEqual(readTexts(read?.events ?? []), ['one', 'two', 'three']);
      assert.deepEqual(read?.state, { last: 'three' });
      assert.deepEqual(session.state, { last: 'three' });
      assert.deepEqual(session.events, read.events);
    },
  },
  {
    name: 'temp: state of an event is visible in its session object and never stored; a partial event is not stored',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1' });
      const withTempState = event('x', { stateDelta: { 'temp:a': 1, b: 2 } });
      const appended = await service.appendEvent({ session, event: withTempState });
      assert.deepEqual(appended.actions.stateDelta, { b: 2 });
      assert.deepEqual(session.state, { 'temp:a': 1, b: 2 });
      await service.appendEvent({ session, event: event('half', { partial: true }) });
      const read = await service.getSession({ ...alice, sessionId: 's1' });
      assert.deepEqual(read?.state, { b: 2 });
      assert.equal(read.events.length, 1);
    },
  },
  {
    name: 'an event with an invalid state key is rejected, and nothing is stored',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1' });
      const bad = event('x', { stateDelta: { '../etc': 1 } });
      await assert.rejects(service.appendEvent({ session, event: bad }), InvalidStateKeyError);
      assert.equal((await service.getSession({ ...alice, sessionId: 's1' }))?.events.length, 0);
    },
  },
  {
    name: 'when ten readers of one session append at once, one succeeds and nine get stale_session',
    check: async (service) => {
      const address = { ...alice, sessionId: 's1' };
      await service.createSession(address);
      const copies = await Promise.all(
        Array.from({ length: 10 }, () => service.getSession(address)),
      );
      const results = await Promise.allSettled(
        copies.map(async (session, index) => {
          assert.ok(session !== undefined);
          return service.appendEvent({ session, event: event(`from ${index}`) });
        }),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      assert.equal(refused.length, 9);
      for (const { reason } of refused) assert.ok(reason instanceof StaleSessionError);
      assert.equal((await service.getSession(address))?.events.length, 1);
    },
  },
  {
    name: 'after a stale_session error, reading again and appending succeeds',
    check: async (service) => {
      const address = { ...alice, sessionId: 's1' };
      const stale = await service.createSession(address);
      const other = await service.getSession(address);
      assert.ok(other !== undefined);
      await service.appendEvent({ session: other, event: event('first') });
      await assert.rejects(service.appendEvent({ session: stale, event: event('second') }), {
        code: 'stale_session',
      });
      const fresh = await service.getSession(address);
      assert.ok(fresh !== undefined);
      await service.appendEvent({ session: fresh, event: event('second') });
      const read = await service.getSession(address);
      assert.deepEqual(readTexts(read?.events ?? []), ['first', 'second']);
    },
  },
  {
    name: 'ten appends through one session object all succeed',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1' });
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          service.appendEvent({ session, event: event(String(index)) }),
        ),
      );
      const read = await service.getSession({ ...alice, sessionId: 's1' });
      assert.equal(read?.events.length, 10);
    },
  },
  {
    name: 'a session is read with a number of recent events, or with those after a time',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1' });
      for (let at = 1; at <= 40; at++)
        await service.appendEvent({ session, event: event(String(at), { timestamp: at }) });
      const read = async (config: object): Promise<readonly unknown[]> =>
        readTexts((await service.getSession({ ...alice, sessionId: 's1', config }))?.events ?? []);
      assert.deepEqual(await read({ numRecentEvents: 3 }), ['38', '39', '40']);
      assert.deepEqual(await read({ numRecentEvents: 0 }), []);
      assert.deepEqual(await read({ afterTimestamp: 37.5 }), ['38', '39', '40']);
      assert.deepEqual(await read({ afterTimestamp: 20, numRecentEvents: 2 }), ['39', '40']);
      assert.equal((await read({ numRecentEvents: 1000 })).length, 40);
      await assert.rejects(read({ numRecentEvents: -1 }), { code: 'invalid_input' });
    },
  },
  {
    name: 'sessions are listed by user or for the whole app, without events',
    check: async (service) => {
      const session = await service.createSession({ ...alice, sessionId: 's1', state: { a: 1 } });
      await service.appendEvent({ session, event: event('x') });
      await service.createSession({ appName: 'chatbot', userId: 'bob', sessionId: 's2' });
      const { sessions } = await service.listSessions(alice);
      assert.deepEqual(
        sessions.map(({ id, state, events }) => [id, state, events]),
        [['s1', { a: 1 }, []]],
      );
      const all = await service.listSessions({ appName: 'chatbot' });
      assert.deepEqual(all.sessions.map(({ id }) => id).toSorted(), ['s1', 's2']);
    },
  },
];
