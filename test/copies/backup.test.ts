import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { auditLog } from '../../examples/demo/audit.ts';
import { DamagedCopyError, restoreBackup, writeBackup } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store, StoreItem } from '../../src/store/index.ts';
import { StoreNotEmptyError } from '../../src/store/index.ts';
import { FileArtifactService } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { pickSample } from '../sample-seed.ts';
import { killAt } from './kill-at.ts';
import { openNoter } from './loaded-store.ts';

test('a backup under load, restored elsewhere, passes the independent reader and continues', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const ids = ['a', 'b', 'c'];
  const runs: string[] = [];
  await using runtime = await openNoter(at('source.db'), runs, at('artifacts'));
  const sessions = await Promise.all(ids.map(async (id) => runtime.session(id)));
  for (const session of sessions) await session.ask('first');
  const waiting = await runtime.session('waits');
  for await (const _ of waiting.send('ask'));
  await runtime.store.writeDocuments([{ kind: 'k', id: '1', version: 0, value: 1 }]);

  // Between two items of the export, every session takes a turn.
  let turns = 0;
  async function* underLoad(items: AsyncIterable<StoreItem>): AsyncGenerator<StoreItem> {
    for await (const item of items) {
      yield item;
      if (turns++ < 3) await Promise.all(sessions.map(async (session) => session.ask('more')));
    }
  }
  const loaded: Store = Object.create(runtime.store, {
    exportItems: { value: () => underLoad(runtime.store.exportItems()) },
  });
  const artifacts = new FileArtifactService({ rootDir: at('artifacts') });
  const counts = await writeBackup(loaded, at('backup.jsonl.gz'), { artifacts });
  assert.equal(counts.sessions, 4);
  assert.ok(counts.documents >= 1);
  assert.ok(counts.artifacts >= 3);
  const written = runs.length;

  const restored = new FileArtifactService({ rootDir: at('restored-artifacts') });
  {
    const store = await openStore(at('target.db'));
    const file = at('backup.jsonl.gz');
    await assert.rejects(restoreBackup(file, store), /artifacts: is missing/);
    assert.deepEqual(await restoreBackup(file, store, { artifacts: restored }), counts);
    await assert.rejects(
      restoreBackup(file, store, { artifacts: restored }),
      (error) => error instanceof StoreNotEmptyError,
    );
    const key = { appName: 'petrichor', userId: 'default', sessionId: 'a' };
    assert.deepEqual(await restored.versions({ session: key, name: 'notes.txt' }), [0, 1, 2, 3]);
    await store.close();
  }
  for (const id of ids) {
    const before = auditLog(at('source.db'), id);
    const after = auditLog(at('target.db'), id);
    assert.ok(after.gapFree && after.events > 0 && after.events < before.events, id);
  }

  const later: string[] = [];
  await using other = await openNoter(at('target.db'), later);
  const copy = await other.session('waits');
  const [call] = await copy.pending();
  for await (const _ of copy.approve(call?.id ?? '', { fingerprint: call?.fingerprint ?? '' }));
  assert.equal(await (await other.session('a')).ask('again'), 'Noted.');
  // No tool that had finished ran again.
  assert.deepEqual(later.toSorted(), ['again', 'paid ask']);
  assert.equal(runs.length, written);
});

