import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, agentTool, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { encodeMarking, parseRecords, replayRecords } from '../../src/net/journal/index.ts';
import type { EncodedMarking, Trimmed } from '../../src/net/journal/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import {
  applyRetention,
  DamagedCopyError,
  importSession,
  JournalTrimmedError,
  measureSessions,
  openRuntime,
  restoreBackup,
  trimJournal,
  UnverifiedBaseError,
  writeBackup,
} from '../../src/runtime/index.ts';
import type { RetentionPolicy, RetentionResult, Runtime } from '../../src/runtime/index.ts';
import { readState } from '../../src/adk/sessions/read-session.ts';
import { toCopyLines } from '../../src/runtime/copies/copy-lines.ts';
import { hydrate, restoreSnapshot } from '../../src/runtime/journal/hydrate.ts';
import { MemoryStore, openStore } from '../../src/store/index.ts';
import { findFirstStep } from '../../src/store/internal.ts';
import type { CommittedStep, SettledStep, Store } from '../../src/store/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { noteAgent } from '../copies/loaded-store.ts';

const DAY = 86_400_000;
const START = 1_700_000_000_000;
const KEY = { appName: 'petrichor', userId: 'default', sessionId: 's' };

interface Setup {
  readonly clock: SimulatedClock;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly invocations: readonly string[];
}

/** A session with a turn on each of four days. */
async function openSession(store: Store = new MemoryStore()): Promise<Setup> {
  const clock = new SimulatedClock(START);
  const runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  const session = await runtime.session('s');
  const invocations: string[] = [];
  for (const [day, text] of ['one', 'two', 'three', 'four'].entries()) {
    if (day > 0) clock.advance(DAY);
    const turn = session.send(text, { messageId: text });
    for await (const _ of turn);
    invocations.push(turn.invocationId);
  }
  return { clock, runtime, store, invocations };
}

async function readAll<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function readRecords(store: Store): Promise<readonly SettledStep['records'][number][]> {
  return (await readAll(store.steps(KEY, 0))).flatMap(({ records }) => records);
}

async function apply(
  { store, clock }: Pick<Setup, 'store' | 'clock'>,
  rules: RetentionPolicy['rules'],
  dryRun = false,
): Promise<readonly RetentionResult[]> {
  return readAll(applyRetention(store, { rules }, { clock, dryRun }));
}

test('a rule with trimAfterDays removes the records of older turns, and the session goes on', async () => {
  const on = await openSession();
  await using runtime = on.runtime;
  const { store } = on;
  const rules = [{ trimAfterDays: 1.5 }];
  const before = await readRecords(store);
  const log = await readAll(store.read(KEY));
  const marking = encodeMarking(await hydrate(store, KEY));
  const [size] = await measureSessions(store);

  const planned = await apply(on, rules, true);
  assert.deepEqual(
    planned.map(({ outcome, key }) => [outcome, key.sessionId]),
    [['planned', 's']],
  );
  assert.deepEqual(await readRecords(store), before, 'a dry run changes nothing');
  const [done, ...others] = await apply(on, rules);
  assert.deepEqual(others, []);
  assert.equal(done?.outcome, 'trimmed');
  assert.deepEqual(done.trim, planned[0]?.trim);
  assert.deepEqual(await apply(on, rules), [], 'there is nothing more to remove');

  const records = await readRecords(store);
  assert.equal(records[0]?.kind, 'trimmed');
  assert.equal(records[0].seq, done.trim?.records);
  assert.deepEqual(records.slice(1), before.slice(done.trim?.records));
  assert.deepEqual(await readAll(store.read(KEY)), log);
  assert.deepEqual(encodeMarking(await hydrate(store, KEY)), marking);
  const [trimmed] = await measureSessions(store);
  assert.ok((trimmed?.journalBytes ?? 0) < (size?.journalBytes ?? 0));

  const session = await runtime.session('s');
  for await (const _ of session.send('one', { messageId: 'one' }));
  assert.deepEqual(await readAll(store.read(KEY)), log, 'an input that was removed is known');
  assert.equal(await session.ask('five'), 'Noted.');
  assert.deepEqual(
    encodeMarking(replayRecords(parseRecords(await readRecords(store)))),
    encodeMarking(await hydrate(store, KEY)),
  );
  assert.deepEqual(
    (await apply(on, [{ trimAfterDays: 0.1, deleteAfterDays: 0.1 }])).map(({ outcome }) => outcome),
    ['trimmed'],
    'a session that is deleted is not trimmed before, and this one has a new record',
  );
});

