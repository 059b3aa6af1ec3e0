import type { Clock } from '../../net/index.ts';
import { openStore, UnsupportedStoreUrlError, parseStoreUrl } from '../../store/internal.ts';
import { StoreSessionService } from './store-session-service.ts';

/**
 * Stores sessions in a SQLite file: a path, `sqlite:///relative.db`, `sqlite:////absolute.db`, or `:memory:`. The file
 * is opened on first use, and created if it does not exist.
 * @throws UnsupportedStoreUrlError if the URL names another kind of database
 */
export class SqliteSessionService extends StoreSessionService {
  constructor(file: string, options: { readonly clock?: Clock } = {}) {
    if (['postgres', 'mysql'].includes(parseStoreUrl(file).kind))
      throw new UnsupportedStoreUrlError('SqliteSessionService takes a file, not a server.');
    super(async () => openStore(file), options.clock);
  }
}
