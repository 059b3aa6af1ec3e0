import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { z } from 'zod';
import { agent, agentTool, openRuntime, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { readCopyLines, toCopyLines } from '../../src/runtime/copies/copy-lines.ts';
import { createServer } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Line = { readonly [name: string]: Json };

const BASE = 'http://127.0.0.1';
const SESSION = '/v1/sessions/trip';

/** An agent whose sessions have most kinds of events: two tools, one that waits, and an agent that it calls, which waits. */
function fuzzedAgent(): Agent {
  const parameters = z.object({ text: z.string() });
  const note = tool({
    name: 'note',
    description: 'Notes a text',
    parameters,
    execute: ({ text }, { state }) => {
      state.set('noted', text);
      return { noted: text };
    },
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    parameters,
    needsApproval: true,
    execute: () => 'paid',
  });
  const callOnce = (name: string): ScriptedModel =>
    new ScriptedModel(({ contents }) => {
      const last = contents.at(-1);
      if (last?.role !== 'user') return { text: 'Done.' };
      const [part] = last.parts;
      const text = part !== undefined && 'text' in part ? part.text : '';
      const called = text.startsWith('use ') ? text.slice(4) : name;
      const args = called === 'helper' ? { request: 'go' } : { text };
      return { text: 'I call.', thinking: 'Which?', toolCalls: [{ name: called, args }] };
    });
  const helper = agent({ name: 'helper', model: callOnce('pay'), instruction: '', tools: [pay] });
  const tools = [note, pay, agentTool(helper)];
  return agent({ name: 'noter', model: callOnce('note'), instruction: 'Note.', tools });
}

/** A session that waits for an approval, also in the session of an agent that it called, as the lines of a journal file. */
export async function exportFuzzed(): Promise<readonly Line[]> {
  const folder = new CommandFolder();
  const store = join(folder.path, 'source.db');
  {
    await using runtime = await openRuntime({ agents: [fuzzedAgent()], store });
    const session = await runtime.session('trip', { user: 'ada' });
    await session.ask('first');
    for await (const _ of session.send('use pay'));
    await session.interrupt();
    await session.append({ author: 'user', content: 'by the way' });
    for await (const _ of session.send('use helper'));
  }
  const file = join(folder.path, 'trip.jsonl');
  const exported = await folder.run(['export', 'trip', '--store', store, '--output', file]);
  assert.equal(exported.code, 0);
  const chunks = [readFileSync(file)];
  async function* read(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const { value } of readCopyLines(read(), file))
    // An import skips these.
    if (value['type'] !== 'event' && value['type'] !== 'fork_point') lines.push(value);
  return lines;
}

interface Mutation {
  readonly kind: 'flip' | 'drop' | 'duplicate' | 'swap';
  /** Where the path begins: at the line, or at one of its records or events, if it has some. */
  readonly part: 'line' | 'records' | 'events';
  /** The line, from 0 to below 1. */
  readonly line: number;
  /** The member at each depth, from 0 to below 1. Those that the value does not have are not used. */
  readonly path: readonly number[];
  readonly other: number;
  readonly value: Json;
}

// Doubles of fast-check are mostly close to 0.
const position = fc.nat(9999).map((number) => number / 10_000);
const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  8.64e15,
  '',
  'x',
  'constructor',
  '__proto__',
  '\u0000',
  '\uD800',
  [],
  [null],
  {},
  { type: 'x' },
  { parts: null },
  'tool.call',
  'tool.result',
  'agent.message',
  'tool.pending',
  'turn.ended',
];
const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('flip', 'flip', 'drop', 'duplicate', 'swap'),
  part: fc.constantFrom('line', 'records', 'events'),
  line: position,
  path: fc.array(position, { minLength: 1, maxLength: 5 }),
  other: position,
  value: fc.constantFrom(...VALUES),
});

function pick(count: number, at: number): number {
  return Math.floor(at * count);
}

function mutate(value: Json, path: readonly number[], change: Mutation): Json {
  const [at = 0, ...rest] = path;
  if (typeof value !== 'object' || value === null) return change.value;
  const entries = Object.entries(value);
  if (entries.length === 0) return change.value;
  const index = pick(entries.length, at);
  const [name = '', member = null] = entries[index] ?? [];
  const isLeaf = typeof member !== 'object' || member === null;
  if (rest.length > 0 && !isLeaf) {
    entries[index] = [name, mutate(member, rest, change)];
  } else if (change.kind === 'flip') entries[index] = [name, change.value];
  else if (change.kind === 'drop') entries.splice(index, 1);
  else if (change.kind === 'duplicate')
    entries.splice(index, 0, [Array.isArray(value) ? name : `${name}2`, member]);
  else {
    const other = pick(entries.length, change.other);
    const [otherName = '', otherMember = null] = entries[other] ?? [];
    entries[index] = [name, otherMember];
    entries[other] = [otherName, member];
  }
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}