test('a damaged or cut file is refused by name, and the store stays empty', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('source.db'), []);
    await (await runtime.session('one')).ask('first');
  }
  const name = at('backup.jsonl');
  assert.equal((await folder.run(['backup', name, '--store', at('source.db')])).code, 0);
  const whole = readFileSync(name);
  const text = whole.toString();
  const lines = text.trimEnd().split('\n');
  const position = pickSample(whole.length - 1, 'damaged byte');
  const damages: Readonly<Record<string, Uint8Array | string>> = {
    'a changed byte': whole.map((byte, index) => (index === position ? byte ^ 1 : byte)),
    'cut in the middle': whole.subarray(0, position),
    'a missing line': lines.filter((_, index) => index !== 3).join('\n'),
    'lines in another order': [...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)].join(
      '\n',
    ),
    'another file': 'SQLite format 3',
    'a later version': text.replace('"version":1', '"version":9'),
    'an empty file': '',
  };
  for (const [kind, bytes] of Object.entries(damages)) {
    writeFileSync(at('bad.jsonl'), bytes);
    const store = await openStore('memory:');
    await assert.rejects(
      restoreBackup(at('bad.jsonl'), store),
      (error) => error instanceof DamagedCopyError && error.message.includes('bad.jsonl'),
      `${kind} at ${position}`,
    );
    assert.deepEqual(await collect(store.exportItems()), []);
  }
  // The checksum of a file can be made again; its journal cannot be replayed.
  const { toCopyLines } = await import('../../src/runtime/copies/copy-lines.ts');
  const values = lines.slice(0, -1).map((line) => JSON.parse(line) as { type: string });
  const step = values.findLast(({ type }) => type === 'step') as unknown as {
    records: { t?: string; take?: unknown }[];
  };
  const fired = step.records.findLast(({ take }) => take !== undefined);
  assert.ok(fired);
  fired.take = [['turn.permit', '999.0']];
  writeFileSync(at('bad.jsonl'), (await collect(toCopyLines(values))).join(''));
  await assert.rejects(
    restoreBackup(at('bad.jsonl'), await openStore('memory:')),
    /replayed at record/,
  );
});

test('the commands write and restore a compressed backup, and refuse a store that has something', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('source.db'), []);
    await (await runtime.session('one')).ask('first');
  }
  const backup = await folder.run(['backup', at('b.gz'), '--store', at('source.db')]);
  assert.match(backup.stdout.text, /^Wrote .*b\.gz: 1 sessions, \d+ steps, \d+ records, /);
  assert.match(gunzipSync(readFileSync(at('b.gz'))).toString(), /^\{"type":"backup","version":1,/);
  const restore = await folder.run(['restore', at('b.gz'), '--store', at('new.db'), '--json']);
  assert.equal(restore.code, 0);
  assert.equal(restore.stdout.json[0]?.['sessions'], 1);
  const again = await folder.run(['restore', at('b.gz'), '--store', at('new.db')]);
  assert.equal(again.code, 1);
  assert.match(again.stderr.text, /new\.db is not empty/);
  assert.equal((await folder.run(['restore', at('b.gz'), '--store', 'memory:'])).code, 2);
  assert.equal((await folder.run(['restore', at('no.gz'), '--store', at('x.db')])).code, 1);
});

test('a backup or restore that is killed leaves nothing half', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  {
    await using runtime = await openNoter(at('source.db'), []);
    for (const id of ['one', 'two']) await (await runtime.session(id)).ask('first');
  }
  const source = await openStore(at('source.db'));
  const items = await collect(source.exportItems());
  await writeBackup(source, at('backup.jsonl'));
  await source.close();
  const item = 1 + pickSample(items.length, 'killed copy');

  copyFileSync(at('backup.jsonl'), at('old.jsonl'));
  await killAt('backup', at('source.db'), at('old.jsonl'), item);
  assert.deepEqual(readFileSync(at('old.jsonl')), readFileSync(at('backup.jsonl')));
  await killAt('backup', at('source.db'), at('new.jsonl'), item);
  assert.ok(!existsSync(at('new.jsonl')));
  assert.ok(readdirSync(folder.path).some((name) => name.startsWith('new.jsonl.partial-')));

  await killAt('restore', at('target.db'), at('backup.jsonl'), item);
  const target = await openStore(at('target.db'));
  assert.deepEqual(await collect(target.exportItems()), []);
  await restoreBackup(at('backup.jsonl'), target);
  assert.deepEqual(await collect(target.exportItems()), items);
  await target.close();
});

async function collect<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}