test('a session that is kept because of its state is trimmed, but not while a turn waits', async () => {
  const on = await openSession();
  await using runtime = on.runtime;
  const session = await runtime.session('s');
  for await (const _ of session.send('ask'));
  const steps = await readAll(on.store.steps(KEY, 0));
  const begun = steps.findLast(({ events }) => events.some(({ type }) => type === 'turn.started'));
  assert.ok(begun !== undefined && begun.step < steps.length);
  on.clock.advance(10 * DAY);
  const results = await apply(on, [{ trimAfterDays: 5, deleteAfterDays: 5 }]);
  assert.deepEqual(
    results.map(({ outcome, obstacle }) => [outcome, obstacle]),
    [
      ['kept', 'status'],
      ['trimmed', undefined],
    ],
  );
  const last = results[1]?.trim?.step ?? 0;
  assert.ok(last > 0 && last < begun.step, 'the turn that waits has its records');
  const [call] = await session.pending();
  for await (const _ of session.approve(call?.id ?? '', { fingerprint: call?.fingerprint ?? '' }));
  assert.equal((await session.status()).status, 'idle');
});

/** An agent that calls another one in each turn. */
function createLead(): Agent {
  const helper = agent({
    name: 'helper',
    description: 'Helps',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look' }] } : { text: 'Helped.' },
    ),
    tools: [tool({ name: 'look', description: 'Looks', execute: () => 'seen' })],
  });
  return agent({
    name: 'lead',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'helper', args: { request: 'help' } }] }
        : { text: 'Done.' },
    ),
    tools: [agentTool(helper)],
  });
}

test('the sessions of called agents are trimmed with the session that called them', async () => {
  const clock = new SimulatedClock(START);
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [createLead()], store, clock });
  const session = await runtime.session('s');
  await session.ask('one');
  clock.advance(10 * DAY);
  const [child] = await store.list({ agent: 'helper' });
  const [result] = await apply({ store, clock }, [{ trimAfterDays: 5 }]);
  const kept = [...(await readAll(store.steps(KEY, 0)))];
  if (child !== undefined) kept.push(...(await readAll(store.steps(child.key, 0))));
  assert.deepEqual(
    kept.flatMap(({ records }) => records.map(({ kind }) => kind)),
    ['trimmed', 'trimmed'],
  );
  assert.equal(
    result?.trim?.records,
    kept.flatMap(({ records }) => records).reduce((sum, { seq }) => sum + seq, 0),
  );
  assert.equal(await session.ask('two'), 'Done.');
});

test('a session whose journal cannot be trimmed does not keep those of called agents whole', async () => {
  class DamagedStore extends MemoryStore {
    override async trim(...args: Parameters<Store['trim']>): Promise<boolean> {
      if (args[0].sessionId === KEY.sessionId) throw new UnverifiedBaseError(KEY, args[1].step);
      return super.trim(...args);
    }
  }
  const clock = new SimulatedClock(START);
  const store = new DamagedStore();
  await using runtime = await openRuntime({ agents: [createLead()], store, clock });
  await (await runtime.session('s')).ask('one');
  clock.advance(10 * DAY);
  const [child] = await store.list({ agent: 'helper' });
  const [result] = await apply({ store, clock }, [{ trimAfterDays: 5 }]);
  assert.equal(result?.outcome, 'failed');
  assert.ok(result.error instanceof UnverifiedBaseError);
  const steps = await readAll(store.steps(child?.key ?? KEY, 0));
  assert.deepEqual(
    steps.flatMap(({ records }) => records.map(({ kind }) => kind)),
    ['trimmed'],
  );
  assert.equal(result.trim?.step, steps.length);
});

