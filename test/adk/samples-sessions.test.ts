/** The code samples of ADK's pages on session services, in TypeScript. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { UnsupportedStoreUrlError } from '../../src/store/index.ts';
import {
  App,
  DatabaseSessionService,
  isFinalResponse,
  LlmAgent,
  Runner,
  SqliteSessionService,
  StaleSessionError,
  contentText,
} from '../../src/adk/index.ts';
import type { Event, Session, SessionService } from '../../src/adk/index.ts';
import { createEventActions } from '../../src/core/index.ts';
import { scriptedResolver } from './scripted-resolver.ts';

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-adk-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const event = (text: string): Event => ({
  id: crypto.randomUUID(),
  timestamp: 0,
  invocationId: 'inv-001',
  author: 'user',
  content: { role: 'user', parts: [{ text }] },
  actions: createEventActions(),
});

/** Appends an event, reloading the session once if it is stale. */
async function safeAppend(service: SessionService, session: Session, one: Event): Promise<Event> {
  try {
    return await service.appendEvent({ session, event: one });
  } catch (error) {
    if (!(error instanceof StaleSessionError)) throw error;
    const { appName, userId, id: sessionId } = session;
    const fresh = await service.getSession({ appName, userId, sessionId });
    if (fresh === undefined) throw error;
    return service.appendEvent({ session: fresh, event: one });
  }
}

describe('DatabaseSessionService', () => {
  it('takes the URLs of SQLite and PostgreSQL, and refuses others by name', () => {
    assert.ok(new DatabaseSessionService('sqlite+aiosqlite:///./sessions.db'));
    assert.ok(new DatabaseSessionService('sqlite+aiosqlite:///:memory:'));
    assert.ok(
      new DatabaseSessionService('postgresql+asyncpg://user:pass@pg-host/adk', {
        poolSize: 10,
        maxOverflow: 5,
        poolRecycle: 3600,
      }),
    );
    for (const url of [
      'mysql+aiomysql://user:pass@localhost:3306/adk',
      'spanner+spanner:///projects/my-proj/instances/my-inst/databases/adk',
    ])
      assert.throws(() => new DatabaseSessionService(url), UnsupportedStoreUrlError);
  });

  it('creates, reads, lists and deletes sessions', async () => {
    const svc = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const session = await svc.createSession({
      appName: 'myapp',
      userId: 'u1',
      state: {
        'session:last_city': 'London', // session-scoped
        'user:lang': 'en', // user-scoped, persists across sessions
        'app:feature_x': true, // app-scoped, all users see this
      },
      sessionId: 's1', // leave it out for a fresh one
    });
    assert.deepEqual(session.state, {
      last_city: 'London',
      'user:lang': 'en',
      'app:feature_x': true,
    });
    const loaded = await svc.getSession({
      appName: 'myapp',
      userId: 'u1',
      sessionId: 's1',
      config: { numRecentEvents: 10 },
    });
    assert.equal(loaded?.id, 's1');
    const response = await svc.listSessions({ appName: 'myapp', userId: 'u1' });
    assert.deepEqual(
      response.sessions.map(({ id, lastUpdateTime }) => [id, typeof lastUpdateTime]),
      [['s1', 'number']],
    );
    await svc.deleteSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    assert.deepEqual((await svc.listSessions({ appName: 'myapp', userId: 'u1' })).sessions, []);
    await svc.close();
  });

  it('appends events, and says what it stored', async () => {
    const svc = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const session = await svc.createSession({ appName: 'myapp', userId: 'u1' });
    const appended = await svc.appendEvent({ session, event: event('Hello') });
    assert.equal(typeof appended.id, 'string');
    assert.equal(typeof appended.timestamp, 'number');
    await svc.close();
  });

  it('tells that a session is stale, and the recipe of reloading it appends all the same', async () => {
    const svc = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const mine = await svc.createSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    const theirs = await svc.getSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    assert.ok(theirs !== undefined);
    await svc.appendEvent({ session: theirs, event: event('theirs') });
    await assert.rejects(svc.appendEvent({ session: mine, event: event('mine') }), {
      code: 'stale_session',
    });
    await safeAppend(svc, mine, event('mine'));
    const read = await svc.getSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    assert.deepEqual(
      read?.events.map(({ content }) => contentText(content)),
      ['theirs', 'mine'],
    );
    await svc.close();
  });
});

describe('SqliteSessionService', () => {
  it('takes a path, two forms of URL, and memory', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'sessions.db');
      for (const where of [file, `sqlite:////${file.slice(1)}`, 'sqlite:///:memory:', ':memory:']) {
        const svc = new SqliteSessionService(where);
        await svc.createSession({ appName: 'myapp', userId: 'u1' });
        await svc.close();
      }
      const svc = new SqliteSessionService(file);
      assert.equal((await svc.listSessions({ appName: 'myapp' })).sessions.length, 2);
      await svc.close();
    });
  });

  it('full usage: a session with state of two scopes, a turn, recent events, and what survives deletion', async () => {
    await inFolder(async (folder) => {
      const agent = new LlmAgent({
        name: 'chat',
        model: 'gemini-2.5-flash',
        instruction: 'Be helpful.',
      });
      const app = new App({ name: 'chatbot', rootAgent: agent });
      const svc = new SqliteSessionService(join(folder, 'conversations.db'));
      const runner = new Runner({ app, sessionService: svc, modelResolver: scriptedResolver() });
      const printed: string[] = [];

      // A session with state of two scopes.
      const session = await svc.createSession({
        appName: 'chatbot',
        userId: 'alice',
        state: {
          'user:preferred_language': 'en', // survives the session
          greeting_shown: false, // the session's own
        },
      });

      // One turn.
      for await (const said of runner.runAsync({
        userId: 'alice',
        sessionId: session.id,
        newMessage: { role: 'user', parts: [{ text: 'Hello!' }] },
      })) {
        if (isFinalResponse(said)) printed.push(`Agent: ${contentText(said.content)}`);
      }

      // Only the newest events.
      const recent = await svc.getSession({
        appName: 'chatbot',
        userId: 'alice',
        sessionId: session.id,
        config: { numRecentEvents: 5 },
      });
      printed.push(`Events loaded: ${recent?.events.length}`);
      printed.push(`Session state: ${recent?.state['greeting_shown']}`);
      printed.push(`User lang: ${recent?.state['user:preferred_language']}`);

      // The session is deleted; the user's state is kept.
      await svc.deleteSession({ appName: 'chatbot', userId: 'alice', sessionId: session.id });
      const next = await svc.createSession({ appName: 'chatbot', userId: 'alice' });
      printed.push(`Lang still set: ${next.state['user:preferred_language']}`);
      assert.equal(next.state['greeting_shown'], undefined);

      await runner.close();
      await svc.close();
      assert.deepEqual(printed, [
        'Agent: You said: Hello!',
        'Events loaded: 2',
        'Session state: false',
        'User lang: en',
        'Lang still set: en',
      ]);
    });
  });
});
