import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../src/client/index.ts';
import { ServeProcess } from '../serve-process.ts';
import { QuickClient } from './quick-client.ts';

const source = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href;

/** A live agent whose tool writes down the process that runs it. */
const moduleText = `
import { appendFileSync } from 'node:fs';
import { liveAgent, ScriptedLive } from '${source('live/index.ts')}';
import { tool } from '${source('tools/index.ts')}';
const where = tool({
  name: 'where', description: 'Where it runs', readOnly: true, parameters: { type: 'object' },
  execute: () => { appendFileSync('pids', process.pid + '\\n'); return 'here'; },
});
export const assistant = liveAgent({
  name: 'assistant', tools: [where],
  model: new ScriptedLive({ turns: Array.from({ length: 3 }, (_, n) => [
    { heard: 'Where?', toolCalls: [{ id: 'c' + n, name: 'where', args: {} }] }, { text: 'Here.' },
  ]).flat() }),
});
`;

test('with two workers, each socket of a session reaches the worker of the session', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-live-workers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'agents.ts'), moduleText);
  const args = ['agents.ts', '--live', '--port=0', '--workers=2', '--store=sqlite:store.db'];
  await using server = await ServeProcess.start({ folder, args });
  const http = createClient({ baseUrl: server.url });
  const [agent = ''] = server.agents;
  const { id } = await http.sessions.create({ agent });
  const readPids = (): readonly string[] => {
    const file = join(folder, 'pids');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  for (let call = 1; call <= 3; call++) {
    const client = await connect(`${server.url}/v1/sessions/${id}/live`);
    client.speak(200, 4_000);
    client.speak(200, 0);
    while (client.played.size === 0 || readPids().length < call) await sleep(10);
    assert.deepEqual(client.errors, []);
    client.close();
  }
  assert.equal(new Set(readPids()).size, 1, `the calls ran in ${readPids().join()}`);
});

/** Connects, again and again until the server has seen the end of the earlier call. */
async function connect(url: string): Promise<QuickClient> {
  for (;;) {
    const client = new QuickClient(url);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (!String(error).includes('live_session_busy')) throw error;
    }
  }
}