test('a position before the first record is refused, and the error names the first possible one', async () => {
  const on = await openSession();
  await using runtime = on.runtime;
  const { store, invocations } = on;
  const session = await runtime.session('s');
  const points = await readAll(session.forkPoints());
  const steps = await readAll(store.steps(KEY, 0));
  const trim = await trimJournal(store, KEY, { upTo: START + 1.5 * DAY });
  const base = steps.find(({ step }) => step === trim?.step);
  const [record, event] = [base?.records.at(-1)?.seq, base?.events.at(-1)?.seq];
  assert.ok(record !== undefined && event !== undefined);

  assert.deepEqual(
    await readAll(session.forkPoints()),
    points.filter(({ upTo }) => upTo >= event),
  );
  const isTrimmed =
    (first: unknown) =>
    (error: unknown): boolean => {
      assert.ok(error instanceof JournalTrimmedError, String(error));
      assert.equal(error.first, first);
      assert.match(error.message, new RegExp(`can be used is ${String(first)}\\.`));
      return true;
    };
  for (const { upTo } of points.filter((point) => point.upTo < event))
    await assert.rejects(session.fork({ id: `f${upTo}`, upTo }), isTrimmed(event));
  for (const atRecord of [0, 1, record - 1])
    await assert.rejects(session.fork({ id: `r${atRecord}`, atRecord }), isTrimmed(record));
  for (const number of [1, record - 1])
    await assert.rejects(session.markingAt(number), isTrimmed(record));
  const rewind = { beforeInvocationId: invocations[1] ?? '' };
  await assert.rejects(session.rewind(rewind), isTrimmed(invocations[2]));
  await assert.rejects(session.rewind({ beforeInvocationId: 'none' }), /is not an invocation/);
  assert.equal((await store.list({ parent: null })).length, 1, 'nothing was created');

  const records = await readAll(session.records());
  assert.deepEqual(records.map(({ kind, record: number }) => [kind, number])[0], [
    'trimmed',
    record,
  ]);
  assert.equal((await session.markingAt(record)).record, record);
  const fork = await session.fork({ id: 'copy', upTo: event });
  assert.equal(await fork.ask('other'), 'Noted.');
  const marking = await hydrate(store, fork.key);
  assert.deepEqual(
    encodeMarking(
      replayRecords((await readAll(store.steps(fork.key, 0))).flatMap((step) => step.records)),
    ),
    encodeMarking(marking),
  );
  await session.rewind({ beforeInvocationId: invocations[2] ?? '' });
  assert.equal(await session.ask('again'), 'Noted.');
});

