/** Exports of `adk/` for other folders of `src/`. The package does not publish them. */

export { ingestMemory } from './sessions/ingest-memory.ts';
