import { importOptional } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { DispatchRequest, DispatchTarget, SessionDispatcher } from '../../runtime/index.ts';
import { parseDriveRequest, type DriveRequest } from './drive-request.ts';
import { RestateEndpoint } from './restate-endpoint.ts';
import { MissingRestatePackageError } from './restate-errors.ts';
import { RestateIngress } from './restate-ingress.ts';
import { parseRestateOptions, toServiceName } from './restate-options.ts';
import type { RestateOptions, RestateSettings } from './restate-options.ts';

/** The pause before a session that was left alone is tried again: it doubles, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** About 30 seconds. Then the session waits until a runtime finds it in the store. */
const MAX_ATTEMPTS = 12;

/** A dispatcher whose requests go through a Restate server. */
export interface RestateDispatcher extends SessionDispatcher {
  /** The port on which Restate calls this process. 0 before `start`. */
  readonly port: number;
}

/**
 * Creates a dispatcher for a fleet: Restate sends each session to one process at a time, and to another one when that
 * process dies. The journal stays in the store, which all processes share.
 * @throws InvalidInputError for an unknown or invalid option
 */
export function restateDispatcher(options: RestateOptions): RestateDispatcher {
  return new Dispatcher(parseRestateOptions(options));
}

class Dispatcher implements RestateDispatcher {
  readonly #settings: RestateSettings;
  #ingress: RestateIngress | undefined;
  #endpoint: RestateEndpoint | undefined;

  constructor(settings: RestateSettings) {
    this.#settings = settings;
  }

  get port(): number {
    return this.#endpoint?.port ?? 0;
  }

  /**
   * Listens for drives.
   * @throws MissingRestatePackageError
   * @throws InvalidInputError when the port is in use, and for an application that needs the option `service`
   */
  async start(target: DispatchTarget): Promise<void> {
    const { service = toServiceName(target.app) } = this.#settings;
    const sdk = await importOptional(
      import('@restatedev/restate-sdk/node'),
      (cause) => new MissingRestatePackageError(cause),
    );
    const ingress = new RestateIngress(this.#settings, service);
    this.#ingress = ingress;
    this.#endpoint = await RestateEndpoint.listen({
      sdk,
      settings: this.#settings,
      service,
      drive: async (objectKey, value) =>
        driveOnce(parseDriveRequest(value, objectKey, target.app), target, ingress),
      onError: (error) => target.onError(error),
    });
  }

  async dispatch({ key, id, at }: DispatchRequest): Promise<void> {
    const delayMs = at === undefined ? 0 : at - systemClock.now();
    await this.#ingress?.send({ key, id, attempt: 0 }, delayMs);
  }

  async close(): Promise<void> {
    await this.#endpoint?.close();
  }
}

/**
 * Drives a session to rest, and asks for the next drive. Nothing is written to Restate's journal: a drive that is
 * repeated after a crash finds in the store what is left.
 * @throws the error of the store, and RestateUnavailableError: Restate repeats the drive
 */
async function driveOnce(
  { key, id, attempt }: DriveRequest,
  target: DispatchTarget,
  ingress: RestateIngress,
): Promise<void> {
  const result = await target.drive(key);
  if (result.state === 'left') {
    if (attempt + 1 >= MAX_ATTEMPTS) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
    await ingress.send({ key, id, attempt: attempt + 1 }, pauseMs);
  } else if (result.next !== undefined) {
    const { next } = result;
    await ingress.send({ key, id: next.id, attempt: 0 }, (next.at ?? 0) - systemClock.now());
  }
}
