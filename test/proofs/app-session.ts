/** A session to which a program appends events outside of any turn: with an agent, and before an agent ran. */
import { agent, checkInvariants, conversation, turnCurrent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { allOf, append } from '../../src/net/index.ts';
import { appendOnlyAgent } from '../../src/adk/sessions/append-only-agent.ts';
import { deadlockFree, neverFiresAfter, placeBound } from '../../src/verify/index.ts';
import type { Bounds } from '../../src/verify/index.ts';
import { withChanged, withoutOutput, withoutTransition } from '../cases/net-mutations.ts';
import { uncontrolled } from './agent.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const { net, compiled } = agent({
  name: 'helper',
  model: new ScriptedModel([]),
  reaskBudget: 1,
});
checkInvariants(compiled);

function coming(environment: Readonly<Record<string, number>>, faults = 0): Bounds {
  const inputs = { 'user.in': 1, 'interrupt.in': 1, 'answer.in': 1, 'rewind.in': 0 };
  const each = {
    environment: { ...inputs, ...uncontrolled, ...environment },
    empty: ['model.rescheduled'],
    upTo: 1,
    attempts: 1,
  };
  return { ...each, faults, shutdowns: false };
}

const rests = deadlockFree([
  { marked: ['turn.permit'], allowed: ['answer.in', 'session.queued', 'session.failed'] },
  {
    marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
    // Appended events are logged when the turn has ended.
    allowed: [
      'tool.result',
      'turn.budget',
      'answer.in',
      'user.in',
      'rewind.in',
      'event.pending-content',
    ],
  },
]);
/** An archived session refuses events. */
const restsClosed = deadlockFree([
  ...rests.resting,
  {
    marked: ['session.archived'],
    allowed: ['user.in', 'answer.in', 'event.pending-content', 'session.failed'],
  },
]);
const onePermit = placeBound(['turn.permit', 'turn.current'], 1);
const saysBetweenTurns = neverFiresAfter('session.append-content', 'turn.current', {
  until: 'turn.permit',
});

export const appSessionProof: NetProof = {
  name: 'session with appended events',
  net,
  claims: [
    {
      properties: [rests, onePermit, saysBetweenTurns],
      bounds: coming({ 'event.in': 2, 'answer.in': 0 }),
    },
    {
      properties: [rests, onePermit],
      bounds: coming({ 'event.in': 1 }, 1),
      quick: withoutEach(coming({ 'event.in': 1 }, 1), ['interrupt.in', 'answer.in']),
    },
    {
      properties: [restsClosed],
      bounds: coming({ 'event.in': 1, 'archive.in': 1, 'answer.in': 0 }),
    },
  ],
  mutants: [
    {
      that: 'leaves an event that a closed session cannot take',
      net: withoutTransition(net, 'event.refuse'),
      property: restsClosed,
      bounds: coming({ 'event.in': 1, 'archive.in': 1, 'answer.in': 0 }),
    },
    {
      that: 'logs an appended event and keeps the permit',
      net: withoutOutput(net, 'session.append-event', 'permit'),
      property: rests,
      bounds: coming({ 'event.in': 1 }),
    },
    {
      that: 'logs an appended event during a turn',
      net: withChanged(net, 'session.append-content', ({ take: { said } }) => ({
        take: { ...(said !== undefined && { said }), turn: turnCurrent },
        give: allOf({ turn: turnCurrent, line: append(conversation) }),
      })),
      property: saysBetweenTurns,
      bounds: coming({ 'event.in': 1 }),
    },
  ],
};

const resting = appendOnlyAgent().net;
const restsAlone = deadlockFree([
  { marked: ['turn.permit'], allowed: ['session.prompt-undecided'] },
]);
const three: Bounds = { environment: { 'event.in': 3 }, faults: 1 };

export const appendOnlySessionProof: NetProof = {
  name: 'session of an app before an agent has run',
  net: resting,
  claims: [{ properties: [restsAlone, placeBound('turn.permit', 1)], bounds: three }],
  mutants: [
    {
      that: 'fails to log an appended event and logs no more',
      net: withoutTransition(resting, 'session.report-fault'),
      property: restsAlone,
      bounds: three,
    },
    {
      that: 'logs an appended event and logs no more',
      net: withoutOutput(resting, 'session.append-event', 'permit'),
      property: restsAlone,
      bounds: three,
    },
  ],
};
