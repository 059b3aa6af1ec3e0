import { join } from 'node:path';
import { openRuntime } from '../src/index.ts';
import { openMeasuredStore } from './measured-store.ts';
import { runFreshTurn, twoToolAgent } from './two-tool-agent.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';

/** What a new session and its first turn cost on SQLite, as the mean over sessions, one after the other. */
export interface FirstTurns {
  /** Bytes of write-ahead log. */
  readonly writtenBytes: number;
  /** Bytes the database file is larger by. */
  readonly retainedBytes: number;
}

const SESSIONS = 50;

export async function measureFirstTurns(): Promise<FirstTurns> {
  return withTemporaryFolder(async (folder) => {
    const { store, written, size } = await openMeasuredStore(join(folder, 'store.db'));
    try {
      await using runtime = await openRuntime({ agents: [twoToolAgent()], store });
      await runFreshTurn(runtime, 'before');
      const before = size();
      for (let n = 0; n < SESSIONS; n++) await runFreshTurn(runtime, `session-${n}`);
      const writtenBytes = written() / SESSIONS;
      return { writtenBytes, retainedBytes: (size() - before) / SESSIONS };
    } finally {
      await store.close();
    }
  });
}
