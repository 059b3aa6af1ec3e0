import type { LogEvent } from '../../src/core/index.ts';
import { findStatusFaults } from '../agents/log-status.ts';
import type { SessionResult } from './random-session.ts';
import { REASK_BUDGET } from './random-session.ts';

/** Compares the log of a session with what its clients saw. Returns the faults, one sentence each. */
export function findSessionFaults(result: SessionResult): readonly string[] {
  const { log } = result;
  return [
    ...result.faults,
    ...log.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`${seq} follows ${index}`])),
    ...result.seen.flatMap((seen, reader) => differenceIn(seen, log, reader)),
    ...statusFaults(result),
    ...callFaults(result),
    ...turnFaults(log),
    ...budgetFaults(log),
    ...messageFaults(result),
    ...outcomeFaults(log),
  ];
}

function differenceIn(
  seen: readonly LogEvent[],
  log: readonly LogEvent[],
  reader: number,
): readonly string[] {
  const firstDifference = seen.findIndex(
    (event, index) => JSON.stringify(event) !== JSON.stringify(log[index]),
  );
  return firstDifference === -1
    ? []
    : [`reader ${reader} saw another event ${firstDifference + 1}`];
}

function statusFaults({ steps, status }: SessionResult): readonly string[] {
  // The status of the last row is the status that clients get.
  const last = steps.at(-1)?.summary.status ?? 'queued';
  const isSame = status === (last === 'waiting' ? 'idle' : last);
  return [
    ...findStatusFaults(steps),
    ...(isSame ? [] : [`at the end the row has status ${last}, clients see ${status}`]),
  ];
}

function callFaults({ log, paid }: SessionResult): readonly string[] {
  const calls = log.flatMap((event) => (event.type === 'tool.call' ? [event] : []));
  const results = log.flatMap((event) => (event.type === 'tool.result' ? [event] : []));
  const answers = log.flatMap((event) => (event.type === 'tool.answered' ? [event] : []));
  const callIds = new Set(calls.map(({ callId }) => callId));
  return [
    ...(callIds.size < calls.length ? ['a call is in the log twice'] : []),
    ...calls.flatMap(({ callId, name, seq }) => {
      const count = results.filter((result) => result.callId === callId).length;
      return count === 1 ? [] : [`${name} of ${seq} has ${count} results`];
    }),
    ...results.flatMap(({ callId, seq }) => (callIds.has(callId) ? [] : [`${seq}: no such call`])),
    ...calls.flatMap(({ callId, name }) => {
      const count = answers.filter((answer) => answer.callId === callId).length;
      return count > 1 ? [`${name} was answered ${count} times`] : [];
    }),
    ...Object.entries(paid).flatMap(([callId, count]) => {
      const approved = answers.some(
        (answer) => answer.callId === callId && answer.decision === 'approved',
      );
      return [
        ...(count > 1 ? [`${callId} was paid ${count} times`] : []),
        ...(approved ? [] : [`${callId} was paid and never approved`]),
      ];
    }),
  ];
}

function turnFaults(log: readonly LogEvent[]): readonly string[] {
  const faults: string[] = [];
  let open: string | undefined;
  for (const event of log) {
    if (event.type === 'turn.started') {
      if (open !== undefined) faults.push(`${event.seq}: a turn begins in another`);
      open = event.invocationId;
    } else if (event.type === 'turn.ended') {
      if (open === undefined && event.stopReason !== 'interrupted')
        faults.push(`${event.seq}: a turn ends that was not there`);
      if (open !== undefined && event.invocationId !== open)
        faults.push(`${event.seq}: a turn ends in the middle of another`);
      open = undefined;
    } else if (
      (event.type === 'agent.message' || event.type === 'tool.call') &&
      event.invocationId !== open
    )
      faults.push(`${event.seq}: ${event.type} outside its turn`);
  }
  return open === undefined ? faults : [...faults, 'a turn never ends'];
}

/** Checks that the model is called no more often than the budget allows, in each round of an outcome. */
function budgetFaults(log: readonly LogEvent[]): readonly string[] {
  const faults: string[] = [];
  let answers = 0;
  for (const event of log) {
    if (event.type === 'turn.started' || event.type === 'outcome.evaluated') answers = 0;
    // The last message may be the turn's own report that its budget is used up.
    if (event.type === 'agent.message' && ++answers > REASK_BUDGET + 2)
      faults.push(`${event.seq}: answer ${answers} of one turn`);
  }
  return faults;
}

function messageFaults({ log, accepted, status }: SessionResult): readonly string[] {
  const loggedMessageIds = log.flatMap((event) =>
    event.type === 'user.message' ? [event.messageId] : [],
  );
  const isOver = status === 'archived' || status === 'completed';
  return [
    ...(new Set(loggedMessageIds).size < loggedMessageIds.length
      ? ['a message is in the log twice']
      : []),
    ...[...new Set(accepted)].flatMap((key) =>
      isOver || loggedMessageIds.includes(key) ? [] : [`${key} was accepted and is not in the log`],
    ),
  ];
}

/** Checks that rounds are judged once and in order, and that each outcome ends at most once. */
function outcomeFaults(log: readonly LogEvent[]): readonly string[] {
  const faults: string[] = [];
  const rounds = new Map<string, number>();
  for (const event of log) {
    if (event.type === 'outcome.defined') rounds.set(event.outcomeId, 0);
    if (event.type === 'outcome.evaluated') {
      if (event.iteration !== (rounds.get(event.outcomeId) ?? -1) + 1)
        faults.push(`${event.seq}: round ${event.iteration} of an outcome`);
      rounds.set(event.outcomeId, event.iteration);
    }
    if (event.type === 'outcome.ended' && !rounds.delete(event.outcomeId))
      faults.push(`${event.seq}: an outcome ends that is not there`);
  }
  return faults;
}
