import type { SessionKey } from '../../core/index.ts';
import type { MemoryEntry, MemoryService } from '../memory/memory-service.ts';
import { NoServiceError } from './no-service-error.ts';

/** The memory of the user a tool works for. */
export interface ToolMemory {
  /**
   * Returns the best matches first, at most `limit`. Default: 10. Rejects with `NoServiceError` if
   * the runtime has no memory service.
   */
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
