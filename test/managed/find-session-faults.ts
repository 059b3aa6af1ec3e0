import type { LogEvent } from '../../src/core/index.ts';
import { STATUS_TABLE } from '../../src/managed/index.ts';
import type { ManagedStatus } from '../../src/managed/index.ts';
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

/** The status according to the log. A pause, completion or archival overrides the base status. */
class LogStatus {
  readonly faults: string[] = [];
  #base: ManagedStatus = 'queued';
  #override: ManagedStatus | undefined;
  #turn: string | undefined;

  get status(): ManagedStatus {
    return this.#override ?? this.#base;
  }

  apply(event: LogEvent): void {
    switch (event.type) {
      case 'turn.started':
        this.#turn = event.invocationId;
        this.#checkNotPaused(event);
        return this.#changeStatus('running', event);
      case 'turn.waiting':
        return this.#changeStatus('idle', event);
      case 'turn.resumed':
        return this.#changeStatus('running', event);
      case 'turn.rescheduled':
        return this.#changeStatus('rescheduling', event);
      case 'model.attempt':
        // A retry that was stopped with its process continues, also under a pause: it had started.
        if (this.#base !== 'rescheduling') return undefined;
        this.#checkNotPaused(event);
        return this.#changeStatus('running', event);
      case 'turn.ended':
        if (this.#turn !== event.invocationId) return undefined;
        this.#turn = undefined;
        // The waiting work is stopped, and the turn runs to its end.
        this.#changeStatus('running', event);
        return this.#changeStatus(
          event.stopReason === 'retries_exhausted' ? 'failed' : 'idle',
          event,
        );
      case 'session.paused':
        return this.#setOverride('paused', event);
      case 'session.resumed':
        if (this.#override === 'paused') this.#override = undefined;
        return undefined;
      case 'session.completed':
        return this.#setOverride('completed', event);
      case 'session.archived':
        return this.#setOverride('archived', event);
      default:
        return undefined;
    }
  }

  #checkNotPaused({ seq, type }: LogEvent): void {
    if (this.#override === 'paused') this.faults.push(`${seq} ${type} while it is paused`);
  }

  #changeStatus(to: ManagedStatus, { seq, type }: LogEvent): void {
    if (this.#override === 'completed' || this.#override === 'archived')
      this.faults.push(`${seq} ${type} in a session that is ${this.#override}`);
    if (this.#base !== to && !STATUS_TABLE[this.#base].includes(to))
      this.faults.push(`${seq} ${type}: ${this.#base} -> ${to}`);
    this.#base = to;
  }

  #setOverride(to: ManagedStatus, { seq, type }: LogEvent): void {
    if (!STATUS_TABLE[this.status].includes(to))
      this.faults.push(`${seq} ${type}: ${this.status} -> ${to}`);
    this.#override = to;
  }
}

function statusFaults({ steps, status }: SessionResult): readonly string[] {
  const logStatus = new LogStatus();
  const faults: string[] = [];
  for (const { events, summary } of steps) {
    for (const event of events) logStatus.apply(event);
    // A waiting session is idle for the clients that can answer it.
    const rowStatus = summary.phase === 'waiting' ? 'idle' : summary.phase;
    if (rowStatus !== logStatus.status)
      faults.push(
        `after ${events.at(-1)?.seq}: the row has status ${rowStatus}, the log ${logStatus.status}`,
      );
  }
  if (status !== logStatus.status)
    faults.push(`at the end the row has status ${status}, the log ${logStatus.status}`);
  return [...logStatus.faults, ...faults];
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
