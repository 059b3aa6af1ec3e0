import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, turnPermit, userIn } from '../agents/index.ts';
import type { Agent, AgentDefinition } from '../agents/index.ts';
import { contentText } from '../core/index.ts';
import type { LogEvent } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import {
  allOf,
  compose,
  join as joinPorts,
  net,
  oneOf,
  place,
  pure,
  SimulatedClock,
} from '../net/index.ts';
import type { Net } from '../net/index.ts';
import { MemoryStore, openSqliteStore, StoreUnavailableError } from '../store/index.ts';
import { tool } from '../tools/index.ts';
import { openRuntime } from './open-runtime.ts';
import type { Runtime } from './runtime.ts';
import type { Session } from './session/session.ts';
import type { Turn } from './session/turn.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

const echo = (more: Partial<AgentDefinition> = {}): Agent =>
  agent({
    name: 'echo',
    model: new ScriptedModel(({ contents }) => ({
      text: `You said ${contentText(contents.at(-1))}`,
    })),
    ...more,
  });

async function readTurn(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if ('seq' in event) events.push(event);
  return events;
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

const getStopReason = (log: readonly LogEvent[]): unknown => {
  const last = log.at(-1);
  return last?.type === 'turn.ended' && last.stopReason;
};

async function waitSomeTime(): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise(setImmediate);
}

test('with a full store, steps wait and stay invisible, and are committed after space is freed; nothing runs twice', async () => {
  let full = false;
  let refused = 0;
  const often = Promise.withResolvers<void>();
  const store = new MemoryStore({
    failpoints: {
      beforeCommit: () => {
        if (!full) return;
        if (++refused === 3) often.resolve();
        throw new StoreUnavailableError('full', 'a store in a test');
      },
    },
  });
  let executions = 0;
  const work = tool({
    name: 'work',
    description: 'Works until there is no room.',
    execute: () => {
      executions++;
      full = true;
      return 'done';
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }]);
  await using runtime = await openRuntime({ agents: [echo({ tools: [work], model })], store });
  const session = await runtime.session('x');
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { type } of session.send('go')) seen.push(type);
  })();
  await often.promise;
  assert.deepEqual(seen, ['user.message', 'turn.started', 'agent.message', 'tool.call']);
  // Further sends fail with the reason; reads still work.
  await assert.rejects(session.send('more').accepted, { code: 'store_unavailable' });
  assert.equal((await readLog(session)).length, 4);
  full = false;
  await watching;
  assert.equal(executions, 1);
  assert.deepEqual(seen.filter((type) => type !== 'partial').slice(4), [
    'tool.result',
    'agent.message',
    'turn.ended',
  ]);
});

test('with a full store a runtime still closes, and the next runtime finds the session unchanged', async () => {
  let full = false;
  const refused = Promise.withResolvers<void>();
  const store = new MemoryStore({
    failpoints: {
      beforeCommit: () => {
        if (!full) return;
        refused.resolve();
        throw new StoreUnavailableError('full', 'a store in a test');
      },
    },
  });
  const work = tool({
    name: 'work',
    description: 'Works until there is no room.',
    onCrash: 'unknown',
    execute: () => {
      full = true;
      return 'done';
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }]);
  const agents = [echo({ tools: [work], model })];
  const clock = new SimulatedClock(1_000);
  const first = await openRuntime({ agents, store, clock });
  (await first.session('x')).send('go');
  await refused.promise;
  const closing = first.close();
  await waitSomeTime();
  clock.advance(10_000);
  await closing;
  full = false;
  await using second = await openRuntime({ agents, store });
  const session = (await second.find('x')) ?? assert.fail();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(
    (await readLog(session)).flatMap((event) =>
      event.type === 'tool.result' ? [event.outcome] : [],
    ),
    // The tool ended but its result could not be committed, as after a crash.
    ['unknown'],
  );
});

