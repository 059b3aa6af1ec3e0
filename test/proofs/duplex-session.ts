import { duplexSession } from '../../examples/cases/nets/duplex-session.ts';
import {
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  unreachable,
} from '../../src/verify/index.ts';
import { withoutInhibitor, withoutOutput, withoutReset } from '../cases/net-mutations.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = duplexSession({ ask: never, play: never, runTool: never });
const faults = ['net.fault', 'net.fault.unhandled'];
/** Two utterances, and three messages of the connection at any moment. */
const bounds = { environment: { 'voice.started': 2, 'voice.stopped': 2, 'live.in': 3 } };
/** In one utterance a reply ends by its last message only. */
const oneUtterance = {
  environment: { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 3 },
  faults: 0,
};
const recoveries = ['recovery.nudge', 'recovery.reconnect'];

/** Audio plays, or a tool of the reply runs, only while the model speaks. */
const playsUnderReply = unreachable('running(chunk.play)', ['model.active', ...faults]);
const toolsUnderReply = unreachable('running(tool.run)', [
  'model.active',
  'utterance.fresh',
  ...faults,
]);
const noOldRecovery = neverFiresAfter(recoveries, 'utterance.fresh', { until: 'model.call' });
const undisturbed = neverFiresAfter(recoveries, 'model.active', { until: 'reply.finish' });
const somePermit = unreachable({}, ['chunk.budget', 'running(chunk.play)', ...faults]);

export const duplexSessionProof: NetProof = {
  name: 'case 4, full-duplex session',
  net,
  claims: [
    {
      properties: [
        placeBound(['chunk.budget', 'running(chunk.play)'], 2),
        somePermit,
        playsUnderReply,
        toolsUnderReply,
        placeBound('voice.open', 1),
      ],
      bounds,
      quick: withoutEach(bounds, ['live.in']),
    },
    {
      properties: [
        deadlockFree(['voice.open', 'model.active', 'chunk.budget']),
        placeBound(['reply.awaited', 'model.active', 'running(model.call)'], 1),
        mutualExclusion('model.active', 'reply.awaited'),
        neverFiresAfter('chunk.play', 'utterance.fresh', { until: 'model.active' }),
        noOldRecovery,
      ],
      bounds: { ...bounds, faults: 0 },
      quick: withoutEach({ ...bounds, faults: 0 }, Object.keys(bounds.environment)),
    },
    { properties: [undisturbed], bounds: oneUtterance },
  ],
  mutants: [
    {
      // The output of the model also removes the clock: one of the two is enough.
      that: 'recovers without checking whether the model is active',
      net: withoutReset(
        withoutInhibitor(net, 'recovery.nudge', 'model.active'),
        'live.route',
        'silence.first',
      ),
      property: undisturbed,
      bounds: oneUtterance,
      shows: /reply\.hear[^]*recovery\.nudge/,
    },
    {
      that: 'is interrupted by speech and keeps playing audio',
      net: withoutReset(net, 'barge.in', 'chunk.ready'),
      property: playsUnderReply,
      bounds: { environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 1 } },
    },
    {
      that: 'is interrupted by speech and drops a permit',
      net: withoutOutput(net, 'barge.in', 'permits'),
      property: somePermit,
      bounds: { environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 2 }, faults: 0 },
    },
    {
      that: 'starts a new utterance and leaves a tool running',
      net: withoutReset(net, 'utterance.reset', 'running(tool.run)'),
      property: toolsUnderReply,
      bounds: { environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 2 } },
    },
    {
      that: 'starts a new utterance and keeps the timer of the previous silence',
      net: withoutReset(
        withoutReset(net, 'utterance.reset', 'silence.first'),
        'utterance.reset',
        'reply.awaited',
      ),
      property: noOldRecovery,
      bounds: { ...bounds, faults: 0 },
      shows: /recovery\.nudge/,
    },
  ],
};
