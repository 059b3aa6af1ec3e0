import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { RestateIngress } from './restate-ingress.ts';

test('a request whose connection is lost is sent once more, as the same request, and no delay is too long', async () => {
  const keys: unknown[] = [];
  const urls: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    urls.push(request.url);
    if (keys.length === 1) request.socket.destroy();
    else response.writeHead(keys.length === 2 ? 202 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const origin = `http://127.0.0.1:${address.port}`;
  const ingress = new RestateIngress({ ingress: origin, token: undefined }, 'petrichor.app');
  const key = { appName: 'app', userId: 'default', sessionId: 's' };
  await ingress.send({ key, id: 'uid/0/1', attempt: 0 }, 0);
  assert.deepEqual(keys, ['uid/0/1/0', 'uid/0/1/0']);
  assert.deepEqual(urls, Array(2).fill('/petrichor.app/app%2Fdefault%2Fs/drive/send'));
  const refused = ingress.send({ key, id: 'uid/0/1', attempt: 0 }, 0);
  await assert.rejects(refused, { code: 'restate_unavailable', status: 503 });
  const far = ingress.send({ key, id: 'uid/0/1', attempt: 0 }, Number.MAX_SAFE_INTEGER);
  await assert.rejects(far, { status: 503 });
  // Restate refuses a longer delay, and a drive that failed for ever would keep other drives of its session waiting.
  assert.equal(urls.at(-1), '/petrichor.app/app%2Fdefault%2Fs/drive/send?delay=315360000000ms');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