test('SQLite: with a full disk, steps wait until there is room', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-full-'));
  const databases: DatabaseSync[] = [];
  const store = await openSqliteStore(join(folder, 'store.db'), {
    failpoints: { opened: (database) => void databases.push(database) },
  });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const limit = (pages: number): void => {
    for (const database of databases) database.exec(`PRAGMA max_page_count = ${pages}`);
  };
  const full = Promise.withResolvers<void>();
  const work = tool({
    name: 'work',
    description: 'Works until there is no room.',
    execute: () => {
      limit(1);
      full.resolve();
      // Larger than the remaining pages.
      return Array.from({ length: 400 }, (_, n) => `${n} ${Math.sin(n)} ${Math.cos(n)}`);
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'work' }] }, { text: 'Done.' }]);
  await using runtime = await openRuntime({ agents: [echo({ tools: [work], model })], store });
  const session = await runtime.session('x');
  const turn = session.send('go');
  await full.promise;
  await assert.rejects(
    session.inject(
      userIn,
      {
        messageId: 'm',
        invocationId: 'e',
        content: { role: 'user', parts: [{ text: 'x'.repeat(100_000) }] },
      },
      { dedupeKey: 'm' },
    ),
    { code: 'store_unavailable', reason: 'full' },
  );
  await waitSomeTime();
  assert.equal((await readLog(session)).length, 4);
  limit(1_073_741_823);
  assert.equal(getStopReason(await readTurn(turn)), 'end_turn');
});

/** A prompt builder behind a check that throws for a poison message. */
const withPoisonCheck = (promptBuilder: Net): Net => {
  const passed = { ...userIn, name: 'user.passed', environment: false };
  return compose('touchy-prompt-builder', {
    in: { ...promptBuilder.in, userIn },
    out: promptBuilder.out,
    nets: [promptBuilder],
    join: [joinPorts(passed, userIn)],
    transitions: [
      pure('message.check', {
        take: { message: userIn },
        give: allOf({ message: passed }),
        run: ({ message }) => {
          if (contentText(message.content).includes('poison'))
            throw new Error('I cannot swallow that');
          return { message };
        },
      }),
    ],
  });
};

test('a poison message fails alone: the log has an error, and the next message is answered', async () => {
  const poisoned = echo({
    subnets: (promptBuilder) => ({ turnStart: withPoisonCheck(promptBuilder.turnStart) }),
  });
  await using runtime = await openRuntime({ agents: [poisoned] });
  const [a, b] = [await runtime.session('a'), await runtime.session('b')];
  const [bad, next, other] = [a.send('poison'), a.send('water'), b.send('tea')];
  const log = await readTurn(bad);
  assert.deepEqual(
    log.map(({ type }) => type),
    ['user.message', 'error', 'turn.ended'],
  );
  assert.equal(getStopReason(log), 'error');
  assert.match(JSON.stringify(log[1]), /I cannot swallow that/);
  assert.equal(getStopReason(await readTurn(next)), 'end_turn');
  assert.equal(getStopReason(await readTurn(other)), 'end_turn');
});

test('a transition that throws on model output ends only that turn, and leaves no call open', async () => {
  const alarm = place('alarm.said', anything, { environment: true, version: 1 });
  const extension = net('alarm', {
    in: { alarm, turnPermit },
    out: { turnPermit },
    transitions: [
      pure('alarm.sound', {
        take: { alarm },
        give: oneOf({ never: turnPermit }),
        run: () => {
          throw new Error('out of order');
        },
      }),
    ],
  });
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes.',
    needsApproval: true,
    execute: () => 'ok',
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.length === 1 ? { toolCalls: [{ name: 'wipe' }] } : { text: 'Done.' },
  );
  await using runtime = await openRuntime({
    agents: [echo({ extensions: [extension], tools: [wipe], model })],
  });
  const session = await runtime.session('x');
  await readTurn(session.send('go'));
  await session.inject(alarm, null, { dedupeKey: 'a' });
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.deepEqual(await session.pending(), []);
  assert.equal(getStopReason(await readTurn(session.send('next'))), 'end_turn');
  const parts = model.requests.at(-1)?.contents.map(({ parts }) => Object.keys(parts[0] ?? {})[0]);
  assert.deepEqual(parts, ['text', 'functionCall', 'functionResponse', 'text']);
});

const failing = (): never => {
  throw new Error('this migration is broken');
};

/** The same agent after a deployment that renamed a place and has a `migrate` that throws. */
const before = (name: string): Net => {
  const readNotes = place(name, anything, { environment: true, owed: true, version: 1 });
  const release = place('note.release', anything, { environment: true, version: 1 });
  return net('notes', {
    in: { noted: readNotes, release, turnPermit },
    out: { turnPermit },
    transitions: [
      pure('note.drop', {
        take: { noted: readNotes, release, permit: turnPermit },
        give: allOf({ turnPermit }),
        run: ({ permit }) => ({ turnPermit: permit }),
      }),
    ],
  });
};

