import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from 'petrichor/net';
import { duplexSession } from '../../examples/cases/nets/duplex-session.ts';
import { bargeIn } from '../../examples/cases/nets/duplex/barge-in.ts';
import { liveApiRecovery } from '../../examples/cases/nets/duplex/live-api-recovery.ts';
import { llmStreamingStep } from '../../examples/cases/nets/duplex/llm-streaming-step.ts';
import {
  chunkBudget,
  liveIn,
  modelActive,
  recoveryOut,
  speechOut,
  staleOut,
  voiceStarted,
  voiceStopped,
} from '../../examples/cases/nets/duplex/places.ts';
import { vad } from '../../examples/cases/nets/duplex/vad.ts';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { deadlockFree, isProved, prove } from '../../src/verify/index.ts';
import { Random } from '../verify/random.ts';

const never = async (): Promise<never> => new Promise(() => {});
const services = { ask: never, play: never, runTool: never };
const net = duplexSession(services);

describe('case 4, full-duplex session', () => {
  it('each subnet is a net of its own; together they leave no port open', () => {
    const { net: streaming, play } = llmStreamingStep(services);
    for (const part of [vad(), streaming, liveApiRecovery()]) compile(part);
    assert.ok(bargeIn({ play }).transitions.length > 0);
    assert.deepEqual(compile(net).warnings, []);
    assert.deepEqual(
      net.clusters.map(({ name }) => name),
      ['vad', 'llm-streaming-step', 'barge-in', 'live-api-recovery'],
    );
  });

  it('whatever is said and comes, permits are never lost and nothing of a reply is heard after its end', async () => {
    const random = new Random(5);
    let stale = 0;
    for (let round = 0; round < 40; round++) {
      const open: (() => void)[] = [];
      const waiting = async (_: unknown, signal: AbortSignal): Promise<void> => {
        const { promise, resolve } = Promise.withResolvers<void>();
        open.push(() => signal.aborted || resolve());
        return promise;
      };
      const stage = new NetSimulation(
        duplexSession({ ask: waiting, play: waiting, runTool: async () => 'ok' }),
      );
      const said: string[] = [];
      for (let step = 0; step < 60; step++) {
        const what = random.below(6);
        if (what === 0) {
          said.push(`u${said.length}`);
          await stage.put(voiceStarted, said.at(-1) ?? '');
        } else if (what === 1) await stage.put(voiceStopped, null);
        else if (what === 2) await stage.pass(random.below(4_000));
        else if (what === 3 && said.length > 0) {
          const reply = random.pick(said.slice(-2));
          const kind = random.chance(0.2) ? ('done' as const) : ('chunk' as const);
          await stage.put(liveIn, { reply, kind, data: reply });
        } else if (open.length > 0) {
          open.splice(random.below(open.length), 1)[0]?.();
          await stage.settle();
        }
        const playing = stage.running.filter((t) => t === 'chunk.play').length;
        assert.equal(stage.tokens(chunkBudget).length + playing, 2);
        if (stage.tokens(modelActive).length === 0) assert.equal(playing, 0);
      }
      stale += stage.outputs(staleOut).length;
      const order = stage.outputs(speechOut).map((chunk) => said.indexOf(chunk));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        'an old reply was heard after a new one',
      );
    }
    assert.ok(stale > 50, `${stale} stale`);
  });

  it('the model begins to speak at the very moment of a stage: it is not disturbed', async () => {
    for (const ms of [3_000, 6_000]) {
      const stage = new NetSimulation(duplexSession({ ...services, ask: async () => {} }));
      await stage.put(voiceStarted, 'u');
      await stage.put(voiceStopped, null);
      await stage.pass(ms - 1);
      const before = stage.outputs(recoveryOut).length;
      stage.clock.advance(1);
      await stage.put(liveIn, { reply: 'u', kind: 'chunk' as const, data: 'x' });
      await stage.pass(60_000);
      assert.equal(stage.outputs(recoveryOut).length, before);
      assert.deepEqual(stage.tokens(modelActive), ['u']);
    }
  });

  it('its markings are few: under 256 for an utterance and a message', async () => {
    const environment = { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 1 };
    const properties = [deadlockFree(['voice.open', 'model.active', 'chunk.budget'])];
    const report = await prove(compile(net), { properties, bounds: { environment, faults: 0 } });
    assert.ok(isProved(report));
    assert.ok(report.results.every(({ states }) => states < 256));
  });
});
