import type { SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from '../memory/memory-service.ts';
import { NoServiceError } from './no-service-error.ts';

/** What is remembered of the user a tool works for. */
export interface ToolMemory {
  /** What fits best comes first; at most `limit`, 10 unless said. Rejects with NoServiceError where nothing is remembered. */
  readonly search: (
    query: string,
    options?: { readonly limit?: number },
  ) => Promise<readonly MemoryEntry[]>;
}

export function toolMemory(service: MemoryService | undefined, session: SessionKey): ToolMemory {
  return {
    search: async (query, options) => {
      if (service === undefined) throw new NoServiceError('memory');
      return service.search(session, query, options);
    },
  };
}
