import type { Contract } from '../../verify/index.ts';
import { stopRequested } from '../vocabulary/control.ts';
import { turnCurrent, turnWaiting } from '../vocabulary/turn.ts';
import { faultPlace } from '../../net/index.ts';

/** The ports of an agent: where it starts, and where its tokens go when it is done. */
export interface AgentPorts {
  readonly starts: readonly string[];
  readonly dones: readonly string[];
  /** Whether the turn that was stopped may be judged, and the agent starts again in it. Default: false. */
  readonly isJudged?: boolean;
}

/**
 * The contract of an agent in a session of several, whatever its kind. Its environment promises that it starts only in a
 * turn and only while it is not at work, and that a turn ends only then. The agent promises that it begins once and is done
 * once for each start; that it is not done while it has given itself another start; and when it has said that the turn
 * waits, that it takes that back before it goes on. A transition that empties its start place stops it, and nothing starts
 * again in that turn. After a fault everything may happen until the turn is abandoned.
 */
export function agentContract({ starts, dones, isJudged = false }: AgentPorts): Contract {
  const stopped = { stop: 'stopped', abandon: 'off', fail: 'failed' };
  const failed = Object.fromEntries(
    [
      'fail',
      'turn',
      'end',
      'stop',
      'begin',
      'continue',
      'request-stop',
      'resume',
      'wait',
      'done',
      'start',
    ].map((event) => [event, 'failed']),
  );
  return {
    initial: 'off',
    events: [
      {
        name: 'abandon',
        promisedBy: 'environment',
        on: { takes: [faultPlace.name], empties: starts, by: 'environment' },
      },
      { name: 'fail', promisedBy: 'environment', on: { faults: true } },
      { name: 'stop', promisedBy: 'environment', on: { empties: starts, by: 'environment' } },
      { name: 'end', promisedBy: 'environment', on: { takes: [turnCurrent.name] } },
      { name: 'turn', promisedBy: 'environment', on: { gives: [turnCurrent.name] } },
      { name: 'begin', promisedBy: 'component', on: { takes: starts, by: 'component' } },
      // Inside a group of agents that transfer the turn, one starts the next.
      { name: 'continue', promisedBy: 'component', on: { gives: starts, by: 'component' } },
      {
        name: 'request-stop',
        promisedBy: 'component',
        on: { gives: [stopRequested.name], by: 'component' },
      },
      {
        name: 'resume',
        promisedBy: 'component',
        on: { empties: [turnWaiting.name], by: 'component' },
      },
      { name: 'wait', promisedBy: 'component', on: { gives: [turnWaiting.name], by: 'component' } },
      { name: 'done', promisedBy: 'component', on: { gives: dones, by: 'component' } },
      { name: 'start', promisedBy: 'environment', on: { gives: starts, by: 'environment' } },
    ],
    steps: {
      off: { turn: 'idle', stop: 'off', abandon: 'off', fail: 'failed' },
      idle: { start: 'starting', end: 'off', ...stopped },
      starting: { begin: 'working', ...stopped },
      working: {
        begin: 'working',
        continue: 'continuing',
        'request-stop': 'working',
        resume: 'working',
        wait: 'waiting',
        done: 'idle',
        ...stopped,
      },
      continuing: { begin: 'working', 'request-stop': 'continuing', ...stopped },
      waiting: { 'request-stop': 'waiting', resume: 'working', wait: 'waiting', ...stopped },
      stopped: { end: 'off', ...stopped, ...(isJudged && { start: 'starting' }) },
      failed: { abandon: 'off', ...failed },
    },
  };
}
