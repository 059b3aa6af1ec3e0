import { formatSessionKey } from '../../src/core/index.ts';
import type {
  DispatchRequest,
  DispatchTarget,
  SessionDispatcher,
} from '../../src/runtime/index.ts';

/**
 * Dispatchers of processes that share a queue in memory. Each request goes to the next process in turn; requests for one
 * session run one after the other.
 */
export class QueueDispatchers {
  /** The ids of all requests, in order. */
  readonly requests: string[] = [];
  /** Requests that are lost instead of kept. */
  losesRequests = false;
  /** Requests for timers are kept for ever. */
  losesTimers = false;
  /** Number of requests that were lost. */
  lost = 0;
  readonly #targets: DispatchTarget[] = [];
  readonly #last = new Map<string, Promise<void>>();
  #next = 0;

  create(): SessionDispatcher {
    let target: DispatchTarget | undefined;
    return {
      start: async (started) => {
        target = started;
        this.#targets.push(started);
      },
      dispatch: async (request) => this.#add(request),
      close: async () => {
        if (target !== undefined) this.#targets.splice(this.#targets.indexOf(target), 1);
      },
    };
  }

  #add(request: DispatchRequest): void {
    if (this.losesRequests) {
      this.lost++;
      throw new Error('The queue is away.');
    }
    this.requests.push(request.id);
    if (this.losesTimers && request.at !== undefined) return;
    const delayMs = Math.max(0, (request.at ?? 0) - Date.now());
    setTimeout(() => this.#enqueue(request), delayMs).unref();
  }

  #enqueue(request: DispatchRequest): void {
    const name = formatSessionKey(request.key);
    const run = (this.#last.get(name) ?? Promise.resolve()).then(async () => this.#drive(request));
    this.#last.set(name, run);
  }

  async #drive(request: DispatchRequest): Promise<void> {
    const target = this.#targets[this.#next++ % this.#targets.length];
    if (target === undefined) return;
    const result = await target.drive(request.key);
    if (result.state === 'left') setTimeout(() => this.#enqueue(request), 5).unref();
    else if (result.next !== undefined) this.#add(result.next);
  }
}
