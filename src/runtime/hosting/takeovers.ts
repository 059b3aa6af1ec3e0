import { formatSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { DriveRequests } from '../scheduling/drive-requests.ts';
import type { DriveResult } from '../scheduling/session-dispatcher.ts';

export interface TakeoversOptions {
  /** Does all work that a session has now. */
  readonly driveToRest: (key: SessionKey) => Promise<DriveResult>;
  readonly requests: Pick<DriveRequests, 'add' | 'addTimer'>;
  readonly onError: (error: unknown, key: SessionKey) => void;
}

/**
 * Drives sessions in this process although there is a dispatcher: those whose drive may be at a process that hangs, or
 * on a machine that is gone. The dispatcher would let another drive wait until that one ends. The store decides whether
 * this process may have the session.
 */
export class Takeovers {
  readonly #options: TakeoversOptions;
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: TakeoversOptions) {
    this.#options = options;
  }

  /** Starts to drive the session. If it may not run here, asks the dispatcher for a drive. */
  start(row: SessionRow): void {
    const name = formatSessionKey(row.key);
    if (this.#running.has(name)) return;
    this.#running.set(
      name,
      this.#drive(row).finally(() => this.#running.delete(name)),
    );
  }

  /** Resolves when the drives in progress have ended. */
  async whenEnded(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #drive(row: SessionRow): Promise<void> {
    const { driveToRest, requests, onError } = this.#options;
    try {
      const result = await driveToRest(row.key);
      if (result.state === 'left') requests.add(row);
      else if (result.next !== undefined) requests.addTimer(result.next);
    } catch (error) {
      onError(error, row.key);
    }
  }
}
