import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRuntime, tool } from '../../src/index.ts';
import type { Runtime } from '../../src/index.ts';
import { definitions, manageRuntime, openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { readCopyLines, toCopyLines } from '../../src/runtime/copies/copy-lines.ts';
import { DamagedCopyError, importSession } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { FileArtifactService } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { openNoter } from './loaded-store.ts';

const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'trip' };

interface Line {
  readonly type: string;
  readonly [name: string]: unknown;
}

test('a journal file with more than its session is refused, and nothing is written', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('source.db'), [], at('artifacts'));
    await (await runtime.session('trip')).ask('first');
  }
  const write = ['export', 'trip', '--store', at('source.db'), '--artifacts', at('artifacts')];
  assert.equal((await folder.run([...write, '--output', at('trip.jsonl')])).code, 0);
  const lines = readFileSync(at('trip.jsonl'), 'utf8').trimEnd().split('\n').slice(0, -1);
  const values = lines.map((line) => JSON.parse(line) as Line);
  const isPart = ({ type }: Line): boolean => ['input', 'step'].includes(type);
  const after = 1 + values.findLastIndex(isPart);
  const session = values.find(({ type }) => type === 'session');
  const artifact = values.find(({ type }) => type === 'artifact');
  const other = { ...KEY, sessionId: 'other' };
  const foreign: readonly Line[] = [
    { type: 'document', kind: 'api-key', id: 'k', version: 1, value: { workspace: 'default' } },
    { type: 'document', kind: 'webhook', id: 'w', version: 1, value: {} },
    { type: 'document', kind: 'session', id: 'other', version: 1, value: {} },
    { type: 'document', kind: 'workspace-agent', id: 'ada/a', version: 1, value: null },
    { type: 'shared', appName: 'petrichor', userId: '', name: 'theme', version: 1, value: 1 },
    { type: 'tombstone', key: other, uid: 'u' },
    {
      type: 'usage',
      appName: 'petrichor',
      userId: 'ada',
      agent: 'noter',
      day: '2026-01-02',
      model: 'gpt-5',
      calls: 1,
      tokens: {},
    },
    { ...session, type: 'session', key: other, head: 0, lastSeq: 0, inboxUpTo: 0 },
    {
      ...session,
      type: 'session',
      key: { ...KEY, userId: 'ada' },
      head: 0,
      lastSeq: 0,
      inboxUpTo: 0,
    },
    { ...artifact, type: 'artifact', session: { ...KEY, userId: 'ada' } },
    { ...artifact, type: 'artifact', session: other },
  ];
  const artifacts = new FileArtifactService({ rootDir: at('new') });
  const store = await openStore('memory:');
  const wrong: readonly Line[] = [
    { ...session, type: 'session', status: 'unknown' },
    { ...session, type: 'session', activity: 'unknown' },
    { ...session, type: 'session', key: { ...KEY, sessionId: 'a\u0000' } },
    { ...session, type: 'session', agent: '' },
  ];
  for (const line of wrong) {
    const replaced = values.map((one) => (one === session ? line : one));
    writeFileSync(at('forged.jsonl'), (await collect(toCopyLines(replaced))).join(''));
    await assert.rejects(
      importSession(at('forged.jsonl'), store, { artifacts }),
      (error) => error instanceof DamagedCopyError,
      JSON.stringify(line),
    );
  }
  for (const line of foreign) {
    const forged = await collect(toCopyLines(values.toSpliced(after, 0, line)));
    writeFileSync(at('forged.jsonl'), forged.join(''));
    await assert.rejects(
      importSession(at('forged.jsonl'), store, { artifacts }),
      (error) =>
        error instanceof DamagedCopyError && error.message.includes('which no journal file has'),
      JSON.stringify(line),
    );
  }
  assert.deepEqual(await collect(store.exportItems()), []);
  assert.deepEqual(await artifacts.list({ ...KEY, userId: 'ada' }), []);
  // The same lines in the same form are accepted.
  writeFileSync(at('whole.jsonl'), (await collect(toCopyLines(values))).join(''));
  assert.deepEqual((await importSession(at('whole.jsonl'), store)).key, KEY);
});

test('an artifact of a user comes with each of its sessions', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const target = new FileArtifactService({ rootDir: at('target') });
  const store = await openStore('memory:');
  for (const text of ['one', 'two']) {
    const session = { ...KEY, sessionId: text };
    const source = new FileArtifactService({ rootDir: at(text) });
    await source.save({ session, name: 'user:notes' }, { text }, { saveId: 's' });
    {
      await using runtime = await openNoter(at(`${text}.db`), []);
      await (await runtime.session(text)).ask('first');
    }
    const options = ['--store', at(`${text}.db`), '--output', at(text + '.gz')];
    const exported = await folder.run(['export', text, ...options, '--artifacts', at(text)]);
    assert.equal(exported.code, 0, exported.stderr.text);
    await importSession(at(text + '.gz'), store, { artifacts: target });
  }
  const key = { session: KEY, name: 'user:notes' };
  assert.deepEqual(await target.versions(key), [0, 1]);
  assert.deepEqual(await target.load(key), { text: 'two' });
});

