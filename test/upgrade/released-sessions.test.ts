/** Sessions that the released version 0.1.0 left behind when its process was killed, taken up by this version. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { textOf } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { Runner, SqliteSessionService } from '../../src/runner/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session } from '../../src/runtime/index.ts';
import {
  HOUR_MS,
  obedientModel,
  RELEASED_AT,
  releasedAgent,
  releasedApp,
  releasedTools,
} from './released-agents.ts';

function fileOf(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-released-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  copyFileSync(join(import.meta.dirname, 'fixtures', name), file);
  return file;
}

/** The tools of these sessions, and which of them ran. */
function countedTools(): {
  readonly ran: string[];
  readonly tools: ReturnType<typeof releasedTools>;
} {
  const ran: string[] = [];
  const tools = releasedTools(async (name) => {
    ran.push(name);
    return `${name} is done`;
  });
  return { ran, tools };
}

const model = obedientModel(() => false);

async function until(
  events: AsyncIterable<unknown>,
  type: LogEvent['type'],
  times = 1,
): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  let seen = 0;
  for await (const event of events as AsyncIterable<LogEvent>) {
    if (!('seq' in event)) continue;
    log.push(event);
    if (event.type === type && ++seen === times) break;
  }
  return log;
}

const outcomes = (log: readonly LogEvent[]): readonly string[] =>
  log
    .flatMap((event) => (event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : []))
    .toSorted();

const lastWords = (log: readonly LogEvent[]): string => {
  const said = log.findLast((event) => event.type === 'agent.message');
  return said?.type === 'agent.message' ? textOf(said.content) : '';
};

describe('a session of a runtime that 0.1.0 left', () => {
  interface Opened {
    readonly session: Session;
    readonly clock: SimulatedClock;
    readonly ran: readonly string[];
    readonly runtime: Runtime;
  }
  const left = (id: string, what: string, check: (opened: Opened) => Promise<void>): void =>
    void it(`${id}: ${what}`, async (t) => {
      const clock = new SimulatedClock(RELEASED_AT + 1_000);
      const { ran, tools } = countedTools();
      await using runtime = await openRuntime({
        agents: [releasedAgent(model, tools)],
        store: `sqlite:${fileOf(t, 'plain.db')}`,
        clock,
      });
      await check({ session: await runtime.session(id), clock, ran, runtime });
    });

  left('idle', 'answers the next message with all that was said', async ({ session }) => {
    await session.send('say three').accepted;
    assert.equal(lastWords(await until(session.events(), 'turn.ended', 3)), 'Heard 5 messages.');
  });

  left('approval', 'runs the call once it is approved', async ({ session, ran }) => {
    const [call] = await session.pending();
    assert.equal(call?.needs, 'approval');
    await session.approve(call.id, { fingerprint: call.fingerprint }).accepted;
    assert.deepEqual(outcomes(await until(session.events(), 'turn.ended')), ['delete ok']);
    assert.equal(ran.filter((name) => name === 'delete').length, 1);
  });

  left('result', 'takes the result that it waits for', async ({ session }) => {
    const [call] = await session.pending();
    await session.answer(call?.id ?? '', { result: 'yes' }).accepted;
    assert.deepEqual(outcomes(await until(session.events(), 'turn.ended')), ['ask ok']);
  });

  left('result', 'is given up when its time comes', async ({ session, clock }) => {
    clock.advance(HOUR_MS);
    assert.deepEqual(outcomes(await until(session.events(), 'turn.ended')), ['ask timeout']);
  });

  left('retry', 'asks the model again when its wait is over', async ({ session, clock }) => {
    clock.advance(30_000);
    assert.equal(lastWords(await until(session.events(), 'turn.ended')), 'Heard 1 messages.');
  });

  left('parallel', 'judges each call that was in flight', async ({ session, ran }) => {
    await until(session.events(), 'tool.result', 2);
    const [call] = await session.pending();
    await session.answer(call?.id ?? '', { result: 'yes' }).accepted;
    assert.deepEqual(outcomes(await until(session.events(), 'turn.ended')), [
      'ask ok',
      'look ok',
      'pay unknown',
    ]);
    assert.deepEqual(ran, ['look']);
  });

  left('rewound', 'goes on from where it was taken back to', async ({ session, runtime }) => {
    const fork = await session.fork({ id: 'forked' });
    for (const one of [session, fork]) {
      const before = (await one.status()).lastSeq;
      await one.send('say three').accepted;
      assert.equal(lastWords(await until(one.events(before), 'turn.ended')), 'Heard 3 messages.');
    }
    assert.equal((await runtime.sessions()).length, 7);
  });
});

