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

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-adk-'));
  try {
    await run(folder);
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
async function safeAppend(
  service: SessionService,
  session: Session,
  newEvent: Event,
): Promise<Event> {
  try {
    return await service.appendEvent({ session, event: newEvent });
  } catch (error) {
    if (!(error instanceof StaleSessionError)) throw error;
    const { appName, userId, id: sessionId } = session;
    const fresh = await service.getSession({ appName, userId, sessionId });
    if (fresh === undefined) throw error;
    return service.appendEvent({ session: fresh, event: newEvent });
  }
}

describe('DatabaseSessionService', () => {
  it('accepts SQLite, PostgreSQL and MySQL URLs, and rejects other databases with UnsupportedStoreUrlError', () => {
    assert.ok(new DatabaseSessionService('sqlite+aiosqlite:///./sessions.db'));
    assert.ok(new DatabaseSessionService('sqlite+aiosqlite:///:memory:'));
    assert.ok(
      new DatabaseSessionService('postgresql+asyncpg://user:pass@pg-host/adk', {
        poolSize: 10,
        maxOverflow: 5,
        poolRecycle: 3600,
      }),
    );
    assert.ok(new DatabaseSessionService('mysql+aiomysql://user:pass@localhost:3306/adk'));
    for (const url of [
      'oracle://user:pass@localhost:1521/adk',
      'spanner+spanner:///projects/my-proj/instances/my-inst/databases/adk',
    ])
      assert.throws(() => new DatabaseSessionService(url), UnsupportedStoreUrlError);
  });

  it('creates, reads, lists and deletes sessions', async () => {
    const service = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const session = await service.createSession({
      appName: 'myapp',
      userId: 'u1',
      state: {
        'session:last_city': 'London', // session-scoped
        'user:lang': 'en', // user-scoped, persists across sessions
        'app:feature_x': true, // app-scoped, all users see this
      },
      sessionId: 's1', // omit it to generate an id
    });
    assert.deepEqual(session.state, {
      last_city: 'London',
      'user:lang': 'en',
      'app:feature_x': true,
    });
    const loaded = await service.getSession({
      appName: 'myapp',
      userId: 'u1',
      sessionId: 's1',
      config: { numRecentEvents: 10 },
    });
    assert.equal(loaded?.id, 's1');
    const response = await service.listSessions({ appName: 'myapp', userId: 'u1' });
    assert.deepEqual(
      response.sessions.map(({ id, lastUpdateTime }) => [id, typeof lastUpdateTime]),
      [['s1', 'number']],
    );
    await service.deleteSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    assert.deepEqual((await service.listSessions({ appName: 'myapp', userId: 'u1' })).sessions, []);
    await service.close();
  });

  it('appendEvent() returns the stored event', async () => {
    const service = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const session = await service.createSession({ appName: 'myapp', userId: 'u1' });
    const appended = await service.appendEvent({ session, event: event('Hello') });
    assert.equal(typeof appended.id, 'string');
    assert.equal(typeof appended.timestamp, 'number');
    await service.close();
  });

  it('appendEvent() rejects a stale session, and succeeds after the session is reloaded', async () => {
    const service = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
    const staleCopy = await service.createSession({
      appName: 'myapp',
      userId: 'u1',
      sessionId: 's1',
    });
    const currentCopy = await service.getSession({
      appName: 'myapp',
      userId: 'u1',
      sessionId: 's1',
    });
    assert.ok(currentCopy !== undefined);
    await service.appendEvent({ session: currentCopy, event: event('theirs') });
    await assert.rejects(service.appendEvent({ session: staleCopy, event: event('mine') }), {
      code: 'stale_session',
    });
    await safeAppend(service, staleCopy, event('mine'));
    const read = await service.getSession({ appName: 'myapp', userId: 'u1', sessionId: 's1' });
    assert.deepEqual(
      read?.events.map(({ content }) => contentText(content)),
      ['theirs', 'mine'],
    );
    await service.close();
  });
});

describe('SqliteSessionService', () => {
  it('accepts a file path, a file URL, and an in-memory database', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'sessions.db');
      for (const location of [
        file,
        `sqlite:////${file.slice(1)}`,
        'sqlite:///:memory:',
        ':memory:',
      ]) {
        const service = new SqliteSessionService(location);
        await service.createSession({ appName: 'myapp', userId: 'u1' });
        await service.close();
      }
      const service = new SqliteSessionService(file);
      assert.equal((await service.listSessions({ appName: 'myapp' })).sessions.length, 2);
      await service.close();
    });
  });

  it('full usage: creates a session with session and user state, runs a turn, loads recent events, and keeps user state after deletion', async () => {
    await inFolder(async (folder) => {
      const agent = new LlmAgent({
        name: 'chat',
        model: 'gemini-2.5-flash',
        instruction: 'Be helpful.',
      });
      const app = new App({ name: 'chatbot', rootAgent: agent });
      const service = new SqliteSessionService(join(folder, 'conversations.db'));
      const runner = new Runner({
        app,
        sessionService: service,
        modelResolver: scriptedResolver(),
      });
      const printed: string[] = [];

      // Create a session with session state and user state.
      const session = await service.createSession({
        appName: 'chatbot',
        userId: 'alice',
        state: {
          'user:preferred_language': 'en', // outlives the session
          greeting_shown: false, // belongs to the session
        },
      });

      // Run one turn.
      for await (const agentEvent of runner.runAsync({
        userId: 'alice',
        sessionId: session.id,
        newMessage: { role: 'user', parts: [{ text: 'Hello!' }] },
      })) {
        if (isFinalResponse(agentEvent)) printed.push(`Agent: ${contentText(agentEvent.content)}`);
      }

      // Load only the newest events.
      const recent = await service.getSession({
        appName: 'chatbot',
        userId: 'alice',
        sessionId: session.id,
        config: { numRecentEvents: 5 },
      });
      printed.push(`Events loaded: ${recent?.events.length}`);
      printed.push(`Session state: ${recent?.state['greeting_shown']}`);
      printed.push(`User lang: ${recent?.state['user:preferred_language']}`);

      // Delete the session. The user's state is kept.
      await service.deleteSession({ appName: 'chatbot', userId: 'alice', sessionId: session.id });
      const next = await service.createSession({ appName: 'chatbot', userId: 'alice' });
      printed.push(`Lang still set: ${next.state['user:preferred_language']}`);
      assert.equal(next.state['greeting_shown'], undefined);

      await runner.close();
      await service.close();
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
