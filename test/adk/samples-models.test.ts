/** The samples of ADK's pages that need a provider: against a server that talks like Gemini. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { App, DatabaseSessionService, LlmAgent, Runner, textOf } from '../../src/runner/index.ts';
import { geminiWire } from '../models/wire/gemini-wire.ts';
import { openWireServer, WIRE_KEY } from '../models/wire/wire-server.ts';

it('a context cache of the app is made once and used by every call', async () => {
  let made = 0;
  const turns = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
  await using server = await openWireServer(geminiWire, turns, (_method, path) =>
    path.endsWith('/cachedContents')
      ? { status: 200, body: { name: `cachedContents/c${++made}` } }
      : undefined,
  );
  const app = new App({
    name: 'cached_app',
    rootAgent: new LlmAgent({
      name: 'lawyer',
      model: 'gemini-2.5-flash',
      instruction: 'Answer from this law. '.repeat(500),
    }),
    contextCacheConfig: {
      cacheIntervals: 20, // the same cache for up to 20 invocations
      ttlSeconds: 3600, // it lives for an hour
      minTokens: 1000, // shorter requests are not worth it
    },
  });
  const sessionService = new DatabaseSessionService('sqlite+aiosqlite:///:memory:');
  await using runner = new Runner({
    app,
    sessionService,
    autoCreateSession: true,
    env: { GEMINI_API_KEY: WIRE_KEY, GEMINI_BASE_URL: server.baseUrl },
  });
  const said: string[] = [];
  for (const newMessage of ['one', 'two', 'three']) {
    const events = await runner.run({ userId: 'u1', sessionId: 's1', newMessage });
    said.push(textOf(events.at(-1)?.content));
  }
  assert.deepEqual(said, ['One.', 'Two.', 'Three.']);
  assert.equal(made, 1);
  assert.deepEqual(
    server.requests.map(({ body }) => body['cachedContent']),
    ['cachedContents/c1', 'cachedContents/c1', 'cachedContents/c1'],
  );
});
