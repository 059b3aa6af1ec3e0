/** Calls that an earlier version left when its process was killed continue. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LiveHub } from '../../src/live/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { SimulatedCall } from '../live/simulated-call.ts';
import { LEFT_AT, liveAgents, liveSessions } from './live-agents.ts';

/** A place that each session holds a token in, so that the fixture has the states that it is for. */
const held: Readonly<Record<string, string>> = {
  idle: 'link.up',
  speaking: 'voice.open',
  asked: 'reply.awaited',
  replying: 'reply.done',
  saying: 'reply.text',
  approving: 'tool.parked',
};

for (const { name } of liveSessions)
  test(`a call that was left ${name} continues`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-left-'));
    const file = join(folder, 'live.db');
    copyFileSync(join(import.meta.dirname, 'fixtures/routed-signals/live.db'), file);
    const store = await openStore(`sqlite:${file}`);
    const clock = new SimulatedClock(LEFT_AT + 1_000_000);
    const hub = new LiveHub();
    const before = await hydrate(store, {
      appName: 'petrichor',
      userId: 'default',
      sessionId: name,
    });
    assert.ok((before.tokens.get(held[name] ?? '')?.length ?? 0) > 0, held[name]);
    const runtime = await openRuntime({
      agents: liveAgents(clock, 'after'),
      store,
      clock,
      live: hub,
    });
    t.after(async () => {
      await runtime.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const session = await runtime.session(name);
    const call = await SimulatedCall.begin(hub, session, clock);
    const count = async (line: string): Promise<number> =>
      (await call.log()).filter((one) => one === line).length;
    const isSettled = async (): Promise<boolean> => (await session.status()).activity === 'idle';
    if (name === 'approving')
      for (const { callId } of await session.pending()) void session.approve(callId);
    await call.until(isSettled);
    const left = await call.log();
    const said = await count('user: Again.');
    await call.say(300);
    await call.until(async () => (await count('user: Again.')) > said && (await isSettled()));
    const log = await call.log();
    t.diagnostic(log.join(' | '));
    assert.deepEqual(log.slice(0, left.length), left);
    assert.deepEqual(log.slice(-2), ['model: Once more.', 'ended: end_turn']);
    const turns = log.filter((line) => line === 'turn.started').length;
    assert.equal(log.filter((line) => line.startsWith('ended')).length, turns);
    assert.ok(!log.some((line) => line.startsWith('error')), log.join(' | '));
  });
