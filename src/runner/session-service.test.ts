import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { eventActions, InvalidStateKeyError } from '../core/index.ts';
import type { Event, JsonObject } from '../core/index.ts';
import { SimulatedClock } from '../net/index.ts';
import { ForeignDatabaseError, UnsupportedStoreUrlError } from '../store/index.ts';
import { DatabaseSessionService } from './database-session-service.ts';
import { InMemorySessionService } from './in-memory-session-service.ts';
import { SessionExistsError, StaleSessionError } from './session-errors.ts';
import type { SessionService } from './session-service.ts';
import { SqliteSessionService } from './sqlite-session-service.ts';

const alice = { appName: 'chatbot', userId: 'alice' } as const;

function event(text: string, more: Partial<Event> & { stateDelta?: JsonObject } = {}): Event {
  const { stateDelta = {}, ...rest } = more;
  return {
    id: crypto.randomUUID(),
    timestamp: 1_700_000_000,
    invocationId: 'inv-001',
    author: 'user',
    content: { role: 'user', parts: [{ text }] },
    actions: eventActions({ stateDelta }),
    ...rest,
  };
}

const textsOf = (events: readonly Event[]): readonly unknown[] =>
  events.map(({ content }) => content?.parts[0] && Reflect.get(content.parts[0], 'text'));

async function temporaryFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'adk-')), 'sessions.db');
}

const services: readonly {
  readonly name: string;
  readonly open: () => Promise<SessionService>;
}[] = [
  { name: 'InMemorySessionService', open: async () => new InMemorySessionService() },
  {
    name: 'SqliteSessionService',
    open: async () => new SqliteSessionService(await temporaryFile()),
  },
  {
    name: 'DatabaseSessionService',
    open: async () =>
      new DatabaseSessionService(`sqlite+aiosqlite:////${(await temporaryFile()).slice(1)}`),
  },
];

