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
  it('each subnet builds alone, and their composition has no open port', () => {
    const { net: streaming, play } = llmStreamingStep(services);
    for (const part of [vad(), streaming, liveApiRecovery()]) compile(part);
    assert.ok(bargeIn({ play }).transitions.length > 0);
    assert.deepEqual(compile(net).warnings, []);
    assert.deepEqual(
      net.clusters.map(({ name }) => name),
      ['vad', 'llm-streaming-step', 'barge-in', 'live-api-recovery'],
    );
  });

  it('for random inputs, permits are never lost and no audio of a reply plays after its end', async () => {
    const random = new Random(5);
    let stale = 0;
    for (let round = 0; round < 40; round++) {
      const open: (() => void)[] = [];
      const waiting = async (_: unknown, signal: AbortSignal): Promise<void> => {
        const { promise, resolve } = Promise.withResolvers<void>();
        open.push(() => signal.aborted || resolve());
        return promise;
      };
      const simulation = new NetSimulation(
        duplexSession({ ask: waiting, play: waiting, runTool: async () => 'ok' }),
      );
      const utterances: string[] = [];
      for (let step = 0; step < 60; step++) {
        const action = random.below(6);
        if (action === 0) {
          utterances.push(`u${utterances.length}`);
          await simulation.put(voiceStarted, utterances.at(-1) ?? '');
        } else if (action === 1) await simulation.put(voiceStopped, null);
        else if (action === 2) await simulation.pass(random.below(4_000));
        else if (action === 3 && utterances.length > 0) {
          const reply = random.pick(utterances.slice(-2));
          const kind = random.chance(0.2) ? ('done' as const) : ('chunk' as const);
          await simulation.put(liveIn, { reply, kind, data: reply });
        } else if (open.length > 0) {
          open.splice(random.below(open.length), 1)[0]?.();
          await simulation.settle();
        }
        const playing = simulation.running.filter((t) => t === 'chunk.play').length;
        assert.equal(simulation.tokens(chunkBudget).length + playing, 2);
        if (simulation.tokens(modelActive).length === 0) assert.equal(playing, 0);
      }
      stale += simulation.outputs(staleOut).length;
      const order = simulation.outputs(speechOut).map((chunk) => utterances.indexOf(chunk));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        'an old reply was played after a new one',
      );
    }
    assert.ok(stale > 50, `${stale} stale`);
  });

  it('a timeout that is due when the model starts to speak does not disturb it', async () => {
    for (const ms of [3_000, 6_000]) {
      const simulation = new NetSimulation(duplexSession({ ...services, ask: async () => {} }));
      await simulation.put(voiceStarted, 'u');
      await simulation.put(voiceStopped, null);
      await simulation.pass(ms - 1);
      const before = simulation.outputs(recoveryOut).length;
      simulation.clock.advance(1);
      await simulation.put(liveIn, { reply: 'u', kind: 'chunk' as const, data: 'x' });
      await simulation.pass(60_000);
      assert.equal(simulation.outputs(recoveryOut).length, before);
      assert.deepEqual(simulation.tokens(modelActive), ['u']);
    }
  });

  it('it has fewer than 256 markings for one utterance and one message', async () => {
    const environment = { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 1 };
    const properties = [deadlockFree(['voice.open', 'model.active', 'chunk.budget'])];
    const report = await prove(compile(net), { properties, bounds: { environment, faults: 0 } });
    assert.ok(isProved(report));
    assert.ok(report.results.every(({ states }) => states < 256));
  });
});
