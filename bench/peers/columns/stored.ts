/** Measurements of sessions in SQLite. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Peer } from '../peer.ts';
import { writtenBytes } from '../process-bytes.ts';
import { CHAPTER, QUESTION, twoCalls } from '../script.ts';
import { measureDiskRate } from '../../disk-rate.ts';
import { withTemporaryFolder } from '../../with-temporary-folder.ts';
import { measureRate, type Rate } from './in-memory.ts';

interface Options {
  readonly quick: boolean;
}

/** Turns of new sessions, and how often a second this disk can append and sync. */
export async function measureDurableRate(
  peer: Peer,
  options: Options,
): Promise<(Rate & { readonly diskRate: number }) | null> {
  if (peer.durable === undefined) return null;
  return withTemporaryFolder(async (folder) => {
    const diskRate = measureDiskRate(folder, options.quick ? 5 : 500);
    return { ...(await measureRate(peer, options, join(folder, 'store.db'))), diskRate };
  });
}

export interface Bytes {
  readonly firstWrittenKb: number;
  readonly firstKeptKb: number;
  readonly lateWrittenKb: number;
  readonly lateKeptKb: number;
}

/** What the first turn of a session writes and keeps, and one of the turns 91 to 100. */
export async function measureBytes(peer: Peer, { quick }: Options): Promise<Bytes | null> {
  if (peer.durable === undefined) return null;
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const agent = await peer.open({ script: twoCalls, readFile: () => CHAPTER, file });
    const count = quick ? 1 : 10;
    // The tables and what belongs to no session.
    await agent.ask('before', QUESTION);
    const measure = async (toSession: (n: number) => string): Promise<[number, number]> => {
      const sizeBefore = databaseSize(file);
      const before = writtenBytes();
      for (let n = 0; n < count; n++) await agent.ask(toSession(n), QUESTION);
      const written = writtenBytes() - before;
      return [written / count / 1024, (databaseSize(file) - sizeBefore) / count / 1024];
    };
    const [firstWrittenKb, firstKeptKb] = await measure((n) => `session-${n}`);
    for (let n = 0; n < (quick ? 1 : 90); n++) await agent.ask('long', QUESTION);
    const [lateWrittenKb, lateKeptKb] = await measure(() => 'long');
    await agent.close();
    return { firstWrittenKb, firstKeptKb, lateWrittenKb, lateKeptKb };
  });
}

/** Prints the size of the database with what is in its log, without free pages. */
const PRINT_SIZE = `
  import { DatabaseSync } from 'node:sqlite';
    const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA busy_timeout = 10000');
  const read = (name) => database.prepare('PRAGMA ' + name).get()[name];
  console.log((read('page_count') - read('freelist_count')) * read('page_size'));
  database.close();`;

/** In another process: a second copy of SQLite in this one would give up the locks of the first, and its log would be lost. */
function databaseSize(file: string): number {
  const args = ['--input-type=module', '--eval', PRINT_SIZE, file];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}
