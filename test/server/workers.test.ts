import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createClient, type Client } from '../../src/client/index.ts';
import { freePort } from '../free-port.ts';
import { ServeProcess } from './serve-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

const source = (path: string): string => new URL(`../../src/${path}`, import.meta.url).href;

/** An agent whose tool writes down the process that runs it, and ends when there is a file for it. */
const moduleText = `
import { appendFileSync, existsSync } from 'node:fs';
import { ScriptedModel } from '${source('models/index.ts')}';
import { tool } from '${source('tools/index.ts')}';
export const tools = [tool({
  name: 'wait', description: 'Waits', readOnly: true, parameters: { type: 'object' },
  execute: async () => {
    appendFileSync('pids', process.pid + '\\n');
    while (!existsSync('release')) await new Promise((resolve) => setTimeout(resolve, 10));
    return 'waited';
  },
})];
export const resolver = async () => new ScriptedModel(({ contents }) =>
  contents.at(-1).parts.some((part) => part.functionResponse)
    ? { text: 'Waited.' } : { toolCalls: [{ name: 'wait', args: {} }] });
export const agents = [{ name: 'Waiter', model: 'gpt-5', tools: [{ type: 'builtin', name: 'wait' }] }];
`;

/** Reads with a connection of its own, which is given to the next worker. */
async function getAlone(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  request(url, { agent: new Agent({ keepAlive: false }) }, (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
  })
    .once('error', reject)
    .end();
  return promise;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const pidsOf = ({ lines }: ServeProcess): readonly number[] =>
  lines
    .filter(({ type, event }) => type === 'worker' && event === 'started')
    .map(({ pid }) => Number(pid));

/** The types of the events of a session, up to the end of its turn, over a connection to each of both workers. */
async function readTurn(client: Client, id: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const event of client.sessions.events(id)) {
    if (!('seq' in event)) continue;
    types.push(`${event.seq} ${event.type}`);
    if (event.type === 'session.status_idle') break;
  }
  return types;
}

test('two workers share the port; one that is killed is started again, and its session is continued', async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'agents.ts'), moduleText);
  await using server = await ServeProcess.start({
    folder: folder.path,
    args: ['--agents=agents.ts', `--port=${await freePort()}`, '--workers=2'],
  });
  const pids = pidsOf(server);
  assert.equal(new Set(pids).size, 2);

  // Each worker answers, and names itself in its lines and metrics.
  const create = (): Client => createClient({ baseUrl: server.url, retries: 100 });
  const client = create();
  const { id } = await client.sessions.create({ agent: 'agent_waiter' });
  const both = [await getAlone(`${server.url}/metrics`), await getAlone(`${server.url}/metrics`)];
  for (const { status, body } of both) {
    assert.equal(status, 200);
    assert.match(body, /^petrichor_turns_total\{worker="1"\} 0$/m);
    assert.match(body, /^petrichor_turns_total\{worker="2"\} 0$/m);
    assert.equal(body.match(/^petrichor_sessions\{/gm)?.length, 1);
  }
  const readers = [readTurn(create(), id), readTurn(create(), id)];
  await client.sessions.send(id, 'wait');
  await until(() => server.lines.some(({ type }) => type === 'audit'));
  for (const line of server.lines)
    if (line['type'] === 'audit') assert.ok([1, 2].includes(Number(line['worker'])));

  // The worker that runs the tool is killed.
  const pidFile = join(folder.path, 'pids');
  const runs = (): readonly number[] =>
    existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim().split('\n').map(Number) : [];
  await until(() => runs().length === 1);
  const [killed = 0] = runs();
  assert.ok(pids.includes(killed));
  process.kill(killed, 'SIGKILL');
  await until(() => runs().length === 2);
  assert.notEqual(runs()[1], killed);
  await until(() => pidsOf(server).length === 3);
  const ended = server.lines.filter(({ event }) => event === 'ended');
  assert.deepEqual(
    ended.map(({ pid, signal }) => [pid, signal]),
    [[killed, 'SIGKILL']],
  );
  appendFileSync(join(folder.path, 'release'), '');
  const [one = [], two = []] = await Promise.all(readers);
  assert.deepEqual(one, two);
  assert.equal(one.filter((line) => line.endsWith('session.status_idle')).length, 1);
  assert.equal((await getAlone(`${server.url}/health/ready`)).status, 200);

  // SIGTERM ends all of them.
  assert.equal(await server.end('SIGTERM'), 0);
  assert.deepEqual(pidsOf(server).filter(isAlive), []);
});

test('workers end when the first process is killed, and a file that cannot be loaded is told once', async () => {
  using folder = temporaryFolder();
  const start = async (file: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder: folder.path,
      args: [`--agents=${file}`, `--port=${await freePort()}`, '--workers=2'],
    });
  writeFileSync(join(folder.path, 'broken.ts'), 'throw new Error("broken file");');
  await assert.rejects(start('broken.ts'), ({ message }: Error) => {
    assert.equal(message.split('broken file').length, 2);
    return true;
  });
  writeFileSync(join(folder.path, 'agents.ts'), moduleText);
  const server = await start('agents.ts');
  const pids = pidsOf(server);
  assert.equal(pids.length, 2);
  await server.end('SIGKILL');
  await until(() => !pids.some(isAlive));
});
