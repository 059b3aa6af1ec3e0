import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, openRuntime, tool } from '../../src/index.ts';
import { DamagedCopyError, importSession } from '../../src/runtime/index.ts';
import { openStore, SessionExistsError } from '../../src/store/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { FileArtifactService } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { pickSample } from '../sample-seed.ts';
import { killAt } from './kill-at.ts';
import { openNoter } from './loaded-store.ts';

const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'trip' };

test('an exported session continues elsewhere, and runs no finished tool again', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const runs: string[] = [];
  {
    await using runtime = await openNoter(at('source.db'), runs, at('artifacts'));
    await (await runtime.session('other')).ask('not exported');
    const session = await runtime.session('trip');
    await session.ask('first');
    for await (const _ of session.send('ask'));
  }
  const options = ['--store', at('source.db'), '--output', at('trip.gz')];
  const exported = await folder.run(['export', 'trip', ...options, '--artifacts', at('artifacts')]);
  assert.equal(exported.code, 0, exported.stderr.text);
  const partly = await folder.run(['import', at('trip.gz'), '--store', at('partly.db')]);
  assert.match(
    partly.stdout.text,
    /Versions of artifacts that were left out: 1\. To save them, delete/,
  );
  const target = ['--store', at('target.db'), '--artifacts', at('new')];
  const imported = await folder.run(['import', at('trip.gz'), ...target]);
  assert.match(imported.stdout.text, /^Imported session "trip" of user default, app petrichor: /);
  assert.doesNotMatch(imported.stdout.text, /left out/);

  const later: string[] = [];
  await using other = await openNoter(at('target.db'), later);
  assert.equal((await other.sessions()).length, 1);
  const copy = await other.session('trip');
  const [call] = await copy.pending();
  assert.ok(call);
  for await (const _ of copy.approve(call.id, { fingerprint: call.fingerprint }));
  assert.equal(await copy.ask('second'), 'Noted.');
  assert.deepEqual(later, ['paid ask', 'second']);
  assert.deepEqual(runs, ['not exported', 'first']);
  const saved = new FileArtifactService({ rootDir: at('new') });
  assert.deepEqual(await saved.versions({ session: KEY, name: 'notes.txt' }), [0]);

  const again = await folder.run(['import', at('trip.gz'), '--store', at('target.db')]);
  assert.equal(again.code, 1);
  assert.match(again.stderr.text, /exists already, and nothing was written/);
});

test('a call that was running when its session was exported is decided by onCrash', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const runs: string[] = [];
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const open = (place: string, store: string): ReturnType<typeof openRuntime> => {
    const charge = (name: string, onCrash: 'rerun' | 'unknown'): ReturnType<typeof tool> =>
      tool({
        name,
        description: 'Charges',
        parameters: { type: 'object', properties: {} },
        onCrash,
        execute: async () => {
          runs.push(`${place} ${name}`);
          if (place === 'source' && runs.length === 2) started.resolve();
          if (place === 'source') await released.promise;
          return 'charged';
        },
      });
    const model = new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'once' }, { name: 'again' }] }
        : { text: 'Done.' },
    );
    const tools = [charge('once', 'unknown'), charge('again', 'rerun')];
    return openRuntime({ agents: [agent({ name: 'payer', model, tools })], store });
  };
  await using runtime = await open('source', at('source.db'));
  const session = await runtime.session('trip');
  const turn = session.ask('pay');
  await started.promise;
  const file = at('trip.jsonl');
  const exported = await folder.run([
    'export',
    'trip',
    '--store',
    at('source.db'),
    '--output',
    file,
  ]);
  assert.equal(exported.code, 0, exported.stderr.text);
  released.resolve();
  assert.equal(await turn, 'Done.');

  const store = await openStore(at('target.db'));
  await importSession(file, store);
  await store.close();
  await using other = await open('target', at('target.db'));
  const copy = await other.session('trip');
  const outcomes: string[] = [];
  for await (const event of copy.events(0)) {
    if (event.type === 'tool.result') outcomes.push(event.outcome ?? 'ok');
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual(outcomes.toSorted(), ['ok', 'unknown']);
  assert.deepEqual(runs.toSorted(), ['source again', 'source once', 'target again']);
});

test('a damaged or redacted journal file is refused, and a killed import leaves nothing', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('source.db'), []);
    await (await runtime.session('trip')).ask('first');
  }
  const file = at('trip.journal.jsonl');
  const write = ['export', 'trip', '--store', at('source.db'), '--output'];
  assert.equal((await folder.run([...write, file])).code, 0);
  const redacted = at('redacted.jsonl');
  assert.equal((await folder.run([...write, redacted, '--redact'])).code, 0);
  assert.doesNotMatch(readFileSync(redacted, 'utf8'), /first/);

  const store = await openStore('memory:');
  await assert.rejects(importSession(redacted, store), /without its values/);
  const bytes = readFileSync(file);
  const position = pickSample(bytes.length - 1, 'damaged journal file');
  for (const damaged of [
    bytes.map((byte, index) => (index === position ? byte ^ 1 : byte)),
    bytes.subarray(0, position),
  ]) {
    writeFileSync(at('bad.jsonl'), damaged);
    await assert.rejects(importSession(at('bad.jsonl'), store), DamagedCopyError, `${position}`);
  }
  assert.equal(await store.find(KEY), undefined);
  const { records } = await importSession(file, store);
  assert.ok(records > 10);
  await assert.rejects(importSession(file, store), SessionExistsError);

  const items = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\{"type":"(?:session|input|snapshot|step)"/.test(line));
  await killAt('import', at('target.db'), file, pickSample(items.length + 1, 'killed import'));
  const target = await openStore(at('target.db'));
  assert.equal(await target.find(KEY), undefined);
  await importSession(file, target);
  assert.equal((await target.find(KEY))?.owner, null);
  await target.close();
});
