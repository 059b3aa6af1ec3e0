import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256Hex } from '../../core/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import type { IdempotentRequest } from './idempotent-request.ts';
import { IdempotentRequests } from './idempotent-requests.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('a repeatable request', () => {
  it('has the result of the transaction in which it was stored, also for a repetition that ran meanwhile', async () => {
    const { read, store } = openRequests();
    for (const clientKey of ['k', undefined]) {
      const first = await read({ clientKey });
      if (clientKey === undefined) await first.claim();
      const repeated = await read({ clientKey, retryCount: 1 });
      assert.equal(repeated.key, first.key);
      assert.equal(await repeated.findResult(), undefined);
      const late = repeated.completion(['second']);
      assert.ok((await store.submit({ documents: [first.completion(['first'])] })).ok);
      first.onCompleted(['first']);
      assert.ok(
        !(await store.submit({ documents: [late] })).ok,
        'only one of the two takes effect',
      );
      await repeated.read();
      assert.deepEqual(await repeated.findResult(), ['first']);
    }
  });

  it('without a key is another request than an equal one, also at the same time', async () => {
    const { read, store } = openRequests();
    const [one, other] = [await read({}), await read({})];
    await one.claim();
    await other.claim();
    assert.notEqual(one.key, other.key);
    assert.ok((await store.submit({ documents: [other.completion(['other'])] })).ok);
    other.onCompleted(['other']);
    assert.ok(!(await store.submit({ documents: [one.completion(['one'])] })).ok);
    await one.read();
    assert.equal(await one.findResult(), undefined);
    assert.ok((await store.submit({ documents: [one.completion(['one'])] })).ok);
    const retried = await read({ retryCount: 1 });
    assert.deepEqual(await retried.findResult(), ['other'], 'the latest that arrived');
  });

  it('without a key is retried as the latest that arrived, in whatever order the requests end', async () => {
    const { read, store } = openRequests();
    const [one, other] = [await read({}), await read({})];
    await one.claim();
    await other.claim();
    await one.read();
    assert.ok((await store.submit({ documents: [one.completion(['one'])] })).ok);
    one.onCompleted(['one']);
    await one.onAnswered(true);
    const retried = await read({ retryCount: 1 });
    assert.equal(retried.key, other.key);
    assert.equal(await retried.findResult(), undefined);
  });

  it('stays the one that its retry was found to be, when equal requests end meanwhile', async () => {
    const { read, store } = openRequests();
    const first = await read({});
    await first.claim();
    const retried = await read({ retryCount: 1 });
    await retried.claim();
    const late = retried.completion(['retried']);
    const other = await read({});
    await other.claim();
    assert.ok((await store.submit({ documents: [other.completion(['other'])] })).ok);
    other.onCompleted(['other']);
    assert.ok(!(await store.submit({ documents: [late] })).ok);
    await retried.read();
    assert.deepEqual([retried.key, await retried.findResult()], [first.key, undefined]);
  });

  it('that was refused keeps what a repetition did meanwhile', async () => {
    const { read } = openRequests();
    const refused = await read({ clientKey: 'k' });
    await refused.claim();
    assert.equal(await (await read({ clientKey: 'k' })).reserveId('id_1'), 'id_1');
    await refused.release();
    assert.equal(await (await read({ clientKey: 'k' })).reserveId('id_2'), 'id_1');
  });

  it('that was refused leaves its key free, and keeps what an earlier one did', async () => {
    const { read } = openRequests();
    const refused = await read({ clientKey: 'k' });
    await refused.claim();
    await refused.release();
    const next = await read({ clientKey: 'k', body: 'another' });
    assert.equal(await next.reserveId('id_1'), 'id_1');
    const repeated = await read({ clientKey: 'k', body: 'another' });
    await repeated.release();
    assert.equal(await repeated.reserveId('id_2'), 'id_1');
    await assert.rejects(read({ clientKey: 'k', body: 'a third' }), /was sent with another body/);
  });

  it('runs its action once', async () => {
    const { read } = openRequests();
    let runs = 0;
    for (let repetition = 0; repetition < 3; repetition++)
      await (
        await read({ clientKey: 'k' })
      ).runOnce(async () => {
        runs++;
      });
    assert.equal(runs, 1);
  });

  it('has the result that version 0.1 stored apart from it', async () => {
    const { read, store, clock } = openRequests();
    const at = clock.now();
    const id = sha256Hex('key\0/v1/agents\0k');
    const body = sha256Hex('{}');
    const key = sha256Hex(`idempotent\0${id}\0${body}`).slice(0, 32);
    await store.writeDocuments([
      { kind: 'idempotency-key', id, version: 0, value: { body, at } },
      { kind: 'attempt-made', id: `blue/${key}`, version: 0, value: { made: 'agent_1', at } },
    ]);
    assert.equal(await (await read({ clientKey: 'k' })).reserveId('agent_2'), 'agent_1');
  });

  it('is removed when it cannot be repeated any more, however many there are', async () => {
    const { read, requests, store, clock } = openRequests();
    for (let index = 0; index < 450; index++) {
      const request = await read({
        clientKey: index % 2 === 0 ? `k${index}` : undefined,
        body: `${index}`,
      });
      await request.save(true);
      await request.onAnswered(true);
    }
    const count = async (kind: string): Promise<number> => (await store.documents({ kind })).length;
    clock.advance(59_999);
    await requests.sweep();
    assert.deepEqual([await count('idempotency-key'), await count('sent-request')], [225, 225]);
    clock.advance(1);
    await requests.sweep();
    assert.deepEqual([await count('idempotency-key'), await count('sent-request')], [225, 0]);
    clock.advance(DAY_MS);
    await requests.sweep();
    assert.equal(await count('idempotency-key'), 0);
  });
});

function openRequests(): {
  readonly requests: IdempotentRequests;
  readonly store: MemoryStore;
  readonly clock: SimulatedClock;
  readonly read: (request: {
    readonly clientKey?: string | undefined;
    readonly retryCount?: number;
    readonly body?: string;
  }) => Promise<IdempotentRequest>;
} {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const requests = new IdempotentRequests(store, clock, 60_000);
  return {
    requests,
    store,
    clock,
    read: async ({ clientKey, retryCount = 0, body = '{}' }) => {
      const client = { keyId: 'key', path: '/v1/agents', body, retryCount, clientKey };
      const request = requests.get(client, 'blue');
      await request.read();
      return request;
    },
  };
}
