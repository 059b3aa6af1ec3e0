/** A model of one's own: one method. It says what went wrong; trying again is the session's affair, and is journaled. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { agent, ModelError, openRuntime, contentText } from 'petrichor';
import type { Model } from 'petrichor';

// Stands for a provider: busy at first, then it answers with what it was told in capitals.
let requests = 0;
const server = createServer((request, response) => {
  request.setEncoding('utf8');
  if (requests++ === 0) response.writeHead(429, { 'retry-after': '0.05' }).end();
  else request.once('data', (body: string) => response.end(body.toUpperCase()));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

const name = 'capitals';
const model: Model = {
  name,
  generate: async ({ contents }, { signal, onDelta }) => {
    const reply = await fetch(url, { method: 'POST', body: contentText(contents.at(-1)), signal });
    if (reply.status === 429) {
      const retryAfterMs = Number(reply.headers.get('retry-after')) * 1000;
      throw new ModelError({ model: name, kind: 'rate_limit', message: 'busy', retryAfterMs });
    }
    const text = await reply.text();
    onDelta({ kind: 'text', text }); // shown at once; what is returned is what counts
    return { content: { role: 'model', parts: [{ text }] }, finishReason: 'stop' };
  },
};

await using runtime = await openRuntime({ agents: [agent({ name: 'echo', model })] });
const session = await runtime.session('demo');
const types: string[] = [];
let answer = '';
for await (const event of session.send('Hello.')) {
  types.push(event.type);
  if (event.type === 'agent.message') answer = contentText(event.content);
}
server.close();
assert.equal(answer, 'HELLO.');
assert.ok(types.includes('model.attempt')); // the second attempt stands in the log
console.log(`${answer} after ${requests} requests`);
