import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { SimulatedClock, systemClock } from '../../src/net/index.ts';
import type { Clock } from '../../src/net/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { ProofOptions } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { agentSource } from '../cli/agent-source.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { checkResponses } from './response-check.ts';

type Json = Readonly<Record<string, unknown>>;

const folder = new CommandFolder();
const module = folder.write('agent.ts', agentSource);
const { assistant } = (await import(module)) as { readonly assistant: Agent };
const smallBounds = { at_once: 1, faults: 0 };
/** A search that takes minutes, so that it still runs when the test looks. */
const largeBounds = { messages: 3, at_once: 1, faults: 2, shutdowns: true, states: 50_000_000 };
const hardProperty = 'atMost(model.call, 100)';

const isEnd = ({ type }: Json): boolean => type === 'proof.ended';

interface ProofServer extends AsyncDisposable {
  readonly ask: (
    line: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: Json }>;
  readonly follow: (
    id: unknown,
    until: (change: Json) => boolean,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<readonly Json[]>;
  readonly create: (workspace: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

async function openProofServer({
  store = new MemoryStore(),
  clock = systemClock,
  proofs,
  keys = 'off',
}: {
  readonly store?: Store;
  readonly clock?: Clock;
  /** False: the server runs no proofs. */
  readonly proofs?: Partial<ProofOptions> | false;
  readonly keys?: 'off' | 'required';
} = {}): Promise<ProofServer> {
  const runtime = await openManagedRuntime({ agents: [assistant], store });
  const errors: unknown[] = [];
  const server = checkResponses(
    await createServer({
      runtime,
      store,
      keys,
      clock,
      ...(proofs !== false && { proofs: { module, ...proofs } }),
      onError: (error) => errors.push(error),
    }),
  );
  const send = async (line: string, body?: object, headers = {}): Promise<Response> => {
    const [method = '', path = ''] = line.split(' ');
    return server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  };
  const close = async (): Promise<void> => {
    await server.close();
    await runtime.close();
  };
  return {
    ask: async (line, body, headers) => {
      const response = await send(line, body, headers);
      return { status: response.status, body: (await response.json()) as Json };
    },
    follow: async (id, until, headers) => {
      const response = await send(`GET /v1/proofs/${String(id)}/stream`, undefined, headers);
      const changes: Json[] = [];
      let text = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const [, data = ''] of frames.join('\n').matchAll(/^data: (.*)$/gm))
          changes.push(JSON.parse(data) as Json);
        if (changes.some(until)) break;
      }
      return changes;
    },
    create: async (workspace) => (await server.keys.create(workspace, 'test')).token,
    close,
    [Symbol.asyncDispose]: async () => {
      await close();
      assert.deepEqual(server.violations, []);
      assert.deepEqual(errors, []);
    },
  };
}

test('a proof runs beside the server, streams its verdicts, and shows a counterexample step by step', async () => {
  await using on = await openProofServer();
  const listed = await on.ask('GET /v1/agents/agent_assistant/properties');
  const defaults = listed.body['properties'] as readonly Json[];
  assert.deepEqual(
    defaults.find(({ name }) => name === 'oneTurn'),
    {
      name: 'oneTurn',
      title: 'at most 1 in turn.permit + turn.current',
      text: 'placeBound(turn.permit, turn.current, 1)',
      kind: 'placeBound',
    },
  );
  const request = {
    agent_id: 'agent_assistant',
    properties: ['oneTurn', 'unreachable(turn.waiting)'],
    bounds: smallBounds,
  };
  const headers = { 'idempotency-key': 'once' };
  const { body: started } = await on.ask('POST /v1/proofs', request, headers);
  const { id } = started;
  assert.equal((await on.ask('POST /v1/proofs', request, headers)).body['id'], id, 'a retry');
  const changes = await on.follow(id, isEnd);
  assert.equal(changes[0]?.['type'], 'proof.state');
  const results = changes.flatMap(({ type, result }) =>
    type === 'proof.result' ? [result as Json] : [],
  );
  assert.deepEqual(
    results.map(({ text, verdict }) => [text, verdict]),
    [
      ['placeBound(turn.permit, turn.current, 1)', 'proved'],
      ['unreachable({turn.waiting: 1})', 'refuted'],
    ],
  );

  const trace = results.find(({ verdict }) => verdict === 'refuted')?.['trace'] as {
    readonly steps: readonly Json[];
    readonly markings: readonly Json[];
  };
  assert.equal(trace.markings.length, trace.steps.length + 1);
  assert.deepEqual(trace.steps[0], { kind: 'injected', gives: { 'user.in': 1 } });
  assert.equal(trace.markings.at(-1)?.['turn.waiting'], 1);
  const tests = results.map(({ test: text }) => String(text));
  assert.equal(tests[0], 'undefined', 'what is proved needs no test');
  assert.match(tests[1] ?? '', /parseProperty\('unreachable\({turn\.waiting: 1}\)'\)/);
  assert.match(tests[1] ?? '', /import \* as subject from '\.\/[\w.-]+'/);
  const proof = changes.at(-1)?.['proof'] as Json;
  assert.deepEqual([proof['status'], proof['error']], ['done', null]);
  assert.equal(proof['net_hash'], assistant.compiled.hash);
  assert.deepEqual((proof['report'] as Json)['broken_rules'], []);
  assert.deepEqual((await on.ask(`GET /v1/proofs/${String(id)}`)).body, proof);
  assert.deepEqual((await on.ask('GET /v1/proofs?agent_id=agent_assistant')).body['data'], [proof]);
  assert.deepEqual((await on.ask('GET /v1/proofs?agent_id=agent_other')).body['data'], []);
  assert.deepEqual((await on.ask(`DELETE /v1/proofs/${String(id)}`)).body, proof, 'it had ended');
});

test('a proof waits for its turn, is canceled, and is not started above the limit of the workspace', async () => {
  await using on = await openProofServer({ proofs: { perWorkspace: 2 } });
  const request = {
    agent_id: 'agent_assistant',
    properties: [hardProperty],
    bounds: largeBounds,
  };
  const start = async (): Promise<{ readonly status: number; readonly body: Json }> =>
    on.ask('POST /v1/proofs', request, { 'idempotency-key': crypto.randomUUID() });
  const [running, waiting] = [(await start()).body, (await start()).body];
  assert.deepEqual([running['status'], waiting['status']], ['running', 'queued']);
  assert.equal((await start()).status, 429);
  const isSearching = ({ type, states }: Json): boolean =>
    type === 'proof.progress' && Number(states) > 0;
  await on.follow(running['id'], isSearching);
  const canceled = await on.ask(`DELETE /v1/proofs/${String(running['id'])}`);
  assert.equal(canceled.body['status'], 'canceled');
  assert.deepEqual(
    (await on.follow(running['id'], isEnd)).map(({ type }) => type),
    ['proof.state', 'proof.ended'],
  );
  const second = `/v1/proofs/${String(waiting['id'])}`;
  assert.equal((await on.ask(`DELETE ${second}`)).body['status'], 'canceled');
  assert.equal((await start()).status, 200, 'there is room again');
});

test('a proof that a killed server left is interrupted, and so is one of a server that was closed', async () => {
  const store = new MemoryStore();
  const killed = await openProofServer({ store, clock: new SimulatedClock(1000) });
  const request = {
    agent_id: 'agent_assistant',
    properties: [hardProperty],
    bounds: largeBounds,
  };
  const { id } = (await killed.ask('POST /v1/proofs', request)).body;
  const readStatus = async (now: number): Promise<unknown> => {
    await using other = await openProofServer({ store, clock: new SimulatedClock(now) });
    const { body } = await other.ask(`GET /v1/proofs/${String(id)}`);
    assert.deepEqual((await other.ask('GET /v1/proofs')).body['data'], [body]);
    if (body['status'] !== 'running') assert.equal((await other.follow(id, isEnd)).length, 2);
    return body['status'];
  };
  assert.equal(await readStatus(2000), 'running');
  // No beat of the first server comes any more.
  assert.equal(await readStatus(60_000), 'interrupted');
  await killed.close();
  assert.equal(await readStatus(2000), 'interrupted');
  await store.close();
});

test('what cannot be proved is refused before a process starts, with the field and what to do', async () => {
  await using on = await openProofServer();
  const refuse = async (body: object, message: RegExp): Promise<void> => {
    const reply = await on.ask('POST /v1/proofs', body);
    assert.equal(reply.status, 400);
    assert.match(JSON.stringify(reply.body), message);
  };
  const agent_id = 'agent_assistant';
  await refuse(
    { agent_id, properties: ['oneTurn', 'oneTun'] },
    /properties\[1\]: is no property.*there is no property.*oneTun.*The default properties are deadlockFree/,
  );
  await refuse({ agent_id, properties: ['placeBound(no.place, 1)'] }, /properties\[0\].*no\.place/);
  await refuse({ agent_id, properties: ['--save-test=x'] }, /properties\[0\]/);
  await refuse({ agent_id, properties: ['__proto__'] }, /properties\[0\]/);
  await refuse({ agent_id, bounds: { states: 0 } }, /body\.bounds\.states: must be at least 1/);
  const { body } = await on.ask('POST /v1/agents', { name: 'Data', model: 'gemini-2.5-flash' });
  await refuse({ agent_id: body['id'] }, /agent_not_provable/);
  assert.equal((await on.ask('POST /v1/proofs', { agent_id: 'agent_none' })).status, 404);
  assert.deepEqual((await on.ask('GET /v1/proofs')).body['data'], []);
});

test('proofs are off by default, and a workspace sees its own only', async () => {
  await using off = await openProofServer({ proofs: false });
  assert.deepEqual((await off.ask('GET /v1/proofs')).body['data'], []);
  const request = { agent_id: 'agent_assistant', properties: ['oneTurn'], bounds: largeBounds };
  const { status, body } = await off.ask('POST /v1/proofs', request);
  assert.equal(status, 403);
  assert.match(JSON.stringify(body), /"error_code":"proofs_disabled"/);

  // The module is missing, so the process ends with an error that names it.
  const proofs = { module: join(folder.path, 'gone.ts') };
  await using on = await openProofServer({ keys: 'required', proofs });
  const [one, other] = [await on.create('one'), await on.create('other')];
  const mine = { 'x-api-key': one };
  const { id } = (await on.ask('POST /v1/proofs', request, mine)).body;
  const path = `/v1/proofs/${String(id)}`;
  for (const line of [`GET ${path}`, `GET ${path}/stream`, `DELETE ${path}`])
    assert.equal((await on.ask(line, undefined, { 'x-api-key': other })).status, 404, line);
  assert.deepEqual(
    (await on.ask('GET /v1/proofs', undefined, { 'x-api-key': other })).body['data'],
    [],
  );
  const last = (await on.follow(id, isEnd, mine)).at(-1);
  const failed = last?.['proof'] as Json;
  assert.equal(failed['status'], 'failed');
  assert.match(JSON.stringify(failed['error']), /"agent_module".*gone\.ts does not exist/);
});

test('wrong limits of proofs are refused by name', async () => {
  for (const name of ['concurrency', 'perWorkspace', 'timeoutMs', 'memoryMegabytes'])
    await assert.rejects(openProofServer({ proofs: { [name]: 0 } }), { field: `proofs.${name}` });
});

test('the process of a proof ends with the process that started it, even if that is killed while the proof searches', async () => {
  const program = join(import.meta.dirname, '../../src/cli/main.ts');
  const args = ['--messages=4', '--at-once=4', '--shutdowns', '--property=deadlockFree'];
  const command = ['prove', module, '--json', '--progress', '--no-cache', ...args];
  // The proof writes to the output of its parent, which closes when both have ended.
  const start = `require('node:child_process').fork(${JSON.stringify(program)}, ${JSON.stringify(command)}, { execArgv: [] })`;
  const parent = spawn(process.execPath, ['--eval', start], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(parent.stdout, 'data');
  parent.kill('SIGKILL');
  parent.stdout.resume();
  await once(parent.stdout, 'close');
});
