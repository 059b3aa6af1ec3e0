import { STATUS_TABLE } from '../../src/core/index.ts';
import type { LogEvent, SessionStatus } from '../../src/core/index.ts';
import type { SettledStep } from '../../src/store/index.ts';

/**
 * The status of a session according to its log, which checks that each change is in the status table. A pause,
 * completion or archival overrides the base status.
 */
export class LogStatus {
  readonly faults: string[] = [];
  #base: SessionStatus = 'queued';
  #override: SessionStatus | undefined;
  #turn: string | undefined;

  get status(): SessionStatus {
    return this.#override ?? this.#base;
  }

  apply(event: LogEvent): void {
    switch (event.type) {
      case 'turn.started':
        this.#turn = event.invocationId;
        this.#checkNotPaused(event);
        return this.#changeBase('running', event);
      case 'turn.waiting':
        return this.#changeBase('waiting', event);
      case 'turn.resumed':
        return this.#changeBase('running', event);
      case 'turn.rescheduled':
        return this.#changeBase('rescheduling', event);
      case 'model.attempt':
        // A retry that was stopped with its process continues, also under a pause: it had started.
        if (this.#base !== 'rescheduling') return undefined;
        this.#checkNotPaused(event);
        return this.#changeBase('running', event);
      case 'turn.ended':
        if (this.#turn !== event.invocationId) return undefined;
        this.#turn = undefined;
        // The waiting work is stopped, and the turn runs to its end.
        this.#changeBase('running', event);
        return this.#changeBase(
          event.stopReason === 'retries_exhausted' ? 'failed' : 'idle',
          event,
        );
      case 'session.rewound':
        return this.#base === 'failed' ? this.#changeBase('idle', event) : undefined;
      case 'session.paused':
        return this.#setOverride('paused', event);
      case 'session.resumed':
        return this.#resume(event);
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

  #changeBase(to: SessionStatus, event: LogEvent): void {
    if (this.#override === 'completed' || this.#override === 'archived')
      this.faults.push(`${event.seq} ${event.type} in a session that is ${this.#override}`);
    if (this.#base !== to) this.#check(this.#base, to, event);
    this.#base = to;
  }

  #setOverride(to: SessionStatus, event: LogEvent): void {
    // Archiving a paused session removes the pause, and ends its turn.
    this.#check(this.status, to, event);
    this.#override = to;
  }

  #resume(event: LogEvent): void {
    if (this.#override !== 'paused') return;
    this.#override = undefined;
    this.#check('paused', this.#base, event);
  }

  #check(from: SessionStatus, to: SessionStatus, { seq, type }: LogEvent): void {
    if (!STATUS_TABLE[from].includes(to)) this.faults.push(`${seq} ${type}: ${from} -> ${to}`);
  }
}

/** Compares the status of the row after each step with that of the log. Returns the faults, one sentence each. */
export function findStatusFaults(
  steps: readonly Pick<SettledStep, 'events' | 'summary'>[],
): readonly string[] {
  const logStatus = new LogStatus();
  const faults: string[] = [];
  for (const { events, summary } of steps) {
    for (const event of events) logStatus.apply(event);
    if (summary.status !== logStatus.status)
      faults.push(
        `after ${events.at(-1)?.seq}: the row has status ${summary.status}, the log ${logStatus.status}`,
      );
  }
  return [...logStatus.faults, ...faults];
}
