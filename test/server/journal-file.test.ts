import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { agent, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { createClient } from '../../src/client/index.ts';
import { parseRecords, replayRecords } from '../../src/net/journal/index.ts';
import type { Marking } from '../../src/net/journal/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { trimJournal } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import { createJournalRedactor } from '../../src/server/wire/redact-journal.ts';
import { openServerFixture } from './server-fixture.ts';

type Line = Readonly<Record<string, unknown>> & { readonly type: string };

const SECRET = 'Zanzibar-4711';

/** Keys that a user, a model or a tool makes up: with people, in odd forms, and names that objects have anyway. */
const KEYS = [
  `${SECRET}@example.org`,
  `my ${SECRET}`,
  `${SECRET}.a[0]`,
  `constructor ${SECRET}`,
  `text(3) #${SECRET}`,
  `${'long '.repeat(20)}${SECRET}`,
];

/** An object with all of the keys, in two depths and in a list. */
const keyed = Object.fromEntries([
  ...KEYS.map((key) => [key, { [key]: [{ [key]: SECRET }] }]),
  ['__proto__', { [SECRET]: 1 }],
]);

const remember = tool({
  name: 'remember',
  description: 'Writes state.',
  parameters: { type: 'object', properties: { note: { type: 'string' } } },
  execute: (_args: unknown, { state }) => {
    state.set('note', { by: SECRET, amount: 4711, ...keyed });
    for (const scope of ['', 'user:', 'app:', 'temp:']) {
      state.set(`${scope}${SECRET}`, keyed);
      state.set(`${scope}gone ${SECRET}`, 1);
      state.increment(`${scope}count ${SECRET}`, 4711);
      state.append(`${scope}list ${SECRET}`, keyed);
    }
    state.delete(`gone ${SECRET}`);
    return { stored: SECRET, ...keyed };
  },
});

const fail = tool({
  name: 'fail',
  description: 'Fails.',
  execute: () => {
    throw new Error(`cannot reach ${SECRET}`);
  },
});

function createAgent(): Agent {
  return agent({
    name: 'clerk',
    instruction: `Never name ${SECRET}.`,
    tools: [remember, fail],
    model: new ScriptedModel([
      {
        thinking: `about ${SECRET}`,
        text: `I note ${SECRET}.`,
        toolCalls: [{ name: 'remember', args: { note: SECRET, ...keyed } }, { name: 'fail' }],
      },
      { text: `Noted: ${SECRET}` },
      { text: 'Done.' },
    ]),
  });
}

test('a journal file has all records and events of a session, in a form that a reader can apply', async () => {
  await using on = await openServerFixture([], { agents: [createAgent()] });
  const { lines, session } = await exportSession(on.url);
  const [head] = lines;
  assert.equal(head?.['version'], 2);
  assert.equal(Object(head?.['session']).id, session);
  assert.ok(Object(head?.['net']).transitions.length > 5);
  assert.partialDeepStrictEqual(lines.at(-1), {
    type: 'end',
    records: listRecords(lines).length,
    events: lines.filter(({ type }) => type === 'event').length,
    lines: lines.length - 1,
  });
  assert.ok(lines.some(({ type }) => type === 'fork_point'));
  const marking = applyAll(lines);
  assert.match(JSON.stringify([...marking.maps]), new RegExp(SECRET));
  const events = lines.flatMap(({ event }) => (event === undefined ? [] : [Object(event).type]));
  for (const type of ['user.message', 'agent.tool_use', 'agent.tool_result', 'agent.message'])
    assert.ok(events.includes(type), type);
});

test('few journal files are sent at a time, and a reader that leaves makes room', async () => {
  await using on = await openServerFixture([], { agents: [createAgent()] });
  const { session } = await exportSession(on.url);
  // The server of the fixture reads every response itself.
  const server = await createServer({ runtime: on.runtime, store: on.store, keys: 'off' });
  const open = async (): Promise<Response> =>
    server.fetch(new Request(`${on.url}/v1/sessions/${session}/journal`));
  const readers = [];
  // A file whose body nobody reads holds nothing.
  await open();
  for (let index = 0; index < 4; index++) {
    const reader = (await open()).body?.getReader() ?? assert.fail();
    await reader.read();
    readers.push(reader);
  }
  const refused = await open();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '5');
  await readers[0]?.cancel();
  assert.equal((await open()).status, 200);
  // One that is read to its end makes room, too.
  const reader = readers[1] ?? assert.fail();
  while (!(await reader.read()).done);
  for (let index = 0; index < 2; index++) await (await open()).body?.getReader().read();
  assert.equal((await open()).status, 429);
});

