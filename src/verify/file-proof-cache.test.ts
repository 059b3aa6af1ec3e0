import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  allOf,
  compile,
  effect,
  initialToken,
  many,
  net,
  place,
  pure,
  upTo,
} from '../net/index.ts';
import type { CompiledNet } from '../net/index.ts';
import { createFileProofCache } from './file-proof-cache.ts';
import {
  atMost,
  deadlockFree,
  eventuallyAnswered,
  neverFiresAfter,
  placeBound,
} from './properties/create-property.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import { formatReport } from './report.ts';
import type { ProofReport } from './report.ts';

const root = mkdtempSync(join(tmpdir(), 'petrichor-proofs-'));
after(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => join(mkdtempSync(join(root, 'cache-')), 'new', 'folder');

const request = place('request', { environment: true });
const permit = place('permit');
const work = place('work');
const reply = place('reply');
const budget = place('budget');

/** A server that serves one request at a time, and repeats it as long as it has a budget. */
function server(): CompiledNet {
  return compile(
    net('server', {
      initial: [initialToken(permit, null)],
      transitions: [
        pure('begin', {
          take: { request, permit },
          give: allOf({ work, budget: upTo(9, budget) }),
          run: () => ({ work: null, budget: [] }),
        }),
        effect('serve', {
          take: { work },
          give: allOf({ reply, permit }),
          failed: () => ({ reply: null, permit: null }),
          run: async () => ({ reply: null, permit: null }),
        }),
        pure('repeat', {
          take: { reply, permit, budget: many(2, budget) },
          give: allOf({ work }),
          run: () => ({ work: null }),
        }),
      ],
    }),
  );
}

const properties = (): readonly Property[] => [
  placeBound('permit', 1),
  placeBound('reply', 0),
  atMost(['serve'], 1, { per: 'request' }),
  neverFiresAfter('serve', 'reply'),
  deadlockFree(['permit']),
];

function proveWith(folder: string, more: { readonly upTo?: number } = {}): Promise<ProofReport> {
  return prove(server(), {
    properties: properties(),
    bounds: { faults: 0, ...more },
    cache: createFileProofCache(folder),
    route: 'search',
  });
}

/** The text of a report without the time of the call. */
function textWithoutTotal(report: ProofReport): string {
  return formatReport(report).replace(/^(\d.*) in [\d.]+ m?s$/m, '$1');
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder).map((name) => join(folder, name));
}

test('a second proof reads each result from its file and prints the same report', async () => {
  const folder = newFolder();
  const cold = await proveWith(folder, { upTo: 1 });
  assert.deepEqual(
    cold.results.map(({ verdict }) => verdict),
    ['proved', 'refuted', 'proved', 'proved', 'refuted'],
  );
  assert.equal(listFiles(folder).length, 5);
  assert.deepEqual(cold.unfired, ['repeat']);
  assert.deepEqual(cold.results[0]?.unreached, ['repeat']);
  const warm = await proveWith(folder, { upTo: 1 });
  // Durations are those of the first proof, so nothing was searched.
  assert.equal(textWithoutTotal(warm), textWithoutTotal(cold));
  assert.deepEqual({ ...warm, durationMs: 0 }, { ...cold, durationMs: 0 });
});

