import { formatSessionKey } from '../../core/index.ts';
import type { DriveRequest } from './drive-request.ts';
import { RestateUnavailableError } from './restate-errors.ts';
import type { RestateSettings } from './restate-options.ts';

/** How long a request to the ingress may take, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** Restate refuses delays of some 100,000 years. A drive that begins too early asks for the next one. */
const MAX_DELAY_MS = 10 * 365 * 24 * 3_600_000;

/** Sends drives to Restate, which keeps each until a node has done it. */
export class RestateIngress {
  readonly #settings: Pick<RestateSettings, 'ingress' | 'token'>;
  readonly #service: string;

  constructor(settings: Pick<RestateSettings, 'ingress' | 'token'>, service: string) {
    this.#settings = settings;
    this.#service = service;
  }

  /**
   * Sends a one-way drive. Restate ignores a second one with the same id and attempt.
   * @param delayMs milliseconds until the drive begins
   * @throws RestateUnavailableError
   */
  async send(request: DriveRequest, delayMs: number): Promise<void> {
    const { ingress, token } = this.#settings;
    const object = encodeURIComponent(formatSessionKey(request.key));
    const delay = delayMs > 0 ? `?delay=${Math.ceil(Math.min(delayMs, MAX_DELAY_MS))}ms` : '';
    const post = async (): Promise<Response> =>
      fetch(`${ingress}/${this.#service}/${object}/drive/send${delay}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': `${request.id}/${request.attempt}`,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(request),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    const response = await post()
      .catch(async (error: unknown) => {
        // The other side may have closed an unused connection at this moment.
        if (error instanceof Error && error.name === 'TimeoutError') throw error;
        return post();
      })
      .catch((error: unknown) => {
        throw new RestateUnavailableError(ingress, undefined, error);
      });
    await response.body?.cancel();
    if (!response.ok) throw new RestateUnavailableError(ingress, response.status);
  }
}