function mutateLine(line: Line, change: Mutation): Line {
  const { part, path, other } = change;
  const parts = part === 'line' ? undefined : line[part];
  if (part === 'line' || !Array.isArray(parts)) return mutate(line, path, change) as Line;
  const at = pick(parts.length, other);
  return {
    ...line,
    [part]: parts.map((one: Json, index) => (index === at ? mutate(one, path, change) : one)),
  };
}

function mutateLines(lines: readonly Line[], changes: readonly Mutation[]): readonly Line[] {
  const mutated = [...lines];
  for (const change of changes) {
    const index = pick(mutated.length, change.line);
    const line = mutated[index];
    if (line === undefined) continue;
    // One change in sixteen is to whole lines.
    if (change.part === 'line' && change.other > 15 / 16) {
      const other = pick(mutated.length, (change.other - 15 / 16) * 16);
      if (change.kind === 'drop') mutated.splice(index, 1);
      else if (change.kind === 'duplicate') mutated.splice(index, 0, line);
      else [mutated[index], mutated[other]] = [mutated[other] ?? line, line];
    } else mutated[index] = mutateLine(line, change);
  }
  return mutated;
}

/** What happened to the files. */
export interface FuzzedImports {
  imported: number;
  refused: number;
}

/**
 * Imports a file with random changes, over HTTP. Each is refused by a typed error, and then nothing has changed, or its
 * session can be read and continued, and no request has an internal error.
 */
export async function fuzzImports(numRuns: number, seed: number): Promise<FuzzedImports> {
  const lines = await exportFuzzed();
  assert.equal(await importAndUse(lines), 'imported');
  const counts = { imported: 0, refused: 0 };
  const changes = fc.array(mutation, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(changes, async (some) => {
      const outcome = await importAndUse(mutateLines(lines, some));
      counts[outcome]++;
    }),
    { numRuns, seed },
  );
  return counts;
}

async function importAndUse(lines: readonly Line[]): Promise<keyof FuzzedImports> {
  let file = '';
  for await (const line of toCopyLines(lines)) file += line;
  const store = new MemoryStore();
  const errors: unknown[] = [];
  await using runtime = await openRuntime({ agents: [fuzzedAgent()], store });
  const onError = (error: unknown): void => void errors.push(error);
  const server = await createServer({ runtime, keys: 'required', imports: true, onError });
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => server.close());
  const importer = await server.keys.create('ada', 'importer', { scope: { type: 'import' } });
  const user = await server.keys.create('ada', 'user');
  const send = async (token: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(`${BASE}${path}`, init);
    request.headers.set('x-api-key', token);
    const response = await server.fetch(request);
    const text = response.status >= 500 ? await response.clone().text() : '';
    assert.ok(response.status < 500, `${init.method ?? 'GET'} ${path}: ${text} ${inspect(errors)}`);
    return response;
  };
  const get = async (path: string): Promise<string> => (await send(user.token, path)).text();
  const post = async (path: string, body: object): Promise<Response> =>
    send(user.token, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const before = await readItems(store);
  const imported = await send(importer.token, '/v1/imports', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: file,
  });
  if (!imported.ok) {
    const { error } = (await imported.json()) as { readonly error: { readonly message: string } };
    assert.ok(error.message.length > 0);
    assert.deepEqual(await readItems(store), before);
    return 'refused';
  }
  await readAll(get);
  await readStream(await send(user.token, `${SESSION}/events/stream?from_seq=0`));
  await get('/v1/pending');
  for (const call of (await runtime.pending({ user: 'ada' })).calls)
    await post(`${SESSION}/events`, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: call.id, result: 'allow' }],
    });
  await post(`${SESSION}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'go on' }] }],
  });
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  await readAll(get);
  assert.deepEqual(errors, []);
  return 'imported';
}

async function readAll(get: (path: string) => Promise<string>): Promise<void> {
  await get('/v1/sessions');
  await get(SESSION);
  await get(`${SESSION}/events?limit=1000`);
  await get(`${SESSION}/events?limit=1000&order=desc`);
  await get(`${SESSION}/events?limit=1000&include=net`);
  await get(`${SESSION}/records?limit=1000`);
  await get(`${SESSION}/marking`);
  await get(`${SESSION}/threads`);
  await get(`${SESSION}/journal`);
  await get('/v1/usage');
}

/** Reads what a stream has at once. */
async function readStream(response: Response): Promise<void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  await reader.read();
  await reader.cancel();
}

function inspect(errors: readonly unknown[]): string {
  return errors.map((error) => (error instanceof Error ? error.stack : String(error))).join('\n');
}

/** Sessions and everything that belongs to them. */
async function readItems(store: Store): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of store.exportItems())
    if (item.type !== 'document' || item.kind.includes('session')) items.push(item);
  return items;
}