test('a copy replaces an earlier copy, and no other file', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('petrichor.db'), []);
    await (await runtime.session('trip')).ask('first');
  }
  const store = ['--store', at('petrichor.db')];
  writeFileSync(at('notes.txt'), 'my notes');
  for (const name of ['petrichor.db', 'notes.txt', '.']) {
    for (const args of [
      ['backup', at(name)],
      ['export', 'trip', '--output', at(name)],
    ]) {
      const { code, stderr } = await folder.run([...args, ...store]);
      assert.equal(code, 1);
      assert.match(stderr.text, /is something else, and was not replaced/);
    }
  }
  assert.equal(readFileSync(at('notes.txt'), 'utf8'), 'my notes');
  writeFileSync(at('empty.gz'), '');
  for (const name of ['empty.gz', 'empty.gz', 'b.jsonl', 'b.jsonl'])
    assert.equal((await folder.run(['backup', at(name), ...store])).code, 0, name);
  assert.equal((await folder.run(['export', 'trip', '--output', at('b.jsonl'), ...store])).code, 0);
});

test('a session of a stored agent is imported beside other versions, and the agent can still change', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const definition = { name: 'Helper', model: 'gpt-5' };
  const open = async (file: string): Promise<ManagedRuntime> =>
    openManagedRuntime({
      store: await openStore(at(file)),
      resolver: async () => new ScriptedModel(() => ({ text: 'Hello.' })),
    });
  {
    await using source = await open('source.db');
    await source.create(definition, { id: 'helper' });
    await source.updateAgent('helper', { ...definition, system: 'two' }, { version: 1 });
    await source.updateAgent('helper', { ...definition, system: 'three' }, { version: 2 });
    await source.startSession('helper', { userId: 'default' }, { id: 'trip' });
  }
  {
    await using target = await open('target.db');
    await target.create(definition, { id: 'helper' });
  }
  const options = ['--store', at('source.db'), '--output', at('trip.jsonl')];
  const exported = await folder.run(['export', 'trip', ...options]);
  assert.equal(exported.code, 0, exported.stderr.text);
  const imported = await folder.run(['import', at('trip.jsonl'), '--store', at('target.db')]);
  assert.equal(imported.code, 0, imported.stderr.text);
  await using target = await open('target.db');
  assert.equal((await target.getSession({ id: 'trip', userId: 'default' })).agentVersion, 3);
  let version = 1;
  for (const system of ['a', 'b', 'c'])
    ({ version } = await target.updateAgent('helper', { ...definition, system }, { version }));
  assert.equal(version, 6);
});

test('a session comes with the definitions of the agents that its agent calls', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const refunds: string[] = [];
  const refund = (file: string): Tool =>
    tool({
      name: 'refund',
      description: 'Refunds.',
      needsApproval: true,
      execute: () => {
        refunds.push(file);
        return 'refunded';
      },
    });
  const model = new ScriptedModel(({ contents, tools }) => {
    if (contents.at(-1)?.role !== 'user') return { text: 'Done.' };
    const [name = ''] = tools.map((one) => one.name);
    return { toolCalls: [{ name, args: name === 'helper' ? { request: 'refund' } : {} }] };
  });
  const open = async (file: string): Promise<Runtime> => {
    const builtIns = async (): Promise<readonly Tool[]> => [refund(file)];
    const agents = [definitions({ resolver: async () => model, builtIns })];
    return openRuntime({ agents, store: at(file) });
  };
  const helper = { name: 'helper', model: 'gpt-5', tools: [{ type: 'builtin', name: 'refund' }] };
  const clerk = { name: 'clerk', model: 'gpt-5', agents: [{ agent_id: 'helper' }] };
  {
    await using runtime = await open('source.db');
    const managed = await manageRuntime(runtime);
    await managed.create(helper, { id: 'helper' });
    await managed.create(clerk, { id: 'clerk' });
    const session = await runtime.session('trip', { agent: 'clerk-v1' });
    for await (const _ of session.send('go'));
    // The session keeps its version; the agents have newer ones.
    await managed.updateAgent('helper', { ...helper, system: 'two' }, { version: 1 });
    await managed.updateAgent('clerk', { ...clerk, system: 'two' }, { version: 1 });
  }
  const options = ['--store', at('source.db'), '--output', at('trip.gz')];
  assert.equal((await folder.run(['export', 'trip', ...options])).code, 0);
  const imported = await folder.run(['import', at('trip.gz'), '--store', at('target.db')]);
  assert.equal(imported.code, 0, imported.stderr.text);
  await using runtime = await open('target.db');
  const { data } = await (await manageRuntime(runtime)).listAgents();
  assert.deepEqual(data.map(({ id, version }) => `${id} ${version}`).toSorted(), [
    'clerk 2',
    'helper 2',
  ]);
  const session = await runtime.session('trip', { agent: 'clerk-v1' });
  const [call] = await session.pending();
  assert.equal(await session.approve(call?.id ?? '').text(), 'Done.');
  assert.deepEqual(refunds, ['target.db']);
});

test('a line that is too long or nested too deep is refused', async () => {
  async function* chunks(text: string): AsyncGenerator<Uint8Array, void, undefined> {
    for (const character of text) yield Buffer.from(character);
  }
  const lines = await collect(toCopyLines([{ type: 'backup', text: 'x'.repeat(100) }]));
  const longest = Math.max(...lines.map((line) => line.trimEnd().length));
  const read = async (length: number): Promise<readonly unknown[]> =>
    collect(readCopyLines(chunks(lines.join('')), 'b.jsonl', length));
  assert.equal((await read(longest)).length, 1);
  await assert.rejects(read(longest - 1), (error) => error instanceof DamagedCopyError);

  const deep = `{"type":"backup","value":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n`;
  async function* oneChunk(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(deep);
  }
  await assert.rejects(collect(readCopyLines(oneChunk(), 'b.jsonl')), (error) => {
    return error instanceof DamagedCopyError && error.message.includes('nested deeper');
  });
});

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}
