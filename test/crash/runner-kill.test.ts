import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import type { Content, Event } from '../../src/core/index.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { listTexts, readLines, withKilledInvocation } from './killed-invocation.ts';
import { APP, here } from './runner-host.ts';

function assertCallsHaveResults(events: readonly Event[]): void {
  const parts = events.flatMap(({ content }): Content['parts'] => content?.parts ?? []);
  const calls = parts.flatMap((part) => ('functionCall' in part ? [part.functionCall.id] : []));
  const results = parts.flatMap((part) =>
    'functionResponse' in part ? [part.functionResponse.id] : [],
  );
  assert.deepEqual(results, calls);
}

describe('an invocation whose process was killed', () => {
  it('is resumed by its id without repeating finished work', async () =>
    withKilledInvocation(async ({ folder, invocationId, open }) => {
      const runner = open();
      const events = await runner.run({ ...here, invocationId });
      assert.deepEqual(listTexts(events), ['Both are done.']);
      assert.deepEqual(new Set(events.map((event) => event.invocationId)), new Set([invocationId]));
      assert.deepEqual(readLines(folder, 'done'), ['first 1', 'second 2']);
      assert.deepEqual(readLines(folder, 'asked'), ['1', '3', '5']);
      // Another run with the same id returns the same events and does no work.
      assert.deepEqual(await runner.run({ ...here, invocationId }), events);
      assert.deepEqual(readLines(folder, 'done'), ['first 1', 'second 2']);
      const session = await runner.sessionService.getSession({ appName: APP, ...here });
      assertCallsHaveResults(session?.events ?? []);
    }));

  it('is finished before a new message is answered', async () =>
    withKilledInvocation(async ({ folder, open }) => {
      const runner = open();
      const events = await runner.run({ ...here, newMessage: 'Again' });
      assert.deepEqual(listTexts(events), ['Both are done.']);
      assert.deepEqual(readLines(folder, 'done'), ['first 1', 'second 2', 'first 1', 'second 1']);
      const session = await runner.sessionService.getSession({ appName: APP, ...here });
      assertCallsHaveResults(session?.events ?? []);
      assert.deepEqual(listTexts(session?.events ?? []), [
        'Go',
        'Both are done.',
        'Again',
        'Both are done.',
      ]);
    }));

  it('ends with an error when the app is not resumable', async () =>
    withKilledInvocation(async ({ folder, invocationId, open }) => {
      const runner = open(false);
      await runner.run({ ...here, invocationId });
      const session = await runner.sessionService.getSession({ appName: APP, ...here });
      const events = session?.events ?? [];
      assertCallsHaveResults(events);
      assert.deepEqual(readLines(folder, 'done'), ['first 1']);
      assert.equal(events.filter(({ errorCode }) => errorCode === 'not_resumable').length, 1);
      const next = await runner.run({ ...here, newMessage: 'Again' });
      assert.deepEqual(listTexts(next), ['Both are done.']);
      assert.deepEqual(readLines(folder, 'done'), ['first 1', 'first 1', 'second 1']);
    }));

  it('can be resumed by another machine with the same PostgreSQL server', async (t) => {
    const server = await startPostgresServer();
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const schema = `killed_${process.pid}`;
    try {
      await withKilledInvocation(
        async ({ folder, invocationId, open }) => {
          const events = await open().run({ ...here, invocationId });
          assert.deepEqual(listTexts(events), ['Both are done.']);
          assert.deepEqual(readLines(folder, 'done'), ['first 1', 'second 2']);
        },
        { url: server.url, schema },
      );
    } finally {
      const client = new Client({ connectionString: server.url });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
      await server.stop();
    }
  });
});
