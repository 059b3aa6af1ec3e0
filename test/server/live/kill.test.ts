import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../src/client/index.ts';
import { readSideEffects } from '../../crash/side-effects.ts';
import { freePort } from '../../free-port.ts';
import { pickSample } from '../../sample-seed.ts';
import { ServeProcess } from '../serve-process.ts';
import { QuickClient } from './quick-client.ts';
import { killLiveAtRandom } from './random-live-kills.ts';

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(5);
}

test('a server that is killed while user and model speak, and during a tool, continues the conversation', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-live-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'effects.jsonl');
  const start = async (port: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [join(import.meta.dirname, 'killable-live-agent.ts'), '--live', '--port', port],
      env: { SIDE_EFFECTS: file },
    });
  let server = await start(String(await freePort()));
  t.after(async () => server[Symbol.asyncDispose]());
  const { port } = server;
  const http = createClient({ baseUrl: server.url, retries: 100 });
  const [agent = ''] = server.agents;
  const { id } = await http.sessions.create({ agent });
  const client = new QuickClient(`${server.url}/v1/sessions/${id}/live`);
  t.after(() => client.close());
  const gaps: number[] = [];
  const kill = async (): Promise<void> => {
    await server.end('SIGKILL');
    server = await start(port);
    const from = performance.now();
    await client.connect();
    gaps.push(Math.round(performance.now() - from));
  };
  const read = async (): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const event of http.sessions.listEvents(id, { limit: 1000 }))
      lines.push(`${event.type}${'content' in event ? ` ${JSON.stringify(event.content)}` : ''}`);
    return lines;
  };
  const count = async (type: string): Promise<number> =>
    (await read()).filter((line) => line.startsWith(type)).length;

  await client.connect();
  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(() => client.played.size > 0);
  // The user speaks over the reply, and the server dies before it has understood that, or after it.
  client.speak(200, 4_000);
  await kill();
  await until(async () => (await count('session.status_idle')) > 0);

  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(() => readSideEffects(file).length > 0);
  await kill();
  await until(async () => (await count('session.status_idle')) > 1);

  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(async () => (await count('session.status_idle')) > 2);

  const log = await read();
  t.diagnostic(`ready after ${gaps.join(', ')} ms`);
  assert.deepEqual(client.twice, []);
  assert.deepEqual(client.errors, []);
  assert.equal(readSideEffects(file).length, 1, 'the tool ran once');
  const users = log.filter((line) => line.startsWith('user.message'));
  assert.match(users.join(), /Tell me a story.*Pay Ann.*Thanks/, log.join('\n'));
  assert.ok(
    log.some((line) => line.includes('You are welcome.')),
    log.join('\n'),
  );
});

test('a server that is killed at random moments of a conversation plays nothing twice and runs no tool twice', async (t) => {
  const seed = pickSample(1_000_000, 'live kills');
  const { faults, ...figures } = await killLiveAtRandom(2, seed);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(faults, []);
});
