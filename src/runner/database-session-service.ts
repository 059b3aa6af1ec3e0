import type { Clock } from '../net/index.ts';
import { openStore } from '../store/open-store.ts';
import { parseStoreUrl } from '../store/store-url.ts';
import { StoreSessionService } from './store-session-service.ts';

/**
 * Sessions in a database, by its URL: `sqlite:///./adk.db`, `sqlite+aiosqlite:///:memory:`, a plain path. It is opened
 * on first use, and that throws what the opening of the store throws.
 * @throws UnsupportedStoreUrlError, InvalidInputError
 */
export class DatabaseSessionService extends StoreSessionService {
  constructor(url: string, options: { readonly clock?: Clock } = {}) {
    parseStoreUrl(url);
    super(async () => openStore(url), options.clock);
  }
}
