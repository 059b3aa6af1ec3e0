import type { CommitResult, SettledStep } from '../store.ts';

interface InDoubtCommit {
  readonly xid: string;
  readonly result: CommitResult;
}

/**
 * Remembers commits with an unknown outcome: the connection broke during the commit, and the server could not be asked.
 * When such a step is committed again, the server is asked first. So the step is neither written twice nor refused as
 * stale because of itself.
 */
export class InDoubtCommits {
  readonly #commits = new WeakMap<SettledStep, InDoubtCommit>();
  readonly #isCommitted: (xid: string) => Promise<boolean>;

  constructor(isCommitted: (xid: string) => Promise<boolean>) {
    this.#isCommitted = isCommitted;
  }

  add(steps: readonly SettledStep[], results: readonly CommitResult[], xid: string): void {
    for (const [index, step] of steps.entries()) {
      const result = results[index];
      if (result?.ok === true) this.#commits.set(step, { xid, result });
    }
  }

  /**
   * Returns the results of the steps that turned out to be committed.
   * @throws StoreUnavailableError while the outcome of a step is still unknown
   */
  async resolve(steps: readonly SettledStep[]): Promise<ReadonlyMap<SettledStep, CommitResult>> {
    const known = new Map<SettledStep, CommitResult>();
    const resolved = new Map<string, boolean>();
    for (const step of steps) {
      const inDoubt = this.#commits.get(step);
      if (inDoubt === undefined) continue;
      const { xid, result } = inDoubt;
      const committed = resolved.get(xid) ?? (await this.#isCommitted(xid));
      resolved.set(xid, committed);
      if (committed) known.set(step, result);
      else this.#commits.delete(step);
    }
    return known;
  }
}
