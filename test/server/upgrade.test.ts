import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { createClient } from '../../src/client/index.ts';
import type { Client, SessionEvent } from '../../src/client/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { countingTool, openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

/** Copies a store that an earlier version of this package wrote; `scripts/store-fixture.ts` creates them. */
function copyStore(t: TestContext, version: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-upgrade-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'store.db');
  copyFileSync(join(import.meta.dirname, 'fixtures', `store-v${version}.db`), file);
  return `sqlite:${file}`;
}

async function listEvents(client: Client, id: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of client.sessions.listEvents(id, { limit: 1000 })) events.push(event);
  return events;
}

test('a server continues pending calls of a store with layout 2', async (t) => {
  const bash = countingTool('bash');
  const store = await openStore(copyStore(t, 2));
  await using on = await openServerFixture(scriptedChat, { store, tools: [bash] });
  const client = createClient({ baseUrl: on.url });
  const ids: string[] = [];
  for await (const session of client.sessions.list()) {
    assert.equal(session.title, 'Left behind');
    ids.push(session.id);
  }
  const [id = ''] = ids;
  const before = await listEvents(client, id);
  const uses = before.flatMap((event) => (event.type === 'agent.tool_use' ? [event.id] : []));
  const [one = '', two = ''] = uses;
  const reason = { deny_message: 'Not this one.' };
  await client.sessions.send(id, [
    { type: 'user.tool_confirmation', tool_use_id: one, result: 'allow' },
    { type: 'user.tool_confirmation', tool_use_id: two, result: 'deny', ...reason },
  ]);
  const { id: after = '' } = before.at(-1) ?? {};
  let answer = '';
  for await (const event of client.sessions.events(id, { after })) {
    if (event.type === 'agent.message') answer = JSON.stringify(event.content);
    if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
  }
  assert.match(answer, /ok.*Not this one/);
  assert.deepEqual(bash.ran, [{ path: 'a' }]);
  assert.deepEqual(
    (await listEvents(client, id)).slice(0, before.length),
    before,
    'earlier events have not changed',
  );
  await client.sessions.send(id, 'And now?');
  for await (const event of client.sessions.events(id, {
    after: (await listEvents(client, id)).at(-1)?.id ?? '',
  }))
    if (event.type === 'session.status_idle') break;
});

test('a pending approval of a store with layout 1 can be given, and a server can use that store', async (t) => {
  const url = copyStore(t, 1);
  let ran = 0;
  const deleteFile = tool({
    name: 'delete_file',
    description: 'Delete a file',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
    },
    needsApproval: true,
    execute: () => ran++,
  });
  const model = new ScriptedModel(({ contents }) => {
    assert.ok(contents.at(-1)?.parts.every(isFunctionResponsePart));
    return { text: 'Done.' };
  });
  const assistant = agent({
    name: 'assistant',
    model,
    instruction: 'Be brief.',
    tools: [deleteFile],
  });
  {
    await using runtime = await openRuntime({ agents: [assistant], store: url });
    const session = await runtime.session('demo');
    const [call] = await session.pending();
    assert.ok(call !== undefined);
    const seen: string[] = [];
    for await (const event of session.approve(call.id)) if ('seq' in event) seen.push(event.type);
    assert.deepEqual(seen.slice(-2), ['agent.message', 'turn.ended']);
  }
  assert.equal(ran, 1);
  const store = await openStore(url);
  await using on = await openServerFixture(scriptedChat, { store });
  const client = createClient({ baseUrl: on.url });
  const { id } = await client.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const session = await client.sessions.create({ agent: id });
  await client.sessions.send(session.id, 'Hi');
  for await (const event of client.sessions.events(session.id))
    if (event.type === 'session.status_idle') break;
});