test('a copy of a trimmed session continues elsewhere, and a damaged base is refused', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const source = await openStore(at('source.db'));
  {
    const on = await openSession(source);
    await using _ = on.runtime;
    await trimJournal(source, KEY, { upTo: START + 2.5 * DAY });
    await writeBackup(source, at('backup.gz'));
  }
  const exported = await folder.run([
    'export',
    's',
    '--store',
    at('source.db'),
    '--output',
    at('s.jsonl'),
  ]);
  assert.equal(exported.code, 0, exported.stderr.text);
  const steps = await (async () => {
    const store = await openStore(at('source.db'));
    const found = await readAll(store.steps(KEY, 0));
    await store.close();
    return found;
  })();
  for (const [name, copy] of [
    ['restored.db', async (store: Store) => restoreBackup(at('backup.gz'), store)],
    ['imported.db', async (store: Store) => importSession(at('s.jsonl'), store)],
  ] as const) {
    const store = await openStore(at(name));
    await copy(store);
    assert.deepEqual(await readAll(store.steps(KEY, 0)), steps, name);
    await using runtime = await openRuntime({ agents: [noteAgent([])], store });
    assert.equal(await (await runtime.session('s')).ask('more'), 'Noted.');
  }

  const lines = readFileSync(at('s.jsonl'), 'utf8').trimEnd().split('\n').slice(0, -1);
  const values = lines.map((line) => JSON.parse(line) as Line);
  const forge = async (change: (base: Trimmed) => Trimmed): Promise<void> => {
    const forged = values.map((line) =>
      line.records?.[0]?.kind === 'trimmed'
        ? { ...line, records: [change(line.records[0] as unknown as Trimmed)] }
        : line,
    );
    writeFileSync(at('forged.jsonl'), (await readAll(toCopyLines(forged))).join(''));
    const target = new MemoryStore();
    await assert.rejects(importSession(at('forged.jsonl'), target), DamagedCopyError);
    assert.deepEqual(await readAll(target.exportItems()), []);
  };
  const change = (marking: Partial<EncodedMarking>) => (base: Trimmed) => ({
    ...base,
    marking: { ...base.marking, ...marking },
  });
  await forge((base) => ({ ...base, seq: base.seq - 1 }));
  await forge((base) => ({
    ...base,
    seq: base.seq - 1,
    marking: { ...base.marking, seq: base.seq - 1 },
  }));
  await forge((base) => ({ ...base, at: base.at + 1 }));
  await forge(change({ format: 2 }));
  // The snapshot has other lists, state and tokens.
  await forge(change({ lists: {} }));
  await forge(change({ maps: { state: { forged: true } } }));
  await forge(({ marking, ...base }) =>
    change({ tokens: { ...marking.tokens, 'user.in': [[`${base.seq + 1}.0`, base.at, 'later']] } })(
      { ...base, marking },
    ),
  );
  await forge(({ marking, ...base }) => {
    const lists = Object.entries(marking.lists).map(([place, list]) => [
      place,
      { ...list, origins: list.origins.slice(1) },
    ]);
    return { ...base, marking: { ...marking, lists: Object.fromEntries(lists) } };
  });
  // Without a snapshot, the numbers of the base itself are checked.
  const bare = values.filter(({ type }) => type !== 'snapshot');
  const forgeBare = async (to: (base: Trimmed) => Trimmed): Promise<void> => {
    const lines = bare.map((line) =>
      line.records?.[0]?.kind === 'trimmed'
        ? { ...line, records: [to(line.records[0] as unknown as Trimmed)] }
        : line,
    );
    writeFileSync(at('bare.jsonl'), (await readAll(toCopyLines(lines))).join(''));
    await importSession(at('bare.jsonl'), new MemoryStore());
  };
  await forgeBare((one) => one);
  for (const origin of [0, 10_000])
    await assert.rejects(
      forgeBare(({ marking, ...one }) => {
        const { conversation } = marking.lists;
        if (conversation === undefined) assert.fail('there is no conversation');
        const origins = conversation.origins.with(0, origin);
        const lists = { ...marking.lists, conversation: { ...conversation, origins } };
        return change({ lists })({ ...one, marking });
      }),
      DamagedCopyError,
    );
  await assert.rejects(
    forgeBare((one) => change({ tokens: { extra: [['10000.0', one.at, 1]] } })(one)),
    DamagedCopyError,
  );
  const { tokens, lists } =
    values
      .flatMap(({ records = [] }) => records as unknown as readonly Trimmed[])
      .flatMap(({ marking }) => marking ?? [])[0] ?? assert.fail('there is no base');
  const [[place, rows] = assert.fail('there is no token')] = Object.entries(tokens);
  const [row] = rows;
  if (row === undefined) assert.fail('there is no token');
  const firing = {
    firing: 1,
    t: 'model.call',
    startedAt: 1,
    inputs: {},
    read: {},
    lists: {},
    maps: {},
    shared: {},
    attempt: 1,
    crashes: 0,
    timeoutAt: 1,
  };
  const wrong: readonly (readonly [string, Partial<EncodedMarking>])[] = [
    [`token ${row[0]}`, { tokens: { ...tokens, [place]: [...rows, row] } }],
    ['token 1x', { tokens: { ...tokens, other: [['1x', 1, null]] } }],
    ['firing 1', { firings: [firing] }],
    ...[-1, 1.5].map((version) => {
      const conversation = lists['conversation'] ?? assert.fail('there is no conversation');
      return [
        'list conversation',
        { lists: { ...lists, conversation: { ...conversation, version } } },
      ] as const;
    }),
  ];
  for (const [part, marking] of wrong)
    await assert.rejects(forgeBare(change(marking)), (error) => {
      assert.ok(error instanceof DamagedCopyError && error.cause instanceof Error, part);
      assert.match(error.cause.message, new RegExp(`with a wrong ${part.replace('.', '\\.')}$`));
      return true;
    });
  // A second base, with the number of the last record.
  const end = bare.findLastIndex(({ type }) => type === 'step');
  const again = bare.map((line, index) => {
    const first = bare.flatMap(({ records = [] }) => records)[0] as unknown as Trimmed;
    const last = line.records?.at(-1) as unknown as Trimmed;
    if (index !== end) return line;
    const { seq, at: time } = last;
    return {
      ...line,
      records: [{ ...first, seq, at: time, marking: { ...first.marking, seq, at: time } }],
    };
  });
  writeFileSync(at('forged.jsonl'), (await readAll(toCopyLines(again))).join(''));
  await assert.rejects(importSession(at('forged.jsonl'), new MemoryStore()), DamagedCopyError);
  // A base in the middle of a journal.
  const middle = values.map((line) =>
    line.records?.[0]?.kind === 'trimmed' ? { ...line, records: [] } : line,
  );
  const last = middle.findLastIndex(({ type }) => type === 'step');
  const base = values.flatMap(({ records = [] }) => records).find(({ kind }) => kind === 'trimmed');
  const moved = middle.map((line, index) => (index === last ? { ...line, records: [base] } : line));
  writeFileSync(at('forged.jsonl'), (await readAll(toCopyLines(moved))).join(''));
  await assert.rejects(importSession(at('forged.jsonl'), new MemoryStore()), DamagedCopyError);
});

