import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { agentSource } from './agent-source.ts';
import { CommandFolder } from './command-folder.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** The program starts in a second, and on a busy machine in a minute. */
const TIMEOUT_MS = 600_000;

interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly kill: () => Promise<void>;
  /** The questions that the client was asked. All are accepted. */
  readonly asked: readonly string[];
}

async function connect(folder: CommandFolder): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', 'agents.ts', '--store', folder.store],
    cwd: folder.path,
  });
  const asked: string[] = [];
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
    asked.push(message);
    return { action: 'accept', content: { approved: true } };
  });
  await client.connect(transport, { timeout: TIMEOUT_MS });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this client is no EventTarget
  client.onclose = () => resolve();
  return {
    client,
    asked,
    kill: async () => {
      process.kill(transport.pid ?? assert.fail(), 'SIGKILL');
      await closed;
    },
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

async function call(
  { client }: Connected,
  args: Readonly<Record<string, string>>,
  onprogress: (text: string | undefined) => void = () => {},
): Promise<unknown> {
  const { structuredContent } = await client.callTool(
    { name: 'assistant', arguments: args },
    { onprogress: ({ message }) => onprogress(message), timeout: TIMEOUT_MS },
  );
  return structuredContent;
}

test('a client of petrichor mcp calls agents, is asked for approvals, and goes on after kill -9', async () => {
  const folder = new CommandFolder();
  folder.write('agents.ts', agentSource);
  const running = { session_id: 's2', message: 'wait', message_id: 'm1' };
  {
    await using connected = await connect(folder);
    const { tools } = await connected.client.listTools();
    assert.ok(tools.some(({ name }) => name === 'assistant'));
    const answer = await call(connected, { message: 'delete a', session_id: 's1' });
    assert.deepEqual(connected.asked, ['Approve the call of delete_file? {"path":"a"}']);
    assert.partialDeepStrictEqual(answer, { session_id: 's1', status: 'completed' });
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const lost = call(connected, running, (text) => {
      if (text === 'waiting') resolve();
    });
    lost.catch(() => {});
    await begun;
    await connected.kill();
    await assert.rejects(lost);
  }
  await using connected = await connect(folder);
  const expected = { status: 'completed', text: 'Then: {"result":"waited"}' };
  assert.partialDeepStrictEqual(await call(connected, running), expected);
  assert.partialDeepStrictEqual(await call(connected, running), expected);
  const runs = readFileSync(join(folder.path, 'runs.log'), 'utf8').trim().split('\n');
  assert.deepEqual(runs, ['delete a', 'wait 1', 'wait 2']);
  const uri = 'petrichor://sessions/s2/log';
  const { contents } = await connected.client.readResource({ uri });
  const [content] = contents;
  const { events } = JSON.parse(content !== undefined && 'text' in content ? content.text : '') as {
    readonly events: readonly { readonly type: string }[];
  };
  assert.equal(events.filter(({ type }) => type === 'user.message').length, 1);
  assert.equal(events.filter(({ type }) => type === 'tool.result').length, 1);
});