for (const { name, open } of services) {
  const using =
    (check: (service: SessionService) => Promise<void>): (() => Promise<void>) =>
    async () => {
      const service = await open();
      try {
        await check(service);
      } finally {
        await service.close();
      }
    };

  describe(name, () => {
    it(
      'a session gets an id of its own, or the one it is given, once',
      using(async (service) => {
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
      }),
    );

    it(
      'state given at the beginning goes where its prefixes say, and brings no event',
      using(async (service) => {
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
      }),
    );

    it(
      'a deleted session takes its own state with it; the state of user and app stays',
      using(async (service) => {
        const state = { own: 1, 'user:lang': 'en', 'app:x': true };
        await service.createSession({ ...alice, sessionId: 's1', state });
        await service.deleteSession({ ...alice, sessionId: 's1' });
        assert.equal(await service.getSession({ ...alice, sessionId: 's1' }), undefined);
        const again = await service.createSession({ ...alice, sessionId: 's1' });
        assert.deepEqual(again.state, { 'user:lang': 'en', 'app:x': true });
      }),
    );

    it(
      'an appended event is there for everyone who reads, with its state, in the order of appending',
      using(async (service) => {
        const session = await service.createSession({ ...alice, sessionId: 's1' });
        // Equal timestamps: the order is that of the log.
        for (const text of ['one', 'two', 'three'])
          await service.appendEvent({
            session,
            event: event(text, { stateDelta: { last: text } }),
          });
        const read = await service.getSession({ ...alice, sessionId: 's1' });
        assert.deepEqual(textsOf(read?.events ?? []), ['one', 'two', 'three']);
        assert.deepEqual(read?.state, { last: 'three' });
        assert.deepEqual(session.state, { last: 'three' });
        assert.deepEqual(session.events, read.events);
      }),
    );

    it(
      'temp: state of an event is seen by its session and never stored; a partial event is not kept',
      using(async (service) => {
        const session = await service.createSession({ ...alice, sessionId: 's1' });
        const given = event('x', { stateDelta: { 'temp:a': 1, b: 2 } });
        const appended = await service.appendEvent({ session, event: given });
        assert.deepEqual(appended.actions.stateDelta, { b: 2 });
        assert.deepEqual(session.state, { 'temp:a': 1, b: 2 });
        await service.appendEvent({ session, event: event('half', { partial: true }) });
        const read = await service.getSession({ ...alice, sessionId: 's1' });
        assert.deepEqual(read?.state, { b: 2 });
        assert.equal(read.events.length, 1);
      }),
    );

    it(
      'a key that state refuses is refused in an event, and nothing is kept',
      using(async (service) => {
        const session = await service.createSession({ ...alice, sessionId: 's1' });
        const bad = event('x', { stateDelta: { '../etc': 1 } });
        await assert.rejects(service.appendEvent({ session, event: bad }), InvalidStateKeyError);
        assert.equal((await service.getSession({ ...alice, sessionId: 's1' }))?.events.length, 0);
      }),
    );

    it(
      'of ten who read the session and append at once, one succeeds and nine are told to read again',
      using(async (service) => {
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
      }),
    );

    it(
      'who is told that the session is stale reads it again and appends',
      using(async (service) => {
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
        assert.deepEqual(textsOf(read?.events ?? []), ['first', 'second']);
      }),
    );

    it(
      'ten appends through one session object all land',
      using(async (service) => {
        const session = await service.createSession({ ...alice, sessionId: 's1' });
        await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            service.appendEvent({ session, event: event(String(index)) }),
          ),
        );
        const read = await service.getSession({ ...alice, sessionId: 's1' });
        assert.equal(read?.events.length, 10);
      }),
    );

    it(
      'a session comes with as many recent events as asked for, or those after a time',
      using(async (service) => {
        const session = await service.createSession({ ...alice, sessionId: 's1' });
        for (let at = 1; at <= 100; at++)
          await service.appendEvent({ session, event: event(String(at), { timestamp: at }) });
        const read = async (config: object): Promise<readonly unknown[]> =>
          textsOf((await service.getSession({ ...alice, sessionId: 's1', config }))?.events ?? []);
        assert.deepEqual(await read({ numRecentEvents: 3 }), ['98', '99', '100']);
        assert.deepEqual(await read({ numRecentEvents: 0 }), []);
        assert.deepEqual(await read({ afterTimestamp: 97.5 }), ['98', '99', '100']);
        assert.deepEqual(await read({ afterTimestamp: 20, numRecentEvents: 2 }), ['99', '100']);
        assert.equal((await read({ numRecentEvents: 1000 })).length, 100);
        await assert.rejects(read({ numRecentEvents: -1 }), { code: 'invalid_input' });
      }),
    );

    it(
      'sessions are listed by user or for all of the app, without events',
      using(async (service) => {
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
      }),
    );
  });
}

it('sessions in a file are there for the next process that opens it', async () => {
  const file = await temporaryFile();
  const one = new SqliteSessionService(file);
  const session = await one.createSession({ ...alice, sessionId: 's1', state: { a: 1 } });
  await one.appendEvent({ session, event: event('kept') });
  await one.close();
  const two = new SqliteSessionService(`sqlite:////${file.slice(1)}`);
  const read = await two.getSession({ ...alice, sessionId: 's1' });
  assert.deepEqual(textsOf(read?.events ?? []), ['kept']);
  assert.deepEqual(read?.state, { a: 1 });
  await two.close();
});

it('a database file of the other kit is refused by name and left as it is', async () => {
  const file = await temporaryFile();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT)');
  database.close();
  const service = new SqliteSessionService(file);
  await assert.rejects(service.createSession(alice), ForeignDatabaseError);
});

it('a URL that no store is known for is refused when the service is made', () => {
  assert.throws(() => new DatabaseSessionService('mysql://host/db'), UnsupportedStoreUrlError);
  assert.throws(() => new SqliteSessionService('postgres://host/db'), UnsupportedStoreUrlError);
});

it('the time of the last change is that of the clock, in seconds', async () => {
  const clock = new SimulatedClock(5_000);
  const service = new InMemorySessionService({ clock });
  const session = await service.createSession(alice);
  assert.equal(session.lastUpdateTime, 5);
  await service.close();
});
