import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { MemoryStore } from '../../store/internal.ts';
import { StoreSessionService } from './store-session-service.ts';

/** Options of `InMemorySessionService`. */
export interface InMemorySessionOptions {
  /** Supplies the time of events. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `InMemorySessionService`. */
export const IN_MEMORY_SESSION_OPTIONS: OptionTable = optionTable<InMemorySessionOptions>(
  'InMemorySessionService',
  {
    clock: true,
  },
);

/** Keeps sessions in the memory of this process. They are lost when it ends. */
export class InMemorySessionService extends StoreSessionService {
  constructor(options: InMemorySessionOptions = {}) {
    if (new.target === InMemorySessionService) checkOptions(IN_MEMORY_SESSION_OPTIONS, options);
    super(async () => new MemoryStore(), options.clock);
  }
}
