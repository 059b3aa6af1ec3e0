/**
 * Stock clients of every protocol over `petrichor serve`: the server is killed while a tool runs, and the client comes
 * back by its own means. Nothing is lost, and no finished tool runs again.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freePort } from '../free-port.ts';
import { ServeProcess } from '../server/serve-process.ts';
import { temporaryFolder } from '../server/temporary-folder.ts';
import type { Conversation, ProtocolDriver } from './driver.ts';
import { ALL_DRIVERS } from './drivers/all-drivers.ts';
import { toSourceUrl } from './test-server.ts';

/** `first` ends at once. `second` waits for the file `go`, in the attempt that finds it. */
const AGENTS = `
import { appendFileSync, existsSync } from 'node:fs';
import { agent } from '${toSourceUrl('agents/index.ts')}';
import { ScriptedModel } from '${toSourceUrl('models/index.ts')}';
import { tool } from '${toSourceUrl('tools/index.ts')}';

const log = (name) => appendFileSync('ran.txt', name + '\\n');
const first = tool({
  name: 'first', description: 'Runs once.', parameters: { type: 'object', properties: {} },
  execute: () => { log('first'); return { did: 'first' }; },
});
const second = tool({
  name: 'second', description: 'Waits.', parameters: { type: 'object', properties: {} }, idempotent: true,
  execute: async (_, { signal }) => {
    log('second');
    if (!existsSync('go')) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return { did: 'second' };
  },
});
const model = new ScriptedModel(({ contents }) => {
  const results = contents.flatMap(({ parts }) => parts).filter((part) => 'functionResponse' in part);
  if (results.length === 0) return { toolCalls: [{ name: 'first', args: {} }] };
  if (results.length === 1) return { toolCalls: [{ name: 'second', args: {} }] };
  return { text: 'Both are done.' };
});
export const assistant = agent({ name: 'assistant', model, tools: [first, second] });
`;

interface Crashed extends AsyncDisposable {
  readonly conversation: Conversation;
  /** Resolves when the client knows that its connection was lost. */
  readonly sent: Promise<unknown>;
  readonly ran: () => readonly string[];
  readonly serve: ServeProcess;
}

/** Sends a message, and kills the server while \`second\` runs. */
async function crash(driver: ProtocolDriver): Promise<Crashed> {
  const { path: folder, [Symbol.dispose]: removeFolder } = temporaryFolder();
  writeFileSync(join(folder, 'agents.mjs'), AGENTS);
  const file = join(folder, 'ran.txt');
  const ran = (): readonly string[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const protocols = [...new Set(['managed', driver.protocol])].join(',');
  const start = async (port: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: ['agents.mjs', '--port', port, '--store', 'sqlite:test.db', '--protocols', protocols],
    });
  const before = await start(String(await freePort()));
  const conversation = await driver.open({ url: before.url, agentId: 'agent_assistant' });
  const sent = conversation.send('go').catch(() => undefined);
  while (!ran().includes('second')) await new Promise((resolve) => setTimeout(resolve, 10));
  conversation.disconnect?.();
  const { port } = before;
  await before.end('SIGKILL');
  writeFileSync(join(folder, 'go'), '');
  const serve = await start(port);
  return {
    conversation,
    sent,
    ran,
    serve,
    [Symbol.asyncDispose]: async () => {
      await serve[Symbol.asyncDispose]();
      removeFolder();
    },
  };
}

describe('a server that is killed while a tool runs', () => {
  for (const driver of ALL_DRIVERS)
    it(`${driver.name} comes back: nothing is lost, and no finished tool runs again`, async () => {
      await using crashed = await crash(driver);
      const { conversation, ran, serve, sent } = crashed;
      const session = await waitUntilIdle(serve.url, conversation.id);
      if (driver.cannot?.includes('lost connection') !== true) {
        // Whoever comes back twice gets the same.
        for (const answer of [await conversation.reconnect(), await conversation.reconnect()]) {
          assert.deepEqual([answer.text, answer.error], ['Both are done.', undefined]);
          assert.deepEqual(
            answer.results.map((text) => JSON.parse(text) as unknown),
            [{ did: 'first' }, { did: 'second' }],
          );
        }
      }
      // Some clients notice only when they come back.
      await sent;
      // Where a protocol has no way back, the session has the result, once.
      assert.deepEqual(session, ['Both are done.']);
      assert.deepEqual(ran(), ['first', 'second', 'second']);
    });
});

/** The texts of the agent, as the Managed Agents protocol has them when the session is idle. */
async function waitUntilIdle(url: string, id: string): Promise<readonly string[]> {
  const stream = await fetch(`${url}/v1/sessions/${id}/events?limit=100`);
  assert.equal(stream.status, 200, await stream.clone().text());
  for (;;) {
    const response = await fetch(`${url}/v1/sessions/${id}/events?limit=100`);
    const { data } = (await response.json()) as {
      readonly data: readonly {
        readonly type: string;
        readonly content?: readonly { readonly text?: string }[];
      }[];
    };
    if (data.some(({ type }) => type === 'session.status_idle'))
      return data.flatMap(({ type, content = [] }) =>
        type === 'agent.message' ? content.flatMap(({ text }) => text ?? []) : [],
      );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