interface Line {
  readonly type: string;
  readonly records?: readonly { readonly kind: string }[];
}

test('a base that does not lead to the stored marking is not written', async () => {
  const store = new MemoryStore();
  await store.join('one');
  const init = { agent: 'a', owner: 'one', at: START, netHash: 'h' };
  const { row } = await store.create(KEY, init);
  const summary = {
    status: 'idle',
    activity: 'idle',
    inFlight: 0,
    nextDueAt: null,
    pending: [],
    netHash: 'h',
  } as const;
  const steps = [1, 2, 3].map((number): SettledStep => ({
    key: KEY,
    uid: row.uid,
    owner: 'one',
    epoch: row.epoch,
    step: number,
    at: START,
    records: [{ kind: 'injected', seq: number, at: START, give: [['p', number]] }],
    events: [],
    inboxUpTo: 0,
    summary,
  }));
  await store.commit(steps.slice(0, 2));
  const snapshot = JSON.parse(JSON.stringify(encodeMarking(await hydrate(store, KEY))));
  const wrong = { ...snapshot, seq: 3, lists: {} };
  await store.commit([{ ...steps[2], snapshot: wrong } as SettledStep]);
  await assert.rejects(trimJournal(store, KEY, { upTo: START }), UnverifiedBaseError);
  assert.equal((await readRecords(store)).length, 3);
});

test('a crash before or after the transaction of a trim leaves the old journal or the new one', async () => {
  const folder = new CommandFolder();
  const file = join(folder.path, 'crash.db');
  let armed: 'beforeCommit' | 'afterCommit' | undefined;
  const crash = (point: typeof armed) => (): void => {
    if (armed !== point) return;
    armed = undefined;
    throw new Error('crash');
  };
  const store = await openSqliteStore(file, {
    failpoints: { beforeCommit: crash('beforeCommit'), afterCommit: crash('afterCommit') },
  });
  const on = await openSession(store);
  const marking = encodeMarking(await hydrate(store, KEY));
  const before = await readRecords(store);
  await on.runtime[Symbol.asyncDispose]();
  for (const point of ['beforeCommit', 'afterCommit'] as const) {
    const failing = await openSqliteStore(file, {
      failpoints: { beforeCommit: crash('beforeCommit'), afterCommit: crash('afterCommit') },
    });
    armed = point;
    await assert.rejects(trimJournal(failing, KEY, { upTo: START + 1.5 * DAY }));
    await failing.close();
    const next = await openSqliteStore(file);
    const records = await readRecords(next);
    if (point === 'beforeCommit') assert.deepEqual(records, before);
    else assert.equal(records[0]?.kind, 'trimmed');
    assert.deepEqual(encodeMarking(await hydrate(next, KEY)), marking);
    await next.close();
  }
});