test('a file that is damaged is ignored and replaced', async () => {
  for (const damage of [
    (): string => '',
    (text: string): string => text.slice(0, text.length / 2),
    (text: string): string => text.replace('refuted', 'proved'),
    (text: string): string => text.replace('petrichor proof 1', 'petrichor proof 0'),
    (text: string): string => text.replace(/"key":"./, '"key":"x'),
    (text: string): string => `${JSON.stringify({ ...JSON.parse(text), more: 1 })}\n`,
    (): string => 'null',
    (): string => '[1]',
  ]) {
    const folder = newFolder();
    const cold = await proveWith(folder);
    const texts = listFiles(folder).map((file) => readFileSync(file, 'utf8'));
    for (const file of listFiles(folder)) writeFileSync(file, damage(readFileSync(file, 'utf8')));
    const again = await proveWith(folder);
    assert.deepEqual(
      again.results.map(({ verdict }) => verdict),
      cold.results.map(({ verdict }) => verdict),
    );
    const cache = createFileProofCache(folder);
    listFiles(folder).forEach((file, index) => {
      const { key }: { readonly key: string } = JSON.parse(texts[index] ?? '');
      assert.ok(file.includes(key));
      assert.ok(cache.get(key) !== undefined);
    });
  }
});

test('the file of one property is not used for another', async () => {
  const folder = newFolder();
  await proveWith(folder);
  const [first, second] = listFiles(folder);
  assert.ok(first !== undefined && second !== undefined);
  writeFileSync(first, readFileSync(second));
  const key = first.replace(/^.*\/|\.json$/g, '');
  assert.equal(createFileProofCache(folder).get(key), undefined);
});

test('a proof of a net that expects more transitions to fire is another proof', async () => {
  const proveExpecting = (isForFormerTokens: boolean): Promise<ProofReport> => {
    const retry = pure('retry', {
      take: { reply },
      priority: -1,
      isForFormerTokens,
      give: allOf({}),
      run: () => ({}),
    });
    const end = pure('end', { take: { reply }, give: allOf({}), run: () => ({}) });
    const initial = [initialToken(reply, null)];
    return prove(compile(net('retrying', { initial, transitions: [retry, end] })), {
      properties: [placeBound('reply', 1)],
      bounds: { faults: 0 },
      cache,
    });
  };
  const cache = createFileProofCache(newFolder());
  const reports = [await proveExpecting(true), await proveExpecting(false)];
  assert.deepEqual(
    reports.map(({ results }) => results[0]?.unreached),
    [undefined, ['retry']],
  );
});

test('a stored counterexample that does not break the property is proved again', async () => {
  const cache = new Map<string, Parameters<ReturnType<typeof createFileProofCache>['set']>[1]>();
  const wanted = properties();
  const options = { properties: wanted, bounds: { faults: 0 }, route: 'search' as const };
  const cold = await prove(server(), { ...options, cache });
  for (const [key, result] of cache) {
    const { trace } = result;
    if (trace === undefined) continue;
    for (const change of [
      { ...trace, steps: trace.steps.slice(0, -1), markings: trace.markings.slice(0, -1) },
      { ...trace, marking: { reply: 7 } },
      { ...trace, markings: trace.markings.map(() => ({})) },
      { ...trace, steps: trace.steps.map((step) => ({ ...step, transition: 'begin' })) },
      { ...trace, steps: [], markings: [{ permit: 1 }], marking: { permit: 1 } },
    ]) {
      const forged = new Map(cache).set(key, { ...result, by: 'forged', trace: change });
      const { results } = await prove(server(), { ...options, cache: forged });
      assert.ok(results.every(({ by }) => by !== 'forged'));
      assert.deepEqual(
        results.map((one) => [one.verdict, one.trace]),
        cold.results.map((one) => [one.verdict, one.trace]),
      );
    }
    const kept = new Map(cache).set(key, { ...result, by: 'kept' });
    const { results } = await prove(server(), { ...options, cache: kept });
    assert.equal(results.filter(({ by }) => by === 'kept').length, 1);
  }
});

test('a counterexample with a cycle is searched again', async () => {
  const idle = place('idle');
  const busy = place('busy');
  const stop = place('stop', { environment: true });
  const turns = compile(
    net('turns', {
      transitions: [
        pure('begin', { take: { request }, give: allOf({ idle }), run: () => ({ idle: null }) }),
        effect('go', {
          take: { idle },
          give: allOf({ busy }),
          failed: () => ({ busy: null }),
          run: async () => ({ busy: null }),
        }),
        pure('return', { take: { busy }, give: allOf({ idle }), run: () => ({ idle: null }) }),
        pure('answer', {
          take: { idle, stop },
          give: allOf({ reply }),
          run: () => ({ reply: null }),
        }),
      ],
    }),
  );
  const folder = newFolder();
  const run = async (): Promise<ProofReport> =>
    prove(turns, {
      properties: [eventuallyAnswered('begin', ['answer'])],
      bounds: { faults: 0, shutdowns: false, environment: { stop: 0 } },
      cache: createFileProofCache(folder),
    });
  const [cold, again] = [await run(), await run()];
  assert.equal(cold.results[0]?.verdict, 'refuted');
  assert.ok(cold.results[0]?.trace?.circleFrom !== undefined);
  assert.deepEqual(again.results[0]?.trace, cold.results[0]?.trace);
});

test('two caches of one folder write and read at once, and leave no unfinished files', async () => {
  const folder = newFolder();
  const reports = await Promise.all([1, 2, 3].map(() => proveWith(folder)));
  for (const { results } of reports)
    assert.deepEqual(
      results.map(({ verdict }) => verdict),
      ['proved', 'refuted', 'refuted', 'refuted', 'refuted'],
    );
  assert.ok(listFiles(folder).every((name) => /\/[0-9a-f]{64}\.json$/.test(name)));
  assert.equal(listFiles(folder).length, 5);
});

test('a folder that cannot be written is no cache, and the proof runs', async () => {
  const file = join(mkdtempSync(join(root, 'cache-')), 'file');
  writeFileSync(file, 'not a folder');
  const { results } = await proveWith(file);
  assert.equal(results.length, 5);
  assert.equal(readFileSync(file, 'utf8'), 'not a folder');
});
