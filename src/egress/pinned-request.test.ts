import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pinnedRequest } from './pinned-request.ts';

test('a server that switches protocols without a request, or closes without a response, rejects the request', async () => {
  const replies = [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    '',
  ];
  const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const reply = replies.shift() ?? plain;
      if (reply === '') socket.end();
      else socket.write(reply);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  const options = { method: 'GET', headers: {}, signal };
  await assert.rejects(pinnedRequest(url, '127.0.0.1', options), /closed without a response/);
  await assert.rejects(pinnedRequest(url, '127.0.0.1', options), /socket hang up/);
  const response = await pinnedRequest(url, '127.0.0.1', options);
  assert.equal(await text(response), 'ok');
  server.close();
});
