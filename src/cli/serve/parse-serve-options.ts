import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { ProtocolName, ServerOptions } from '../../server/index.ts';
import { DEFAULT_PROTOCOLS, parseProtocolNames } from '../../server/protocol-list.ts';
import { parseTrustedProxies } from '../../server/internal.ts';
import { parseDuration } from '../terminal/duration.ts';
import { DEFAULT_PORT, type ServeCall } from './serve-options.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';

const DEFAULT_DRAIN_TIMEOUT = '30s';

type ServerLimits = NonNullable<ServerOptions['limits']>;

/** The file with the agents: the operand, or `--agents`. @throws UsageError for both */
export function parseAgentsFile({ values, operands }: ServeCall): string | undefined {
  const [file] = operands;
  if (file === undefined || values.agents === undefined) return file ?? values.agents;
  throw new UsageError(
    `--agents "${values.agents}" and the file "${file}" are the same option. Name one file.`,
    'serve',
  );
}

/** Parses `--port`. @throws UsageError */
export function parsePort(value: string | undefined): number {
  const port = Number(value ?? DEFAULT_PORT);
  if (Number.isSafeInteger(port) && port >= 0 && port < 65_536 && value !== '') return port;
  throw new UsageError(`--port must be a number from 0 to 65535; it is "${value}".`, 'serve');
}

/** Parses the options that limit requests. @throws UsageError */
export function parseLimits({ values }: ServeCall): ServerLimits {
  const bodyBytes = parseCount('max-body', values['max-body']);
  const importBytes = parseCount('max-import', values['max-import']);
  const createsPerMinute = parseCount('creates-per-minute', values['creates-per-minute']);
  const requestsPerMinute = parseCount('requests-per-minute', values['requests-per-minute']);
  const failedKeysPerMinute = parseCount(
    'failed-keys-per-minute',
    values['failed-keys-per-minute'],
  );
  const liveConnections = parseCount('live-connections', values['live-connections']);
  return omitUndefined({
    liveConnections,
    bodyBytes,
    importBytes,
    createsPerMinute,
    requestsPerMinute,
    failedKeysPerMinute,
  });
}

/** Parses `--protocols`. @throws UsageError */
export function parseProtocols({ values }: ServeCall): readonly ProtocolName[] {
  if (values.protocols === undefined) return DEFAULT_PROTOCOLS;
  const names = values.protocols.split(',').map((name) => name.trim());
  try {
    return parseProtocolNames(names);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new UsageError(`--${error.message}`, 'serve');
  }
}

/** Checks `--trust-proxy`. @throws UsageError */
export function checkTrustedProxies({ values }: ServeCall): void {
  try {
    parseTrustedProxies(values['trust-proxy'], '--trust-proxy');
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new UsageError(error.message, 'serve');
  }
}

/** Parses `--retry-window`. @throws UsageError */
export function parseRetryWindow({ values }: ServeCall): { readonly retryWindowMs?: number } {
  const value = values['retry-window'];
  if (value === undefined) return {};
  const ms = value === '0' ? 0 : parseDuration(value);
  if (ms !== undefined) return { retryWindowMs: ms };
  throw new UsageError(
    `--retry-window must be 0 or a duration such as 30s or 2m; it is "${value}".`,
    'serve',
  );
}

/** Parses `--drain-timeout`, in milliseconds. @throws UsageError */
export function parseDrainTimeout({ values }: ServeCall): number {
  const value = values['drain-timeout'] ?? DEFAULT_DRAIN_TIMEOUT;
  const ms = value === '0' ? 0 : parseDuration(value);
  if (ms !== undefined) return ms;
  throw new UsageError(
    `--drain-timeout must be 0 or a duration such as 30s or 2m; it is "${value}".`,
    'serve',
  );
}

/** The most processes of one server. */
const MAX_WORKERS = 64;

/** Parses `--workers`. @throws UsageError also for a store that processes cannot share */
export function parseWorkers({ values }: ServeCall): number {
  const { workers: value, store = DEFAULT_STORE } = values;
  if (value === undefined) return 1;
  const workers = Number(value);
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > MAX_WORKERS)
    throw new UsageError(
      `--workers must be a number from 1 to ${MAX_WORKERS}; it is "${value}".`,
      'serve',
    );
  if (workers > 1 && store.startsWith('memory:'))
    throw new UsageError(
      `--workers ${workers} needs a store that processes share, such as sqlite:petrichor.db or postgres://…; --store is "${store}".`,
      'serve',
    );
  return workers;
}

function parseCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError(`--${name} must be a whole number above 0; it is "${value}".`, 'serve');
}
