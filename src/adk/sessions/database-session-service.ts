import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { openStore, parseStoreUrl } from '../../store/internal.ts';
import { StoreSessionService } from './store-session-service.ts';

/**
 * How to connect to the database. All options except `clock` are for PostgreSQL and MySQL, and are rejected for other
 * databases.
 */
export interface DatabaseSessionOptions {
  readonly clock?: Clock;
  /** Number of connections to keep open. Default: 10. */
  readonly poolSize?: number;
  /** Number of additional connections allowed while all others are in use. Default: 0. */
  readonly maxOverflow?: number;
  /** Maximum age of a connection, in seconds, before it is replaced. Default: no limit. */
  readonly poolRecycle?: number;
  /** Receives the text of every SQL statement. */
  readonly echo?: (statement: string) => void;
  /** PostgreSQL: schema of the tables; MySQL: what their names begin with. Default: `petrichor`. */
  readonly schema?: string;
  /** TLS options as the packages `pg` and `mysql2` take them in `ssl`. Default: taken from the URL. */
  readonly tls?: boolean | object;
}

/** The options of `DatabaseSessionService`. */
export const DATABASE_SESSION_OPTIONS: OptionTable = optionTable<DatabaseSessionOptions>(
  'DatabaseSessionService',
  {
    clock: true,
    poolSize: true,
    maxOverflow: true,
    poolRecycle: true,
    echo: true,
    schema: true,
    tls: true,
  },
);

const POOL_SIZE = 10;

/**
 * Stores sessions in a database given by URL: `postgresql+asyncpg://user:password@host/db`, `sqlite:///./adk.db`,
 * `sqlite+aiosqlite:///:memory:`, `mysql+pymysql://user:password@host/db`, or a plain path. The database is opened on first use, so errors of opening it are
 * thrown by the first call. PostgreSQL needs the package `pg`, and MySQL and MariaDB
 * `mysql2`; any number of processes may share their sessions.
 * @throws UnsupportedStoreUrlError if the URL names another kind of database
 * @throws InvalidInputError if an option is invalid or not supported for this database
 */
export class DatabaseSessionService extends StoreSessionService {
  constructor(url: string, options: DatabaseSessionOptions = {}) {
    checkOptions(DATABASE_SESSION_OPTIONS, options);
    const { clock, poolSize = POOL_SIZE, maxOverflow = 0, poolRecycle, echo, ...rest } = options;
    if (!['postgres', 'mysql'].includes(parseStoreUrl(url).kind)) {
      const [other] = Object.keys(options).filter((name) => name !== 'clock');
      if (other !== undefined)
        throw new InvalidInputError(
          other,
          'is supported for PostgreSQL and MySQL only: omit it for other databases.',
        );
      super(async () => openStore(url), clock);
      return;
    }
    checkCount('poolSize', poolSize, 1);
    checkCount('maxOverflow', maxOverflow, 0);
    const store = {
      ...rest,
      maxConnections: poolSize + maxOverflow,
      ...omitUndefined({
        connectionMaxAgeMs: poolRecycle === undefined ? undefined : poolRecycle * 1000,
        onStatement: echo,
      }),
    };
    super(async () => openStore(url, store), clock);
  }
}

function checkCount(field: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new InvalidInputError(
    field,
    `must be a whole number of at least ${least}; it is ${value}.`,
  );
}
