import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server, ServerOptions } from '../../src/server/index.ts';
import { RateLimiter } from '../../src/server/http/rate-limiter.ts';
import { openServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';

const wrong = (n: number): string =>
  `ptk_${String(n).padStart(16, '0')}_${String(n).padStart(64, '0')}`;

async function ask(server: Server, token: string | undefined, address: string): Promise<number> {
  const headers = token === undefined ? {} : { 'x-api-key': token };
  const request = new Request('http://127.0.0.1/v1/agents', { headers });
  return (await server.fetch(request, { address })).status;
}

test('an address that tries too many wrong keys is made to wait, others and known keys are not', async () => {
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
  const { token: known } = await server.keys.create('default', 'known');
  const { token: fresh } = await server.keys.create('default', 'fresh');
  assert.equal(await ask(server, known, '1.2.3.4'), 200);
  for (let n = 0; n < 30; n++) assert.equal(await ask(server, wrong(n), '1.2.3.4'), 401);
  lookups.length = 0;
  assert.equal(await ask(server, wrong(31), '1.2.3.4'), 429);
  assert.equal(
    await ask(server, fresh, '1.2.3.4'),
    429,
    'a right guess is not told from a wrong one',
  );
  assert.deepEqual(lookups, [], 'nothing is looked up');
  assert.equal(await ask(server, known, '1.2.3.4'), 200, 'a key that was right lately goes on');
  assert.equal(await ask(server, undefined, '1.2.3.4'), 401, 'without a key nothing is tried');
  assert.equal(await ask(server, wrong(32), '1.2.3.5'), 401, 'another address has its own');
  clock.advance(2000);
  assert.equal(await ask(server, wrong(33), '1.2.3.4'), 401);
  assert.equal(await ask(server, wrong(34), '1.2.3.4'), 429);
  clock.advance(60_000);
  assert.equal(await ask(server, fresh, '1.2.3.4'), 200);
  await server.keys.revoke(known.slice(4, 20));
  assert.equal(await ask(server, known, '1.2.3.4'), 401, 'a revoked key is at once no key');
});

test('over a connection the address is that of the socket, whatever headers the client sends', async () => {
  await using on = await openServerFixture(scriptedChat, {
    server: { keys: 'required', limits: { failedKeysPerMinute: 2 } },
  });
  const over = async (n: number): Promise<number> => {
    const headers = { 'x-api-key': wrong(n), 'x-forwarded-for': `1.2.3.${n}` };
    return (await fetch(`${on.url}/v1/agents`, { headers })).status;
  };
  assert.deepEqual([await over(1), await over(2), await over(3)], [401, 401, 429]);
});

test('the memory for addresses is bounded', () => {
  const limiter = new RateLimiter(30, new SimulatedClock());
  for (let n = 0; n < 25_000; n++) limiter.take(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  assert.equal(limiter.size, 10_000);
});