test('a reader that has read an earlier snapshot when a journal is trimmed reads what is there now', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [noteAgent([])], store });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 16; turn++) {
    await session.ask(`turn ${turn}`);
    await session.append({ author: 'crm', content: 'Paid.', stateDelta: { turn } });
  }
  await session.ask('end');
  const [row, early] = [await session.status(), await store.snapshot(KEY)];
  assert.ok(early !== undefined && early.step < row.head);
  const [marking, state] = [await hydrate(store, KEY), await readState(store, row)];
  assert.equal(state['turn'], 15);
  const upTo = Number.MAX_SAFE_INTEGER;
  assert.equal((await trimJournal(store, KEY, { upTo }))?.step, row.head);
  let isFirst = true;
  const late = (): Store => {
    isFirst = true;
    // What readers of a marking call.
    return {
      snapshot: async () => {
        if (!isFirst) return store.snapshot(KEY);
        isFirst = false;
        return early;
      },
      steps: store.steps.bind(store),
      listSteps: store.listSteps.bind(store),
      shared: store.shared.bind(store),
    } as unknown as Store;
  };
  assert.deepEqual(encodeMarking(await hydrate(late(), KEY)), encodeMarking(marking));
  assert.deepEqual(await readState(late(), row), state);
  const net = noteAgent([]).compiled;
  const restored = await restoreSnapshot(late(), KEY, upTo, net);
  assert.deepEqual(restored?.step, row.head);
});

/** A store in which a session is trimmed after the first page of a reader. */
class TrimmedBetweenPages extends MemoryStore {
  /** Called once, after 128 steps were read. */
  onPage: (() => Promise<unknown>) | undefined;

  override async *steps(...args: Parameters<Store['steps']>): AsyncGenerator<CommittedStep> {
    for await (const step of super.steps(...args)) {
      yield step;
      if (step.step !== 128) continue;
      const onPage = this.onPage;
      this.onPage = undefined;
      await onPage?.();
    }
  }
}

test('a fork of a session that is trimmed between two pages has one beginning, or is refused', async () => {
  const store = new TrimmedBetweenPages();
  const clock = new SimulatedClock(START);
  await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 45; turn++) {
    clock.advance(1000);
    await session.ask(`turn ${turn}`);
  }
  const marking = encodeMarking(await hydrate(store, KEY));
  const trimTo = (upTo: number) => async () => trimJournal(store, KEY, { upTo });
  store.onPage = trimTo(START + 35_000);
  const fork = await session.fork({ id: 'whole' });
  assert.equal(store.onPage, undefined, 'the session was trimmed meanwhile');
  assert.deepEqual(encodeMarking(await hydrate(store, fork.key)), marking);
  const begin = await findFirstStep(store.listSteps(fork.key, 1));
  assert.equal(begin, await findFirstStep(store.listSteps(KEY, 1)));
  assert.ok(begin > 128);

  // The position is after the page that was read, and its records are removed.
  const other = await runtime.session('other');
  for (let turn = 0; turn < 45; turn++) {
    clock.advance(1000);
    await other.ask(`turn ${turn}`);
  }
  const point = (await readAll(other.forkPoints())).find(({ step }) => step > 140);
  assert.ok(point !== undefined);
  store.onPage = async () => trimJournal(store, other.key, { upTo: clock.now() - 2000 });
  await assert.rejects(other.fork({ id: 'early', upTo: point.upTo }), JournalTrimmedError);
  assert.equal(await store.find({ ...KEY, sessionId: 'early' }), undefined);
});

test('a trim between the pages of another one is no failure', async () => {
  const store = new TrimmedBetweenPages();
  const clock = new SimulatedClock(START);
  await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
  const session = await runtime.session('s');
  for (let turn = 0; turn < 45; turn++) {
    clock.advance(1000);
    await session.ask(`turn ${turn}`);
  }
  // The other trim comes when the first one is planned, which is its last reading of the journal.
  let readings = 0;
  const to40 = async (): Promise<unknown> => {
    if (++readings < 4) store.onPage = to40;
    else await trimJournal(store, KEY, { upTo: START + 40_000 });
    return undefined;
  };
  store.onPage = to40;
  assert.equal(await trimJournal(store, KEY, { upTo: START + 35_000 }), undefined);
  assert.equal(readings, 4);
});
