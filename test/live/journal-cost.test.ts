/** What a spoken conversation costs the journal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveScript } from '../../src/live/index.ts';
import type { JournalRecord } from '../../src/net/index.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

/** The most records of an utterance and its reply. */
const MAX_RECORDS = 15;
/** Words of 200 ms. */
const wordsFor = (ms: number): string =>
  Array.from({ length: ms / 200 }, (_, index) => `word${index}`).join(' ');

async function readRecords({ store, call }: Talk): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const step of store.steps(call.session.key, 0)) records.push(...step.records);
  return records;
}

/** The records of what happens in a call, by what they are about. */
async function count(
  one: Talk,
  happens: () => Promise<void>,
): Promise<Readonly<Record<string, number>>> {
  await one.call.pass(500);
  const before = (await readRecords(one)).length;
  await happens();
  const counts: Record<string, number> = {};
  for (const record of (await readRecords(one)).slice(before)) {
    const about = 't' in record ? record.t : 'give' in record ? record.give?.[0]?.[0] : undefined;
    const name = `${record.kind} ${String(about)}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((one, other) => one + other, 0);
}

const cases: Readonly<Record<string, { readonly script: LiveScript; readonly replyMs: number }>> = {
  'a short reply': {
    script: { turns: [{ heard: 'Hello?', text: 'Hi there.' }] },
    replyMs: 400,
  },
  'a reply of fifteen seconds': {
    script: { turns: [{ heard: 'Hello?', text: wordsFor(15_000) }] },
    replyMs: 15_000,
  },
  'a reply whose parts arrive one by one': {
    script: { turns: [{ heard: 'Hello?', text: wordsFor(4_000), delayMs: 400, wordDelayMs: 100 }] },
    replyMs: 8_000,
  },
};

for (const [name, { script, replyMs }] of Object.entries(cases))
  test(`an utterance with ${name} costs at most ${MAX_RECORDS} records`, async (t) => {
    await using one = await talk(script);
    const counts = await count(one, async () => {
      await one.call.say(300);
      await one.call.pass(replyMs + 2_000);
    });
    assert.equal((await one.call.log()).at(-1), 'ended: end_turn');
    t.diagnostic(`${sum(counts)} records`);
    assert.ok(sum(counts) <= MAX_RECORDS, JSON.stringify(counts, null, 2));
  });

test('a reply that is interrupted costs no more than one that is heard to its end', async (t) => {
  const turns = [
    { heard: 'Tell me all.', text: wordsFor(10_000) },
    { heard: 'Stop.', text: 'All right.' },
  ];
  await using one = await talk({ turns });
  const counts = await count(one, async () => {
    await one.call.say(300);
    await one.call.pass(3_000);
    await one.call.say(300);
    await one.call.pass(2_000);
  });
  const log = await one.call.log();
  assert.ok(log.includes('ended: interrupted'), log.join());
  assert.equal(log.at(-1), 'ended: end_turn');
  t.diagnostic(`${sum(counts)} records for two utterances`);
  assert.ok(sum(counts) <= 2 * MAX_RECORDS, JSON.stringify(counts, null, 2));
});

test('a conversation costs what its utterances cost, and its audio nothing', async (t) => {
  const turns = Array.from({ length: 4 }, () => ({ heard: 'More.', text: wordsFor(10_000) }));
  await using one = await talk({ turns });
  const counts = await count(one, async () => {
    for (const _ of turns) {
      await one.call.say(5_000);
      await one.call.pass(12_000);
    }
  });
  assert.equal(
    (await one.call.log()).filter((line) => line === 'ended: end_turn').length,
    turns.length,
  );
  t.diagnostic(`${sum(counts)} records for ${turns.length} utterances`);
  assert.ok(sum(counts) <= turns.length * MAX_RECORDS, JSON.stringify(counts, null, 2));
});

test('a longer reply costs four more records for each window of five seconds', async (t) => {
  await using one = await talk({ turns: [{ heard: 'Tell me all.', text: wordsFor(60_000) }] });
  const counts = await count(one, async () => {
    await one.call.say(300);
    await one.call.pass(62_000);
  });
  assert.equal((await one.call.log()).at(-1), 'ended: end_turn');
  t.diagnostic(`${sum(counts)} records for a minute of speech`);
  assert.ok(sum(counts) <= 50, JSON.stringify(counts, null, 2));
});
