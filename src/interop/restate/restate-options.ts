import { checkDefinition, isLoopbackHost } from '../../core/internal.ts';
import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';

/** The options of {@link restateDispatcher}. */
export interface RestateOptions {
  /** The URL of Restate's ingress, such as `http://127.0.0.1:8080`. */
  readonly ingress: string;
  /** The port on which Restate calls this process; 0 for any free one. Default: 9080. */
  readonly port?: number;
  /** The address to listen on. An address other than a loopback address needs `identityKeys`. Default: 127.0.0.1. */
  readonly hostname?: string;
  /**
   * The public keys of Restate's request identity (`publickeyv1_…`). With them, only a Restate server that has the
   * private key of one can call. Default: none.
   */
  readonly identityKeys?: readonly string[];
  /** The token for Restate's ingress. Default: none. */
  readonly token?: string;
  /**
   * The name of the virtual object. Applications that share a Restate server need different ones. Default:
   * `petrichor.` and the name of the application.
   */
  readonly service?: string;
  /**
   * How long Restate waits for a drive before it calls another process, in milliseconds. A drive that takes longer goes
   * on: the other process finds the session taken. Default: 10 minutes.
   */
  readonly maxDriveMs?: number;
}

const RESTATE_OPTIONS: OptionTable = optionTable<RestateOptions>('restateDispatcher', {
  ingress: true,
  port: true,
  hostname: true,
  identityKeys: true,
  token: true,
  service: true,
  maxDriveMs: true,
});

/** The options of a dispatcher, checked. */
export interface RestateSettings {
  /** Ends without a slash. */
  readonly ingress: string;
  readonly port: number;
  readonly hostname: string;
  readonly identityKeys: readonly string[];
  readonly token: string | undefined;
  readonly service: string | undefined;
  readonly maxDriveMs: number;
}

const DEFAULT_PORT = 9080;
const DEFAULT_MAX_DRIVE_MS = 600_000;
/** What a header can carry. The error of another one would repeat it. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The names that Restate accepts for services. */
const SERVICE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,199}$/;

/** @throws InvalidInputError */
export function parseRestateOptions(options: RestateOptions): RestateSettings {
  checkDefinition(RESTATE_OPTIONS, options);
  const {
    port = DEFAULT_PORT,
    hostname = '127.0.0.1',
    identityKeys = [],
    maxDriveMs = DEFAULT_MAX_DRIVE_MS,
    token,
    service,
  } = options;
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new InvalidInputError('port', `must be an integer from 0 to 65535; it is ${port}.`);
  if (!Number.isSafeInteger(maxDriveMs) || maxDriveMs <= 0)
    throw new InvalidInputError('maxDriveMs', `must be an integer above 0; it is ${maxDriveMs}.`);
  if (!isLoopbackHost(hostname) && identityKeys.length === 0)
    throw new InvalidInputError(
      'hostname',
      `"${hostname}" is reachable from other machines. Name the public key of Restate's request identity in identityKeys.`,
    );
  for (const key of identityKeys)
    if (!key.startsWith('publickeyv1_'))
      throw new InvalidInputError('identityKeys', 'a key must begin with "publickeyv1_".');
  if (service !== undefined && !SERVICE_NAME.test(service))
    throw new InvalidInputError(
      'service',
      `must be letters, digits, dots, dashes and underscores, and begin with a letter; it is "${service}".`,
    );
  if (token !== undefined && !TOKEN.test(token))
    throw new InvalidInputError(
      'token',
      'must be printable ASCII characters without spaces, and not empty.',
    );
  const ingress = parseIngress(options.ingress);
  return { ingress, port, hostname, identityKeys, token, service, maxDriveMs };
}

/** The name of the virtual object for an application. @throws InvalidInputError */
export function toServiceName(app: string): string {
  const name = `petrichor.${app}`;
  if (SERVICE_NAME.test(name)) return name;
  throw new InvalidInputError(
    'service',
    `is needed: "${name}", from the name of the application, is no name of a Restate service.`,
  );
}

function parseIngress(text: string): string {
  const url = URL.parse(text);
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  )
    throw new InvalidInputError(
      'ingress',
      'must be an http or https URL without user, query and fragment, such as http://127.0.0.1:8080.',
    );
  return url.href.replace(/\/+$/, '');
}
