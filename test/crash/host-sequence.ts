import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildHost } from './child-host.ts';
import type { Failpoint, HostOptions } from './host-messages.ts';
import { readSessions } from './read-sessions.ts';
import type { StoredSession } from './read-sessions.ts';
import { readSideEffects } from './side-effects.ts';
import { findFaults } from './find-faults.ts';
import type { Evidence } from './find-faults.ts';

/** A sequence of processes that host the same sessions, and the evidence that they left. */
export class HostSequence implements Disposable {
  readonly #folder: string;
  readonly #accepted = new Map<string, string[]>();
  readonly #committed = new Map<number, ReadonlySet<string>>();
  #run = 0;
  /** Number of processes that ended during a turn. */
  endedMidTurn = 0;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'petrichor-crash-'));
  }

  get database(): string {
    return join(this.#folder, 'store.db');
  }

  get runs(): number {
    return this.#run;
  }

  /** The options of the next process. */
  next(more: { readonly variant?: string; readonly failpoint?: Failpoint } = {}): HostOptions {
    return {
      database: this.database,
      effects: join(this.#folder, 'effects.jsonl'),
      variant: 'plain',
      run: ++this.#run,
      ...more,
    };
  }

  /** Collects the evidence after a process has ended. */
  async ended(child: ChildHost): Promise<void> {
    await child.exited;
    for (const messageId of child.accepted) {
      const session = messageId.slice(0, messageId.lastIndexOf('-'));
      this.#accepted.set(session, [...(this.#accepted.get(session) ?? []), messageId]);
    }
    const stored = [...this.sessions.values()];
    const results = stored.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'tool.result' ? [event.callId] : [])),
    );
    this.#committed.set(this.#run, new Set(results));
    if (stored.some(({ status }) => status !== 'idle')) this.endedMidTurn++;
    const gaps = stored.flatMap((session) => session.gaps);
    if (gaps.length > 0) throw new Error(`After process ${this.#run}: ${gaps.join(', ')}`);
  }

  /** Number of messages of a session that are known to be accepted. */
  countAccepted(session: string): number {
    return new Set(this.#accepted.get(session)).size;
  }

  /** Reads the sessions without the store. Empty when there is no file yet. */
  get sessions(): ReadonlyMap<string, StoredSession> {
    try {
      return readSessions(this.database);
    } catch (error) {
      if (/unable to open|no such table/.test(String(error))) return new Map();
      throw error;
    }
  }

  get evidence(): Evidence {
    return {
      sessions: this.sessions,
      effects: readSideEffects(join(this.#folder, 'effects.jsonl')),
      accepted: this.#accepted,
      committed: this.#committed,
    };
  }

  get faults(): readonly string[] {
    return findFaults(this.evidence);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
