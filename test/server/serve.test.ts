import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import type { Client, SessionEvent } from '../../src/client/index.ts';
import { freePort } from '../free-port.ts';
import { ServeProcess } from './serve-process.ts';

const source = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/** A module for --agents: its model repeats messages, and calls `wait` or streams on request. */
const moduleText = `
import { ScriptedModel } from '${source('models/index.ts')}';
import { tool } from '${source('tools/index.ts')}';
export const tools = [tool({
  name: 'wait', description: 'Waits', readOnly: true, parameters: { type: 'object' },
  execute: async (_, { attempt, signal }) => attempt > 1 ? 'waited' : new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')));
  }),
})];
export const resolver = async () => new ScriptedModel(({ contents }) => {
  const parts = contents.at(-1).parts;
  if (parts.some((part) => part.functionResponse)) return { text: 'Waited.' };
  const said = parts.map(({ text }) => text).join('');
  return said === 'wait' ? { toolCalls: [{ name: 'wait', args: {} }] } : { text: 'You said: ' + said };
});
export const agents = [{ name: 'Echo Chamber', model: 'gpt-5', tools: [{ type: 'builtin', name: 'wait' }] }];
`;

function folderWith(t: TestContext, text: string = moduleText): string {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-serve-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'agents.ts'), text);
  return folder;
}

async function collectUntil(
  client: Client,
  id: string,
  isLast: (event: SessionEvent) => boolean,
): Promise<readonly SessionEvent[]> {
  const seen: SessionEvent[] = [];
  for await (const event of client.sessions.events(id)) {
    if (!('seq' in event)) continue;
    seen.push(event);
    if (isLast(event)) break;
  }
  return seen;
}

test('after a shutdown, the next server continues a running turn, and readers reconnect', async (t) => {
  const folder = folderWith(t);
  const args = ['--port', String(await freePort()), '--agents', 'agents.ts'];
  await using first = await ServeProcess.start({ folder, args });
  assert.deepEqual(first.agents, ['agent_echo-chamber']);
  const client = createClient({ baseUrl: first.url, retries: 50 });
  const { id } = await client.sessions.create({ agent: 'agent_echo-chamber' });
  await client.sessions.send(id, 'wait');
  await collectUntil(client, id, ({ type }) => type === 'agent.tool_use');
  const stream = await fetch(`${first.url}/v1/sessions/${id}/events/stream?from_seq=0`);
  const reading = collectUntil(client, id, ({ type }) => type === 'session.status_idle');
  assert.equal(await first.end('SIGTERM'), 0);
  // The stream ended normally; its connection was not broken.
  assert.match(await stream.text(), /event: message\n/);
  await using second = await ServeProcess.start({ folder, args });
  const seen = await reading;
  const types = seen.map(({ type }) => type);
  assert.ok(types.includes('agent.tool_result'), types.join(' '));
  const storedIds: string[] = [];
  for await (const event of client.sessions.listEvents(id, { limit: 1000 }))
    storedIds.push(event.id);
  assert.deepEqual(
    seen.map((event) => event.id),
    storedIds,
  );
  assert.equal(await second.end('SIGINT'), 0);
  assert.equal(first.stderr + second.stderr, '');
  const paths = first.lines.flatMap((line) => (line['type'] === 'audit' ? [line['path']] : []));
  assert.deepEqual(paths, ['/v1/sessions', `/v1/sessions/${id}/events`]);
});
