import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { invoke } from './invocation.ts';
import type { InvocationReply, InvocationRequest } from './invocation.ts';

let server: PostgresServer | undefined;
before(async () => {
  server = await startPostgresServer();
});
after(async () => server?.stop());

const NO_SERVER = 'no PostgreSQL for this platform';

test('a session goes on over invocations that each open a runtime, drive it to rest and close it', async (t) => {
  if (server === undefined) return t.skip(NO_SERVER);
  const { url } = server;
  const statements: string[] = [];
  const run = async (request: Partial<InvocationRequest>): Promise<InvocationReply> =>
    invoke({
      url,
      request: { session: 's', ...request },
      onStatement: (text) => statements.push(text),
    });
  assert.deepEqual(await run({ messageId: 'm1', message: 'look' }), {
    text: '3 contents',
    waiting: [],
  });
  // The platform repeats a request whose reply was lost. The message counts once.
  assert.deepEqual(await run({ messageId: 'm1', message: 'look' }), {
    text: '3 contents',
    waiting: [],
  });
  const { waiting } = await run({ messageId: 'm2', message: 'pay' });
  assert.deepEqual(
    waiting.map(({ name }) => name),
    ['pay'],
  );
  // Nothing runs while the call waits for a person.
  const store = await openPostgresStore(url);
  const [row] = await store.list({});
  assert.deepEqual([row?.status, row?.inFlight], ['waiting', 0]);
  await store.close();
  const approved = await run({ approve: waiting[0]?.id ?? '' });
  assert.deepEqual(approved, { text: '7 contents', waiting: [] });
  const before = statements.length;
  await run({ messageId: 'm3', message: 'hi' });
  t.diagnostic(
    `${statements.length - before} statements for a turn with one model call, with opening and closing`,
  );
});

test('two invocations with messages to one session at the same time both end, in one order', async (t) => {
  if (server === undefined) return t.skip(NO_SERVER);
  const { url } = server;
  const replies = await Promise.all(
    ['a', 'b'].map(async (messageId) =>
      invoke({ url, request: { session: 'shared', messageId, message: 'hi' } }),
    ),
  );
  assert.deepEqual(
    replies.map(({ text }) => text).toSorted((x, y) => x.localeCompare(y)),
    ['1 contents', '3 contents'],
  );
});

test('an invocation that its platform kills during a call is continued by the next one, which lives long enough', async (t) => {
  if (server === undefined) return t.skip(NO_SERVER);
  const { url } = server;
  const child = fork(new URL('killed-invocation.ts', import.meta.url), [url], { stdio: 'inherit' });
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  let looks = 0;
  const reply = await invoke({
    url,
    request: { session: 'killed', messageId: 'm1', message: 'look' },
    onLook: async () => {
      looks++;
    },
  });
  // The call is read-only, so it runs again.
  assert.deepEqual([reply.text, looks], ['3 contents', 1]);
});
