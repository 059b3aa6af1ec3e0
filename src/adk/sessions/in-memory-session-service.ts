import type { Clock } from '../../net/index.ts';
import { MemoryStore } from '../../store/internal.ts';
import { StoreSessionService } from './store-session-service.ts';

/** Keeps sessions in the memory of this process. They are lost when it ends. */
export class InMemorySessionService extends StoreSessionService {
  constructor(options: { readonly clock?: Clock } = {}) {
    super(async () => new MemoryStore(), options.clock);
  }
}
