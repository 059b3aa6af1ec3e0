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
import { Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import {
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  unreachable,
} from '../../src/verify/index.ts';
import { Random } from '../verify/random.ts';
import { withChanged, withoutInhibitor, withoutReset } from './mutant.ts';
import { assertProved, assertRefuted } from './proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const services = { ask: never, play: never, runTool: never };
const net = duplexSession(services);
const faults = ['net.fault', 'net.fault.unhandled'];
/** Two utterances, and three messages of the connection at any time. */
const bounds = { environment: { 'voice.started': 2, 'voice.stopped': 2, 'live.in': 3 } };
/** In one utterance a reply ends by its last message only. */
const oneUtterance = {
  environment: { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 3 },
  faults: 0,
};
const resting = deadlockFree(['voice.open', 'model.active', 'chunk.budget']);
const recoveries = ['recovery.nudge', 'recovery.reconnect'];

/** Only where the model speaks something plays, or a tool of its reply runs. */
const playsUnderReply = unreachable('running(chunk.play)', ['model.active', ...faults]);
const toolsUnderReply = unreachable('running(tool.run)', [
  'model.active',
  'utterance.fresh',
  ...faults,
]);
const silentAfterBargeIn = neverFiresAfter('chunk.play', 'utterance.fresh', {
  until: 'model.active',
});
const noOldRecovery = neverFiresAfter(recoveries, 'utterance.fresh', { until: 'model.ask' });
const oneReply = placeBound(['reply.awaited', 'model.active', 'running(model.ask)'], 1);
const undisturbed = neverFiresAfter(recoveries, 'model.active', { until: 'reply.finish' });
const permits = placeBound(['chunk.budget', 'running(chunk.play)'], 2);
const somePermit = unreachable({}, ['chunk.budget', 'running(chunk.play)', ...faults]);

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
      const stage = new Rehearsal(
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
          await stage.rest();
        }
        const playing = stage.running.filter((t) => t === 'chunk.play').length;
        assert.equal(stage.tokens(chunkBudget).length + playing, 2);
        if (stage.tokens(modelActive).length === 0) assert.equal(playing, 0);
      }
      stale += stage.heard(staleOut).length;
      const order = stage.heard(speechOut).map((chunk) => said.indexOf(chunk));
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
      const stage = new Rehearsal(duplexSession({ ...services, ask: async () => {} }));
      await stage.put(voiceStarted, 'u');
      await stage.put(voiceStopped, null);
      await stage.pass(ms - 1);
      const before = stage.heard(recoveryOut).length;
      stage.clock.advance(1);
      await stage.put(liveIn, { reply: 'u', kind: 'chunk' as const, data: 'x' });
      await stage.pass(60_000);
      assert.equal(stage.heard(recoveryOut).length, before);
      assert.deepEqual(stage.tokens(modelActive), ['u']);
    }
  });

  it('is proved: recovery never while the model speaks, one reply at a time, permits never lost', async () => {
    await assertProved(
      net,
      [permits, somePermit, playsUnderReply, toolsUnderReply, placeBound('voice.open', 1)],
      bounds,
    );
    await assertProved(
      net,
      [
        resting,
        oneReply,
        mutualExclusion('model.active', 'reply.awaited'),
        silentAfterBargeIn,
        noOldRecovery,
      ],
      { ...bounds, faults: 0 },
    );
    await assertProved(net, [undisturbed], oneUtterance);
  });

  it('its markings are few: under 256 for an utterance and a message', async () => {
    const environment = { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 1 };
    const [result] = await assertProved(net, [resting], { environment, faults: 0 });
    assert.ok(result && result.states < 256, `${result?.states} states`);
  });

  it('is refuted when recovery does not look whether the model speaks', async () => {
    const blind = withoutInhibitor(net, 'recovery.nudge', 'model.active');
    // What the model says also takes the clock away: one of the two would do.
    await assertProved(blind, [undisturbed], oneUtterance);
    const forgetful = withoutReset(blind, 'live.route', 'silence.first');
    const trace = await assertRefuted(forgetful, undisturbed, oneUtterance);
    assert.match(trace, /reply\.hear[^]*recovery\.nudge/);
  });

  it('is refuted when a barge-in lets something play on, or drops a permit', async () => {
    const playsOn = withChanged(net, 'barge.in', ({ take }) => {
      const { playing: _, ...rest } = take;
      return { take: rest };
    });
    assert.throws(() => compile(playsOn), /each\("playing"/);
    const keepsChunk = withoutReset(net, 'barge.in', 'chunk.ready');
    await assertRefuted(keepsChunk, playsUnderReply, {
      environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 1 },
    });
    const dropsPermit = withChanged(net, 'barge.in', ({ give }) => {
      assert.ok(give.give === 'allOf');
      const { permits: _, ...outputs } = give.outputs;
      return { give: { ...give, outputs } };
    });
    await assertRefuted(dropsPermit, somePermit, {
      environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 2 },
      faults: 0,
    });
  });

  it('is refuted when a new utterance forgets a tool, or the silence before it', async () => {
    const tool = withoutReset(net, 'utterance.reset', 'running(tool.run)');
    await assertRefuted(tool, toolsUnderReply, bounds);
    const silence = withoutReset(net, 'utterance.reset', 'silence.first');
    const trace = await assertRefuted(
      withoutReset(silence, 'utterance.reset', 'reply.awaited'),
      noOldRecovery,
      { ...bounds, faults: 0 },
    );
    assert.match(trace, /recovery\.nudge/);
  });
});
