/** A session with compaction: a summary is made while turns run, and applied between turns. */
import { agent, turnCurrent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { createCompactionNet } from '../../src/adk/compaction/compaction-net.ts';
import {
  deadlockFree,
  neverFiresAfter,
  noFireAfterEndInvocation,
  placeBound,
} from '../../src/verify/index.ts';
import type { Bounds } from '../../src/verify/index.ts';
import { losing, withChanged, withoutInhibitor, withoutOutput } from '../cases/net-mutations.ts';
import { uncontrolled } from './agent.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const { net } = agent({
  name: 'helper',
  model: new ScriptedModel([]),
  reaskBudget: 1,
  extensions: [
    createCompactionNet({ compactionInterval: 2 }, async () => Promise.resolve(undefined)),
  ],
});

const rests = deadlockFree([
  { marked: ['turn.permit'], allowed: ['answer.in', 'session.queued', 'session.failed'] },
  {
    marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
    allowed: [
      'tool.result',
      'turn.budget',
      'answer.in',
      'user.in',
      // It is applied when the turn has ended.
      'compaction.watching',
      'compaction.summary',
    ],
  },
]);
const onePermit = placeBound(['turn.permit', 'turn.current'], 1);
const oneSummary = placeBound(
  ['compaction.due', 'running(compaction.summarize)', 'compaction.summary'],
  1,
);
const cutsBetweenTurns = neverFiresAfter('compaction.apply', 'turn.current', {
  until: 'turn.permit',
});
const stops = noFireAfterEndInvocation(
  ['model.call', 'tool.run', 'compaction.summarize'],
  'turn.stopping',
  { until: 'turn.permit' },
);

function coming(messages: number, stopped: number, faults = 0): Bounds {
  const stops = { 'interrupt.in': stopped, 'answer.in': stopped };
  return {
    environment: {
      'user.in': messages,
      ...stops,
      ...uncontrolled,
      'rewind.in': 0,
    },
    empty: ['model.rescheduled'],
    upTo: 1,
    attempts: 1,
    faults,
    shutdowns: false,
  };
}

export const compactionProof: NetProof = {
  name: 'session of an app, with compaction',
  net,
  claims: [
    {
      properties: [rests, onePermit, oneSummary, cutsBetweenTurns, stops],
      bounds: coming(2, 0),
    },
    {
      properties: [rests, oneSummary],
      bounds: coming(1, 1, 1),
      quick: withoutEach(coming(1, 1, 1), ['interrupt.in', 'answer.in']),
    },
  ],
  mutants: [
    {
      that: 'begins a summary while another is made',
      net: withoutInhibitor(
        withoutInhibitor(net, 'compaction.watch', 'running(compaction.summarize)'),
        'compaction.watch',
        'compaction.summary',
      ),
      property: oneSummary,
      bounds: coming(2, 0),
    },
    {
      that: 'cuts the conversation under a turn that runs',
      net: withChanged(net, 'compaction.apply', ({ take: { summary }, give }) => ({
        take: { ...(summary !== undefined && { summary }), turn: turnCurrent },
        give,
      })),
      property: cutsBetweenTurns,
      bounds: coming(2, 0),
    },
    {
      that: 'checks whether a turn runs and keeps its token',
      net: withoutOutput(net, 'compaction.watch', 'turn'),
      property: rests,
      bounds: coming(1, 0),
    },
    {
      that: 'finds nothing to summarize and keeps the permit',
      net: losing(net, 'compaction.check', 'none'),
      property: rests,
      bounds: coming(1, 0),
    },
  ],
};
