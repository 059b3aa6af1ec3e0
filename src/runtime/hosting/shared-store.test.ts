import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore, openSqliteStore } from '../../store/index.ts';
import type { Store } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';
import type { Turn } from '../session/turn.ts';

/** Each call opens a store over the same data, as one more process would. */
const stores: readonly (readonly [string, (t: TestContext) => () => Promise<Store>])[] = [
  [
    'memory',
    () => {
      const store = new MemoryStore();
      return async () => store;
    },
  ],
  [
    'sqlite',
    (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-two-'));
      const opened: Store[] = [];
      t.after(async () => {
        await Promise.all(opened.map(async (store) => store.close()));
        rmSync(folder, { recursive: true, force: true });
      });
      return async () => {
        const store = await openSqliteStore(join(folder, 'store.db'), { pollMs: 2 });
        opened.push(store);
        return store;
      };
    },
  ],
];

const echo = (executedCalls: string[] = []): Agent =>
  agent({
    name: 'echo',
    tools: [
      tool({
        name: 'act',
        description: 'Acts.',
        execute: (_, { callId }) => void executedCalls.push(callId),
      }),
    ],
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user' && contentText(contents.at(-1)).includes('act')
        ? { toolCalls: [{ name: 'act' }] }
        : { text: `Answer ${contents.filter(({ role }) => role === 'user').length}` },
    ),
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

for (const [name, open] of stores) {
  test(`${name}: two runtimes send to one session; each message is answered once, in the order of acceptance`, async (t) => {
    const another = open(t);
    const executedCalls: string[] = [];
    const agents = [echo(executedCalls)];
    await using one = await openRuntime({ agents, store: await another() });
    await using two = await openRuntime({ agents, store: await another() });
    const sessions = [await one.session('x'), await two.session('x')];
    const turns = Array.from({ length: 40 }, (_, n) =>
      (sessions[n % 2] ?? assert.fail()).send(`act ${n}`, { messageId: `m${n}` }),
    );
    const inputs = await Promise.all(turns.map(async ({ accepted }) => accepted));
    const logs = await Promise.all(turns.map(readTurn));
    const log = await readLog(sessions[0] ?? assert.fail());
    assert.deepEqual(await readLog(sessions[1] ?? assert.fail()), log);
    const order = log.flatMap((event) => (event.type === 'user.message' ? [event.messageId] : []));
    const accepted = turns
      .map((_, n) => ({ messageId: `m${n}`, input: inputs[n] ?? 0 }))
      .toSorted((a, b) => a.input - b.input)
      .map(({ messageId }) => messageId);
    assert.deepEqual(order, accepted);
    assert.equal(new Set(executedCalls).size, 40);
    assert.equal(executedCalls.length, 40);
    for (const [n, turn] of logs.entries()) {
      const [message] = turn;
      assert.equal(message?.type === 'user.message' && message.messageId, `m${n}`);
      assert.equal(turn.at(-1)?.type, 'turn.ended');
    }
  });

  test(`${name}: a live runtime keeps its session while others read it, open it and get its notices`, async (t) => {
    const another = open(t);
    await using one = await openRuntime({ agents: [echo()], store: await another() });
    await using two = await openRuntime({ agents: [echo()], store: await another() });
    const localSession = await one.session('x');
    const remoteSession = await two.session('x');
    const watching = (async () => {
      let ends = 0;
      for await (const event of remoteSession.events())
        if (event.type === 'turn.ended' && ++ends === 10) return;
    })();
    const { owner } = await localSession.status();
    for (let n = 0; n < 10; n++) {
      await readTurn(localSession.send(`act ${n}`));
      await two.session('x');
    }
    await watching;
    assert.deepEqual(await readLog(remoteSession), await readLog(localSession));
    const after = await localSession.status();
    assert.deepEqual({ owner: after.owner, epoch: after.epoch }, { owner, epoch: 1 });
  });

  test(`${name}: when a runtime closes, a waiting one continues its unfinished work`, async (t) => {
    const another = open(t);
    const one = await openRuntime({ agents: [echo()], store: await another() });
    await using two = await openRuntime({ agents: [echo()], store: await another() });
    const localSession = await one.session('x');
    const remoteSession = (await two.find('x')) ?? assert.fail();
    for (let n = 0; n < 10; n++) await localSession.send(`act ${n}`).accepted;
    await one.close();
    let ends = 0;
    for await (const event of remoteSession.events())
      if (event.type === 'turn.ended' && ++ends === 10) break;
    const outcomes = (await readLog(remoteSession)).flatMap((event) =>
      event.type === 'tool.result' ? [event.outcome] : [],
    );
    assert.deepEqual([...new Set(outcomes)], ['ok']);
  });
}
