import { importOptional } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { DispatchRequest, DispatchTarget, SessionDispatcher } from '../../runtime/index.ts';
import { driveOnce } from './drive-once.ts';
import { parseDriveRequest } from './drive-request.ts';
import { RestateEndpoint } from './restate-endpoint.ts';
import { MissingRestatePackageError } from './restate-errors.ts';
import { RestateIngress } from './restate-ingress.ts';
import { parseRestateOptions, toServiceName } from './restate-options.ts';
import type { RestateOptions, RestateSettings } from './restate-options.ts';

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
      parse: (value, objectKey) => parseDriveRequest(value, objectKey, target.app),
      drive: async (request) => driveOnce(request, target, ingress),
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