test('a reader of a journal file that stalls loses its place', async () => {
  await using on = await openServerFixture([], { agents: [createAgent()] });
  const { session } = await exportSession(on.url);
  const clock = new SimulatedClock(1_700_000_000_000);
  const { runtime, store } = on;
  const server = await createServer({ runtime, store, keys: 'off', clock, readerTimeoutMs: 5000 });
  const open = async (): Promise<Response> =>
    server.fetch(new Request(`${on.url}/v1/sessions/${session}/journal`));
  const readers = [];
  for (let index = 0; index < 4; index++) {
    const reader = (await open()).body?.getReader() ?? assert.fail();
    await reader.read();
    readers.push(reader);
  }
  clock.advance(4000);
  assert.equal((await open()).status, 429);
  await readers[0]?.read();
  clock.advance(4000);
  // Three stalled; the first one reads on to the end.
  for (let index = 0; index < 3; index++) {
    const response = await open();
    assert.equal(response.status, 200);
    await response.body?.getReader().read();
  }
  assert.equal((await open()).status, 429);
  for (const reader of readers.slice(1))
    await assert.rejects(reader.read(), /was not read for 5000 ms/);
  const first = readers[0] ?? assert.fail();
  while (!(await first.read()).done);
  await server.close();
});

test('a redacted journal file has no value that a user, a model or a tool wrote, and the same tokens', async () => {
  await using on = await openServerFixture([], { agents: [createAgent()] });
  const whole = await exportSession(on.url);
  const { text, lines } = await download(`${on.url}/v1/sessions/${whole.session}/journal?redact=1`);
  assert.doesNotMatch(text, new RegExp(SECRET));
  assert.doesNotMatch(text, /Berlin|Never name|My title|customer|Zanzibar/);
  // Not as a part of a hash or of a time.
  assert.doesNotMatch(text, /[:[,]4711\b/);
  assert.equal(listRecords(lines).length, listRecords(whole.lines).length);
  for (const type of ['session', 'input', 'snapshot', 'artifact'])
    assert.ok(!lines.some((line) => line.type === type), type);
  const [marking, open] = [applyAll(lines), applyAll(whole.lines)];
  assert.deepEqual(countMarking(marking), countMarking(open));
  assert.equal(marking.seq, open.seq);
  // What the net and the format of records declare is still readable.
  const keys = listKeys(listRecords(lines));
  for (const key of ['invocationId', 'callId', 'round', 'content', 'parts', 'functionCall', 'args'])
    assert.ok(keys.has(key), key);
  for (const key of ['note', 'stored', 'by']) assert.ok(!keys.has(key), key);
  assert.ok([...keys].filter((key) => /^key\(\d+\) #[0-9a-f]{12}$/.test(key)).length > KEYS.length);
  // Another session begins with the state that this one shares.
  const client = createClient({ baseUrl: on.url });
  const { id: other } = await client.sessions.create({ agent: 'agent_clerk' });
  await client.sessions.ask(other, 'hello');
  const loading = await download(`${on.url}/v1/sessions/${other}/journal?redact=1`);
  const loaded = listRecords(loading.lines).filter((record) => Object(record).kind === 'loaded');
  assert.match(JSON.stringify(loaded), /"entries":\{"app:key\(\d+\) #.*"versions":\{"app:key\(/);
  assert.doesNotMatch(loading.text, /Zanzibar/);
  // Equal texts can be recognized within a file, and not in another one.
  const hashes = (from: string): ReadonlySet<string> =>
    new Set(from.match(/text\(\d+\) #[0-9a-f]{8}/g) ?? []);
  const again = await download(`${on.url}/v1/sessions/${whole.session}/journal?redact=1`);
  assert.ok(hashes(text).size > 3);
  assert.ok([...hashes(text)].every((hash) => !hashes(again.text).has(hash)));
});

test('a redacted journal file of a trimmed session hides the values that its journal begins with', async () => {
  await using on = await openServerFixture([], { agents: [createAgent()] });
  const { session } = await exportSession(on.url);
  const { key } =
    (await on.store.list({})).find((row) => row.key.sessionId === session) ?? assert.fail();
  assert.ok(await trimJournal(on.store, key, { upTo: Number.MAX_SAFE_INTEGER }));
  const path = `${on.url}/v1/sessions/${session}/journal`;
  const [whole, redacted] = [await download(path), await download(`${path}?redact=1`)];
  assert.match(JSON.stringify(listRecords(whole.lines)), new RegExp(SECRET));
  assert.doesNotMatch(redacted.text, /Zanzibar|Berlin|[:[,]4711\b/);
  assert.deepEqual(countMarking(applyAll(redacted.lines)), countMarking(applyAll(whole.lines)));
  for (const { lines } of [whole, redacted])
    assert.equal(lines.at(-1)?.['records'], applyAll(lines).seq, 'the number of the last record');
  assert.equal(whole.lines.filter(({ type }) => type === 'fork_point').length, 1);
  const client = createClient({ baseUrl: on.url });
  const kinds: string[] = [];
  for await (const { kind } of client.sessions.records(session)) kinds.push(kind);
  assert.deepEqual(kinds, ['trimmed']);
  await assert.rejects(client.sessions.marking(session, { at: 1 }), /can be used is \d+/);
});

test('the tokens that a trimmed journal begins with are redacted by the schemas of their places', () => {
  const redactor = createJournalRedactor(null);
  const marking = {
    format: 1,
    net: { hash: 'h', versions: {} },
    seq: 7,
    at: 1,
    tokens: { place: [['7.0', 1, { [SECRET]: SECRET }, { late: 9 }]] },
    firings: [],
    lists: { list: { version: 2, items: [SECRET], origins: [3] } },
    maps: { map: { [SECRET]: SECRET } },
    shared: { [`user:${SECRET}`]: 4 },
  };
  const redacted = redactor.record({ kind: 'trimmed', seq: 7, at: 1, marking });
  assert.doesNotMatch(JSON.stringify(redacted), new RegExp(SECRET));
  const [record] = parseRecords([redacted]);
  assert.deepEqual(countMarking(replayRecords(record === undefined ? [] : [record])), {
    tokens: [['place', ['7.0']]],
    lists: [['list', 1, 2]],
    maps: [['map', 1, 0]],
  });
});

function countMarking({ tokens, lists, maps }: Marking): unknown {
  return {
    tokens: [...tokens].map(([place, all]) => [place, all.map(({ id }) => id)]),
    lists: [...lists].map(([place, { items, version }]) => [place, items.length, version]),
    maps: [...maps].map(([place, entries]) => [
      place,
      Object.keys(entries).length,
      Object.keys(entries).filter((key) => key.startsWith('user:') || key.startsWith('app:'))
        .length,
    ]),
  };
}

function listKeys(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, one] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(key);
    listKeys(one, found);
  }
  return found;
}

async function exportSession(
  url: string,
): Promise<{ readonly session: string; readonly lines: readonly Line[] }> {
  const client = createClient({ baseUrl: url });
  const { id: session } = await client.sessions.create({
    agent: 'agent_clerk',
    title: 'My title',
    metadata: { customer: 'customer-7', [SECRET]: 'customer-7' },
  });
  await client.sessions.ask(session, `To Berlin with ${SECRET}`);
  return { session, lines: (await download(`${url}/v1/sessions/${session}/journal`)).lines };
}

async function download(
  url: string,
): Promise<{ readonly text: string; readonly lines: readonly Line[] }> {
  const response = await fetch(url);
  assert.match(response.headers.get('content-disposition') ?? '', /attachment; filename=".+jsonl"/);
  const text = await response.text();
  const lines = text.trimEnd().split('\n');
  return { text, lines: lines.map((line) => JSON.parse(line) as Line) };
}

/** The records of the session, without those of called agents. */
function listRecords(lines: readonly Line[]): readonly unknown[] {
  return lines.flatMap(({ type, records }) =>
    type === 'step' && Array.isArray(records) ? (records as readonly unknown[]) : [],
  );
}

function applyAll(lines: readonly Line[]): Marking {
  return replayRecords(parseRecords(listRecords(lines)));
}