describe('a managed session that 0.1.0 left', () => {
  interface Opened {
    readonly id: string;
    readonly runtime: ManagedRuntime;
    readonly clock: SimulatedClock;
    readonly ran: readonly string[];
  }
  const left = (title: string, what: string, check: (opened: Opened) => Promise<void>): void =>
    void it(`${title}: ${what}`, async (t) => {
      const clock = new SimulatedClock(RELEASED_AT + 1_000);
      const { ran, tools } = countedTools();
      await using runtime = await openManagedRuntime({
        store: `sqlite:${fileOf(t, 'managed.db')}`,
        clock,
        resolver: async () => model,
        builtIns: async (name) => tools.filter((one) => one.name === name && name === 'look'),
      });
      const { data } = await runtime.listSessions();
      const session = data.find((one) => one.title === title);
      assert.ok(session);
      await check({ id: session.id, runtime, clock, ran });
    });
  const say = async (runtime: ManagedRuntime, id: string, text: string): Promise<void> => {
    await runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text }] });
  };

  left('idle', 'answers the next message with all that was said', async ({ runtime, id }) => {
    await say(runtime, id, 'say two');
    assert.equal(
      lastWords(await until(runtime.streamLog(id, 0), 'turn.ended', 2)),
      'Heard 3 messages.',
    );
  });

  left('result', 'takes the result that it waits for', async ({ runtime, id }) => {
    const [call] = await runtime.pending(id);
    await runtime.sendEvent(id, {
      type: 'user.custom_tool_result',
      custom_tool_use_id: call?.callId ?? '',
      content: [{ type: 'text', text: 'yes' }],
    });
    assert.deepEqual(outcomes(await until(runtime.streamLog(id, 0), 'turn.ended')), ['ask ok']);
  });

  left('retry', 'asks the model again when its wait is over', async ({ runtime, id, clock }) => {
    assert.equal(await runtime.status(id), 'rescheduling');
    clock.advance(30_000);
    assert.equal(
      lastWords(await until(runtime.streamLog(id, 0), 'turn.ended')),
      'Heard 1 messages.',
    );
  });

  left('parallel', 'runs again what only looks', async ({ runtime, id, ran }) => {
    await until(runtime.streamLog(id, 0), 'tool.result');
    assert.deepEqual(ran, ['look']);
    assert.equal((await runtime.pending(id)).length, 1);
  });

  left('paused', 'stays paused until it is resumed', async ({ runtime, id }) => {
    assert.equal(await runtime.status(id), 'paused');
    await say(runtime, id, 'say two');
    await runtime.resume(id);
    assert.equal(
      lastWords(await until(runtime.streamLog(id, 0), 'turn.ended', 2)),
      'Heard 3 messages.',
    );
  });

  left('archived', 'takes nothing more and can be read', async ({ runtime, id }) => {
    assert.equal(await runtime.status(id), 'archived');
    await assert.rejects(say(runtime, id, 'say two'));
    assert.ok(
      (await until(runtime.streamLog(id, 0, { follow: false }), 'session.upgraded')).length > 3,
    );
  });
});

describe('an ADK session that 0.1.0 left', () => {
  const left = (id: string, what: string, check: (runner: Runner) => Promise<void>): void =>
    void it(`${id}: ${what}`, async (t) => {
      const clock = new SimulatedClock(RELEASED_AT + 1_000);
      const sessionService = new SqliteSessionService(fileOf(t, 'adk.db'), { clock });
      const app = releasedApp(model, countedTools().tools);
      await using runner = new Runner({ app, sessionService, clock });
      await check(runner);
    });
  const ask = async (runner: Runner, sessionId: string, newMessage: string): Promise<string> => {
    const events = await runner.run({ userId: 'u', sessionId, newMessage });
    return textOf(events.at(-1)?.content);
  };

  left('idle', 'answers the next message with all that was said', async (runner) => {
    assert.equal(await ask(runner, 'idle', 'say two'), 'Heard 3 messages.');
  });

  left('compacted', 'shows the model its summary and what came since', async (runner) => {
    const heard = await ask(runner, 'compacted', 'say four');
    assert.equal(heard, 'Heard 6 messages.');
  });

  left('approval', 'runs the call once it is confirmed', async (runner) => {
    const session = await runner.sessionService.getSession({
      appName: 'desk',
      userId: 'u',
      sessionId: 'approval',
    });
    const asked = session?.events.findLast(
      ({ actions }) => Object.keys(actions.requestedToolConfirmations ?? {}).length > 0,
    );
    const [id = ''] = Object.keys(asked?.actions.requestedToolConfirmations ?? {});
    const events = await runner.run({
      userId: 'u',
      sessionId: 'approval',
      newMessage: {
        role: 'user',
        parts: [{ functionResponse: { id, name: 'delete', response: { confirmed: true } } }],
      },
    });
    assert.match(JSON.stringify(events), /delete is done/);
  });
});
