import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server, ServerOptions } from '../../src/server/index.ts';
import { RateLimiter } from '../../src/server/http/rate-limiter.ts';
import { openServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';

const invalidKey = (n: number): string =>
  `ptk_${String(n).padStart(16, '0')}_${String(n).padStart(64, '0')}`;

async function request(
  server: Server,
  token: string | undefined,
  address: string,
): Promise<number> {
  const headers = token === undefined ? {} : { 'x-api-key': token };
  const request = new Request('http://127.0.0.1/v1/agents', { headers });
  return (await server.fetch(request, { address })).status;
}

test('an address that tries too many invalid keys is rate limited; other addresses and keys that worked recently are not', async () => {
  await using on = await openServerFixture(scriptedChat);
  const { runtime, store } = on;
  const clock = new SimulatedClock();
  const lookups: string[] = [];
  const watched: ServerOptions['store'] = new Proxy(store, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== 'function') return found;
      return (...args: readonly unknown[]): unknown => {
        if (name === 'document' && args[0] === 'api-key') lookups.push(String(args[1]));
        return Reflect.apply(found, target, args);
      };
    },
  });
  const server = await createServer({ runtime, store: watched, keys: 'required', clock });
  const { token: knownToken } = await server.keys.create('default', 'known');
  const { token: freshToken } = await server.keys.create('default', 'fresh');
  assert.equal(await request(server, knownToken, '1.2.3.4'), 200);
  for (let n = 0; n < 30; n++) assert.equal(await request(server, invalidKey(n), '1.2.3.4'), 401);
  lookups.length = 0;
  assert.equal(await request(server, invalidKey(31), '1.2.3.4'), 429);
  assert.equal(
    await request(server, freshToken, '1.2.3.4'),
    429,
    'the response does not reveal whether the guessed key is valid',
  );
  assert.deepEqual(lookups, [], 'no key is looked up');
  assert.equal(
    await request(server, knownToken, '1.2.3.4'),
    200,
    'a key that worked recently still works',
  );
  assert.equal(
    await request(server, undefined, '1.2.3.4'),
    401,
    'a request without a key does not count',
  );
  assert.equal(
    await request(server, invalidKey(32), '1.2.3.5'),
    401,
    'each address has its own limit',
  );
  clock.advance(2000);
  assert.equal(await request(server, invalidKey(33), '1.2.3.4'), 401);
  assert.equal(await request(server, invalidKey(34), '1.2.3.4'), 429);
  clock.advance(60_000);
  assert.equal(await request(server, freshToken, '1.2.3.4'), 200);
  await server.keys.revoke(knownToken.slice(4, 20));
  assert.equal(
    await request(server, knownToken, '1.2.3.4'),
    401,
    'a revoked key stops working at once',
  );
});

test('the rate limit uses the address of the socket and ignores headers that the client sends', async () => {
  await using on = await openServerFixture(scriptedChat, {
    server: { keys: 'required', limits: { failedKeysPerMinute: 2 } },
  });
  const requestWithForwardedFor = async (n: number): Promise<number> => {
    const headers = { 'x-api-key': invalidKey(n), 'x-forwarded-for': `1.2.3.${n}` };
    return (await fetch(`${on.url}/v1/agents`, { headers })).status;
  };
  assert.deepEqual(
    [
      await requestWithForwardedFor(1),
      await requestWithForwardedFor(2),
      await requestWithForwardedFor(3),
    ],
    [401, 401, 429],
  );
});

test('the limiter remembers a bounded number of addresses', () => {
  const limiter = new RateLimiter(30, new SimulatedClock());
  for (let n = 0; n < 25_000; n++) limiter.take(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  assert.equal(limiter.size, 10_000);
});
