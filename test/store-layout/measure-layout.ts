import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { PAGE_SIZE } from '../../src/store/sqlite/database/schema.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { twoToolTurn } from './two-tool-turn.ts';

export interface LayoutRun {
  /** The number of sessions with concurrent turns, whose steps are committed together. */
  readonly sessions: number;
  readonly turns: number;
  /** In bytes. Default: the page size of the store. */
  readonly pageSize?: number;
  /**
   * If true, the log is checkpointed as in a store. If false, it never is, so its size is the
   * number of bytes written.
   */
  readonly checkpoint?: boolean;
}

export interface LayoutFigures {
  /** Bytes of write-ahead log by turn, as the mean over the sessions. */
  readonly written: readonly number[];
  /** The growth of the database in bytes, per turn of a session. */
  readonly retained: number;
  readonly turnsPerSecond: number;
  readonly commitsPerSecond: number;
}

/** Runs turns of two tools on a new store and measures what they cost. */
export async function measureLayout(run: LayoutRun): Promise<LayoutFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-layout-'));
  try {
    return await measure(join(folder, 'store.db'), run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(file: string, run: LayoutRun): Promise<LayoutFigures> {
  const { sessions, turns, pageSize = PAGE_SIZE, checkpoint = false } = run;
  presetPageSize(file, pageSize);
  const failpoints = {
    opened: (database: DatabaseSync): void => {
      if (!checkpoint) database.exec('PRAGMA wal_autocheckpoint = 0');
    },
  };
  const store = await openSqliteStore(file, { failpoints });
  await store.join('owner');
  const created = await Promise.all(
    Array.from({ length: sessions }, (_, index) => {
      const key = { appName: 'app', userId: 'user', sessionId: `session-${index}` };
      return store.create(key, {
        agent: 'assistant',
        owner: 'owner',
        at: 0,
        netHash: 'f'.repeat(16),
      });
    }),
  );
  const logSize = (): number => statSync(`${file}-wal`).size;
  const before = logSize();
  const sizeBefore = statSync(file).size + before;

  const written: number[] = [];
  let commits = 0;
  const startedAt = performance.now();
  for (let turn = 0; turn < turns; turn++) {
    const logBefore = logSize();
    const turnSteps = created.map(({ row }) => twoToolTurn(row, turn, 1_700_000_000_000 + turn));
    await Promise.all(
      turnSteps.map(({ input, dedupeKey }, index) =>
        store.inject(created[index]?.row.key ?? fail('no session'), input, dedupeKey),
      ),
    );
    for (let step = 0; step < 4; step++) {
      const results = await store.commit(
        turnSteps.map(({ steps }) => steps[step] ?? fail('no step')),
      );
      if (!results.every(({ ok }) => ok)) fail('a step was refused');
    }
    commits += 5;
    written.push((logSize() - logBefore) / sessions);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await store.close();
  return {
    written,
    retained: (statSync(file).size - sizeBefore) / sessions / turns,
    turnsPerSecond: (turns * sessions) / seconds,
    commitsPerSecond: commits / seconds,
  };
}

/** The page size of a database is set at its creation. */
function presetPageSize(file: string, pageSize: number): void {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA page_size = ${pageSize}; CREATE TABLE t (x); DROP TABLE t`);
  database.close();
}

function fail(problem: string): never {
  throw new Error(problem);
}