async function withNote(runtime: Runtime, id: string): Promise<void> {
  const session = await runtime.session(id);
  await readTurn(session.send('hello'));
  await session.inject('note.first', 'remember', { dedupeKey: id });
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
}

test('a session that fails to load three times is quarantined, and only it; its log can be read', async () => {
  const store = new MemoryStore();
  {
    await using old = await openRuntime({
      agents: [echo({ extensions: [before('note.first')] })],
      store,
    });
    await withNote(old, 'bad');
    await readTurn((await old.session('good')).send('hello'));
  }
  const changed = echo({ extensions: [before('note.second')], migrate: failing });
  const errors: unknown[] = [];
  await using runtime = await openRuntime({
    agents: [changed],
    store,
    onError: (error) => errors.push(error),
  });
  const bad = (await runtime.find('bad')) ?? assert.fail();
  const reading = (async () => {
    for await (const _ of bad.events());
  })();
  await bad.send('are you there?').accepted;
  await assert.rejects(reading, { code: 'session_quarantined', sessionId: 'bad' });
  assert.equal((await bad.status()).status, 'quarantined');
  assert.equal(errors.length, 3);
  await assert.rejects(runtime.session('bad'), { code: 'session_quarantined' });
  assert.equal((await readLog(bad)).length, 4);
  const good = await runtime.session('good');
  assert.equal(getStopReason(await readTurn(good.send('you too?'))), 'end_turn');

  // After its release the session is tried again here, three times. A reader waits for that.
  await store.recordHydration(bad.key, true);
  const again = (async () => {
    for await (const _ of bad.events());
  })();
  await assert.rejects(again, { code: 'session_quarantined', sessionId: 'bad' });
  assert.equal(errors.length, 6);
  while (errors.length < 6) await new Promise(setImmediate);
  while ((await bad.status()).status !== 'quarantined') await new Promise(setImmediate);
});

test('a session whose net changed too much waits for the right agent: its log is readable and its inputs are kept', async () => {
  const store = new MemoryStore();
  const right = echo({ extensions: [before('note.first')] });
  {
    await using old = await openRuntime({ agents: [right], store });
    await withNote(old, 'x');
  }
  {
    await using wrong = await openRuntime({
      agents: [echo({ extensions: [before('note.second')] })],
      store,
    });
    await assert.rejects(wrong.session('x'), { code: 'net_changed', places: ['note.first'] });
    const session = (await wrong.find('x')) ?? assert.fail();
    assert.equal((await readLog(session)).length, 4);
    await session.send('anyone?', { messageId: 'm2' }).accepted;
    // A reader that follows the log gets the reason.
    await assert.rejects(
      (async () => {
        for await (const _ of session.events());
      })(),
      { code: 'net_changed' },
    );
    assert.equal((await session.status()).failures, 0);
  }
  await using back = await openRuntime({ agents: [right], store });
  const session = await back.session('x');
  assert.equal(
    getStopReason(await readTurn(session.send('anyone?', { messageId: 'm2' }))),
    'end_turn',
  );
  assert.equal((await readLog(session)).filter(({ type }) => type === 'user.message').length, 2);
});

test('a renamed place keeps its tokens when the migration of the agent maps it', async () => {
  const store = new MemoryStore();
  {
    await using old = await openRuntime({
      agents: [echo({ extensions: [before('note.first')] })],
      store,
    });
    await withNote(old, 'x');
  }
  const markedPlaces: (readonly string[])[] = [];
  const renamed = echo({
    extensions: [before('note.second')],
    migrate: (marked) => {
      markedPlaces.push(marked);
      return { moved: { 'note.first': 'note.second' } };
    },
  });
  await using runtime = await openRuntime({ agents: [renamed], store });
  const session = await runtime.session('x');
  assert.equal(getStopReason(await readTurn(session.send('still there?'))), 'end_turn');
  assert.deepEqual(markedPlaces, [['note.first']]);
  const types = (await readLog(session)).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session.upgraded').length, 1);
  await session.inject('note.release', null, { dedupeKey: 'r' });
  while ((await session.status()).inboxPending) await new Promise(setImmediate);
});
