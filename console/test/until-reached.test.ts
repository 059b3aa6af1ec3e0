import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '../../src/client/index.ts';
import { untilReached } from '../src/api/until-reached.ts';

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
