import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { openStore } from '../../store/open/open-store.ts';
import { parseStoreUrl } from '../../store/open/store-url.ts';
import { StoreSessionService } from './store-session-service.ts';

/** How the database is reached. All but `clock` is for PostgreSQL, and refused for other databases. */
export interface DatabaseSessionOptions {
  readonly clock?: Clock;
  /** How many connections are kept, 10 unless given. */
  readonly poolSize?: number;
  /** How many more there may be while all are in use; none unless given. */
  readonly maxOverflow?: number;
  /** A connection that is older, in seconds, is replaced; any age unless given. */
  readonly poolRecycle?: number;
  /** Gets the text of every SQL statement. */
  readonly echo?: (statement: string) => void;
  /** The schema of the tables, made if there is none; `petrichor` unless given. */
  readonly schema?: string;
  /** TLS as `pg` takes it in `ssl`; as the URL says unless given. */
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
 * Sessions in a database, by its URL: `postgresql+asyncpg://user:password@host/db`, `sqlite:///./adk.db`,
 * `sqlite+aiosqlite:///:memory:`, a plain path. It is opened on first use, and that throws what the opening of the store
 * throws. PostgreSQL needs the package `pg`; any number of processes may share the sessions in it.
 * @throws UnsupportedStoreUrlError, InvalidInputError
 */
export class DatabaseSessionService extends StoreSessionService {
  constructor(url: string, options: DatabaseSessionOptions = {}) {
    checkOptions(DATABASE_SESSION_OPTIONS, options);
    const { clock, poolSize = POOL_SIZE, maxOverflow = 0, poolRecycle, echo, ...rest } = options;
    if (parseStoreUrl(url).kind !== 'postgres') {
      const [other] = Object.keys(options).filter((name) => name !== 'clock');
      if (other !== undefined)
        throw new InvalidInputError(other, 'is for PostgreSQL: leave it out for another database.');
      super(async () => openStore(url), clock);
      return;
    }
    checkCount('poolSize', poolSize, 1);
    checkCount('maxOverflow', maxOverflow, 0);
    const store = {
      ...rest,
      maxConnections: poolSize + maxOverflow,
      ...(poolRecycle !== undefined && { connectionMaxAgeMs: poolRecycle * 1000 }),
      ...(echo !== undefined && { onStatement: echo }),
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
