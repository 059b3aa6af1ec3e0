import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import type { JournalRecord } from '../../src/net/journal/index.ts';
import {
  applyRecord,
  copyMarking,
  decodeMarking,
  emptyMarking,
  encodeMarking,
  parseRecords,
  replayRecords,
} from '../../src/net/journal/index.ts';
import { openStore } from '../../src/store/index.ts';
import { readTree } from '../architecture/read-tree.ts';
import { readModule } from '../architecture/module-facts.ts';
import { listRandomRecords, randomScenario } from './random-execution.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Packages that run on every platform. */
const PORTABLE_PACKAGES: ReadonlySet<string> = new Set(['valibot']);

test('petrichor/journal runs in a browser: no module that it loads needs a platform', () => {
  const files = new Map(readTree(ROOT).map((file) => [file.path, file]));
  const loaded = new Set(['src/net/journal/index.ts']);
  const foreign: string[] = [];
  for (const path of loaded) {
    const file = files.get(path);
    assert.ok(file !== undefined, path);
    const module = readModule(file);
    for (const { specifier, target, typeOnly } of module.imports) {
      if (typeOnly) continue;
      if (target !== undefined) loaded.add(target);
      else if (!PORTABLE_PACKAGES.has(specifier)) foreign.push(`${path}: ${specifier}`);
    }
    for (const name of ['process', 'Buffer', 'require'])
      if (module.names.has(name)) foreign.push(`${path}: ${name}`);
  }
  assert.deepEqual(foreign, []);
  assert.ok(loaded.has('src/net/journal/apply-record.ts'));
  assert.ok(loaded.size > 10, [...loaded].join(' '));
});

/** Asserts that markings and records of a journal survive a journey as JSON text. */
function assertSurvivesJson(records: readonly JournalRecord[]): void {
  const sent: unknown = JSON.parse(JSON.stringify(records));
  const parsed = parseRecords(sent);
  assert.deepEqual(parsed, records);
  const marking = emptyMarking();
  const last = replayRecords(records);
  for (const [index, record] of parsed.entries()) {
    applyRecord(marking, record);
    if (index % 7 !== 0 && index < parsed.length - 5) continue;
    const text: unknown = JSON.parse(JSON.stringify(encodeMarking(marking)));
    const decoded = decodeMarking(text);
    assert.deepEqual(encodeMarking(decoded), encodeMarking(marking));
    const copy = copyMarking(decoded);
    assert.deepEqual(
      encodeMarking(replayRecords(parsed.slice(index + 1), decoded)),
      encodeMarking(last),
    );
    assert.deepEqual(decoded, copy, 'replayRecords does not change its start');
  }
}

test('a marking that is decoded from JSON continues with the records after it', async () => {
  await fc.assert(
    fc.asyncProperty(randomScenario, async (scenario) =>
      assertSurvivesJson(await listRandomRecords(scenario)),
    ),
    { numRuns: 60 },
  );
});

for (const kind of ['plain', 'managed', 'adk']) {
  test(`records and markings of ${kind} sessions of 0.1.0 survive JSON`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-journal-'));
    const file = join(folder, `${kind}.db`);
    copyFileSync(join(ROOT, 'test/upgrade/fixtures', `${kind}.db`), file);
    const store = await openStore(`sqlite:${file}`);
    try {
      const rows = await store.list({});
      assert.ok(rows.length > 3);
      for (const { key } of rows) {
        const records: JournalRecord[] = [];
        for await (const step of store.steps(key, 0)) records.push(...step.records);
        assertSurvivesJson(records);
      }
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('records and markings that are damaged on the way are refused with the path of the damage', () => {
  const record = { kind: 'injected', seq: 1, at: 5, give: [['a.in', { n: 1 }]] };
  assert.deepEqual(parseRecords([{ ...record, addedLater: true }]), [record]);
  for (const [broken, field] of [
    [{ ...record, kind: 'vanished' }, 'records[0].kind'],
    [{ ...record, seq: 0 }, 'records[0].seq'],
    [{ ...record, give: [['a.in']] }, 'records[0].give[0]'],
    [{ kind: 'fired', seq: 1, at: 5, t: 'a.b', take: [[7]] }, 'records[0].take[0][0]'],
    [{ kind: 'ended', seq: 1, at: 5, t: 'a.b', firing: 1, outcome: 'lost' }, 'records[0].outcome'],
  ] as const) {
    assert.throws(() => parseRecords([broken]), { code: 'invalid_input', field });
  }
  assert.throws(() => parseRecords([() => 1]), { code: 'not_serialisable' });
  const encoded = encodeMarking(emptyMarking());
  assert.throws(() => decodeMarking({ ...encoded, format: 2 }), {
    code: 'invalid_input',
    field: 'marking.format',
  });
  assert.throws(() => decodeMarking({ ...encoded, lists: undefined }), { code: 'invalid_input' });
  assert.throws(
    () => replayRecords(parseRecords([{ ...record, seq: 2 }])),
    /record 2 does not follow record 0/,
  );
});
