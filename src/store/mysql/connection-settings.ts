import type { ConnectionOptions } from 'mysql2/promise';
import { UnsupportedStoreUrlError } from '../store-errors.ts';

const DEFAULT_PORT = 3306;

/** A parsed URL of a MySQL or MariaDB database. */
export interface MysqlAddress {
  /** The URL with host and database only, without user, password and options. */
  readonly location: string;
  readonly database: string;
  /** True: the server refuses whatever would change something. */
  readonly isReadOnly: boolean;
  readonly settings: Pick<
    ConnectionOptions,
    'host' | 'port' | 'user' | 'password' | 'database' | 'socketPath' | 'ssl'
  >;
}

/**
 * Parses `mysql://user:password@host:port/database`. A driver after `+` is ignored. Parameters: `socketPath` names a
 * local socket, `ssl=true` asks for TLS, `readOnly=true` for connections that cannot
 * change anything, `charset` must be `utf8mb4`.
 * @throws UnsupportedStoreUrlError, which names a part of the URL and no value
 */
export function parseMysqlUrl(url: string): MysqlAddress {
  const parsed = URL.parse(url.replace(/^[a-z]+(?:\+[a-z0-9_]+)?:/i, 'mysql:'));
  if (parsed === null) throw new UnsupportedStoreUrlError('The MySQL URL cannot be parsed.');
  const database = decodeURIComponent(parsed.pathname.slice(1));
  if (database === '')
    throw new UnsupportedStoreUrlError(
      'The MySQL URL names no database: create one, and add "/" and its name.',
    );
  const { socketPath, ssl, isReadOnly } = parseParameters(parsed.searchParams);
  return {
    location: `mysql://${parsed.host}/${encodeURIComponent(database)}`,
    database,
    isReadOnly,
    settings: {
      host: parsed.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost',
      port: Number(parsed.port || DEFAULT_PORT),
      user: decodeURIComponent(parsed.username),
      password: decodeURIComponent(parsed.password),
      database,
      ...(socketPath !== undefined && { socketPath }),
      ...(ssl && { ssl: {} }),
    },
  };
}

function parseParameters(parameters: URLSearchParams): {
  readonly socketPath: string | undefined;
  readonly ssl: boolean;
  readonly isReadOnly: boolean;
} {
  for (const [name, value] of parameters) {
    const isKnown =
      name === 'socketPath' ||
      (['ssl', 'readOnly'].includes(name) && ['true', 'false'].includes(value)) ||
      (name === 'charset' && value.toLowerCase() === 'utf8mb4');
    if (!isKnown)
      throw new UnsupportedStoreUrlError(
        `The parameter "${name}" of a MySQL URL is unknown, or has an unknown value: use socketPath=<path>, ssl=true, readOnly=true or charset=utf8mb4.`,
      );
  }
  return {
    socketPath: parameters.get('socketPath') ?? undefined,
    ssl: parameters.get('ssl') === 'true',
    isReadOnly: parameters.get('readOnly') === 'true',
  };
}
