import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { RestateIngress } from './restate-ingress.ts';

test('a request whose connection is lost is sent once more, as the same request', async () => {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
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
  const refused = ingress.send({ key, id: 'uid/0/1', attempt: 0 }, 0);
  await assert.rejects(refused, { code: 'restate_unavailable', status: 503 });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
