import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { openStore, UnsupportedStoreUrlError, parseStoreUrl } from '../../store/internal.ts';
import { StoreSessionService } from './store-session-service.ts';

/** Options of `SqliteSessionService`. */
export interface SqliteSessionOptions {
  /** Supplies the time of events. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `SqliteSessionService`. */
export const SQLITE_SESSION_OPTIONS: OptionTable = optionTable<SqliteSessionOptions>(
  'SqliteSessionService',
  {
    clock: true,
  },
);

/**
 * Stores sessions in a SQLite file: a path, `sqlite:///relative.db`, `sqlite:////absolute.db`, or `:memory:`. The file
 * is opened on first use, and created if it does not exist.
 * @throws UnsupportedStoreUrlError if the URL names another kind of database
 */
export class SqliteSessionService extends StoreSessionService {
  constructor(file: string, options: SqliteSessionOptions = {}) {
    if (new.target === SqliteSessionService) checkOptions(SQLITE_SESSION_OPTIONS, options);
    if (['postgres', 'mysql'].includes(parseStoreUrl(file).kind))
      throw new UnsupportedStoreUrlError('SqliteSessionService takes a file, not a server.');
    super(async () => openStore(file), options.clock);
  }
}
