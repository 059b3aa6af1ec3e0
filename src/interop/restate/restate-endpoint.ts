import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type * as restate from '@restatedev/restate-sdk/node';
import { getErrorCode, toListenError } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { DriveRequest } from './drive-request.ts';
import type { RestateSettings } from './restate-options.ts';

export interface RestateEndpointOptions {
  readonly sdk: typeof restate;
  readonly settings: RestateSettings;
  readonly service: string;
  /** @throws InvalidInputError for a request that can never be done */
  readonly parse: (request: unknown, objectKey: string) => DriveRequest;
  /** When it throws, Restate repeats the request. */
  readonly drive: (request: DriveRequest) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** After the last drive, Restate remembers its id for this time, so that a request that was sent twice counts once. */
const REMEMBER_MS = 5_000;
/** The pauses between two calls of a drive that failed, and the number of calls after which Restate gives up. */
const RETRY = {
  initialInterval: 100,
  exponentiationFactor: 2,
  maxInterval: 5_000,
  maxAttempts: 30,
};

/** How long `close` waits for the responses of drives that have ended, in milliseconds. */
const LAST_RESPONSES_MS = 1_000;
/** How long Restate may keep an unused connection, in milliseconds. */
const KEEP_ALIVE_MS = 60_000;
const IN_USE_REMEDY = 'Choose another port for Restate, or end the other program.';

/**
 * The port on which Restate calls this process: one virtual object, with one object for each session. It speaks
 * HTTP/1.1, in which each drive has a connection of its own, so that anything that spreads connections spreads drives.
 */
export class RestateEndpoint {
  readonly #server: Server;
  /** Resolves for each request when its response was sent, or its connection was lost. */
  readonly #responses = new Set<Promise<void>>();
  readonly #drives = new Set<Promise<void>>();

  private constructor(options: RestateEndpointOptions) {
    const drive: RestateEndpointOptions['drive'] = async (request) => {
      const driven = options.drive(request);
      const ended = driven.catch(() => {});
      this.#drives.add(ended);
      void ended.then(() => this.#drives.delete(ended));
      await driven;
    };
    this.#server = createServer(
      { keepAliveTimeout: KEEP_ALIVE_MS },
      createHandler({ ...options, drive }),
    );
    this.#server.on('request', (_request, response) => {
      const sent = new Promise<void>((resolve) => response.once('close', resolve));
      this.#responses.add(sent);
      void sent.then(() => this.#responses.delete(sent));
    });
  }

  /** @throws InvalidInputError when the port is in use */
  static async listen(options: RestateEndpointOptions): Promise<RestateEndpoint> {
    const endpoint = new RestateEndpoint(options);
    const { port, hostname } = options.settings;
    await new Promise<void>((resolve, reject) => {
      endpoint.#server.once('error', (error) =>
        reject(toListenError(error, { port, hostname }, IN_USE_REMEDY)),
      );
      endpoint.#server.listen(port, hostname, resolve);
    });
    endpoint.#server.on('error', options.onError);
    return endpoint;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Takes no more drives, and resolves when those in progress have ended and Restate knows it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    await Promise.all(this.#drives);
    // A request that never ends has no drive, and no response.
    const limit = new AbortController();
    await Promise.race([
      Promise.all(this.#responses),
      setTimeout(LAST_RESPONSES_MS, undefined, { signal: limit.signal }).catch(() => {}),
    ]);
    limit.abort();
    this.#server.closeAllConnections();
    await closed;
  }
}

function createHandler({
  sdk,
  settings: { identityKeys, maxDriveMs },
  service,
  parse,
  drive,
  onError,
}: RestateEndpointOptions): ReturnType<typeof restate.createEndpointHandler> {
  const object = sdk.object({
    name: service,
    description: 'Sessions of Petrichor. The journal is in their store.',
    handlers: {
      drive: async (context: restate.ObjectContext, value: unknown): Promise<void> => {
        const request = parseOrRefuse(() => parse(value, context.key), sdk);
        try {
          await drive(request);
        } catch (error) {
          onError(error);
          throw toDriveFailure(error);
        }
      },
    },
    options: {
      inactivityTimeout: maxDriveMs,
      abortTimeout: 1_000,
      journalRetention: 0,
      idempotencyRetention: REMEMBER_MS,
      retryPolicy: { ...RETRY, onMaxAttempts: 'kill' },
    },
  });
  return sdk.createEndpointHandler({
    services: [object],
    bidirectional: false,
    ...(identityKeys.length > 0 && { identityKeys: [...identityKeys] }),
    // What a drive throws has been reported.
    logger: ({ level }, message) => {
      if (isErrorLevel(level) && message !== undefined) onError(new Error(`Restate: ${message}`));
    },
  });
}

/** @throws TerminalError for an invalid request: Restate does not repeat it */
function parseOrRefuse(
  parse: () => DriveRequest,
  { TerminalError }: Pick<typeof restate, 'TerminalError'>,
): DriveRequest {
  try {
    return parse();
  } catch (error) {
    throw error instanceof InvalidInputError ? new TerminalError(error.message) : error;
  }
}

/** The package declares the enum of its levels, but does not export it: its members are read as text. */
function isErrorLevel(level: string): boolean {
  return level === 'error';
}

/** What Restate stores and logs of a drive that failed: neither the message nor the stack, which can have secrets. */
function toDriveFailure(error: unknown): Error {
  const failure = new Error(
    `The drive failed (${getErrorCode(error) ?? 'internal_error'}). The log of its process has the error.`,
  );
  delete failure.stack;
  return failure;
}
