import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '../../src/client/index.ts';
import type { Proof, ProofChange } from '../src/api/types.ts';
import { untilReached } from '../src/api/until-reached.ts';
import { followProof } from '../src/proofs/follow-proof.ts';

const noWait = async (): Promise<void> => Promise.resolve();

test('a read is repeated until the server is reached', async () => {
  let attempts = 0;
  const read = async (): Promise<string> => {
    if (++attempts < 50) throw new ConnectionError('/v1/sessions/s', 'no response');
    return 'read';
  };
  assert.equal(await untilReached(read, new AbortController().signal, noWait), 'read');
  assert.equal(attempts, 50);
});

test('a read that the server refuses is not repeated, and neither is one of a page that was left', async () => {
  let attempts = 0;
  const refused = async (): Promise<never> => {
    attempts++;
    throw new ApiError(404, { message: 'No such session.' });
  };
  await assert.rejects(untilReached(refused, new AbortController().signal, noWait), ApiError);
  assert.equal(attempts, 1);
  const left = new AbortController();
  const unreached = async (): Promise<never> => {
    attempts++;
    left.abort();
    throw new ConnectionError('/v1/sessions/s', 'no response');
  };
  await assert.rejects(untilReached(unreached, left.signal, noWait), { name: 'AbortError' });
  assert.equal(attempts, 2);
});

test('a stream that a stopping server ends before the proof is opened again', async () => {
  const proof = (status: Proof['status']): Proof => ({
    type: 'proof',
    id: 'p',
    agent_id: 'a',
    net_hash: null,
    status,
    properties: [],
    bounds: { messages: 1, at_once: 1, faults: 0, shutdowns: false, states: 1 },
    states: 0,
    results: [],
    report: null,
    error: null,
    created_at: '2026-01-01T00:00:00Z',
    ended_at: null,
  });
  const connections: readonly (readonly ProofChange[])[] = [
    [{ type: 'proof.state', proof: proof('running') }],
    [],
    [{ type: 'proof.ended', proof: proof('done') }],
  ];
  let opened = 0;
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const follow = async function* <T>(): AsyncIterable<T> {
    for (const change of connections[opened++] ?? []) yield change as T;
  };
  const followed = followProof({ follow }, 'p', new AbortController().signal, noWait);
  followed.proof.subscribe((seen) => {
    if (seen?.status === 'done') resolve(undefined);
  });
  await ended;
  assert.equal(opened, 3);
  assert.equal(followed.error.value, undefined);
});
