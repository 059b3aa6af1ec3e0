import type { Clock } from '../../net/index.ts';
import { openStore } from '../../store/open/open-store.ts';
import { UnsupportedStoreUrlError } from '../../store/store-errors.ts';
import { parseStoreUrl } from '../../store/open/store-url.ts';
import { StoreSessionService } from './store-session-service.ts';

/**
 * Sessions in a SQLite file: a path, `sqlite:///relative.db`, `sqlite:////absolute.db`, or `:memory:`. The file is
 * opened, and made if there is none, on first use.
 * @throws UnsupportedStoreUrlError for any other database
 */
export class SqliteSessionService extends StoreSessionService {
  constructor(file: string, options: { readonly clock?: Clock } = {}) {
    if (parseStoreUrl(file).kind === 'postgres')
      throw new UnsupportedStoreUrlError('SqliteSessionService takes a file, not a server.');
    super(async () => openStore(file), options.clock);
  }
}
