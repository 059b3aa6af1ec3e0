import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';
import { median } from './statistics.ts';

/** Looks for work in a PostgreSQL store in which all sessions wait for a timer. */
export interface TimerScans {
  readonly sessions: number;
  /** Milliseconds of CPU in the server for a look that finds the timers of a second. */
  readonly scanMs: number;
  /** The same when 10,000 timers are overdue. */
  readonly overdueScanMs: number;
  /** Milliseconds in this process and in the server until the answer, which depends on what else the machine does. */
  readonly waitMs: number;
  /** Statements of each look. */
  readonly statements: number;
}

const AT = 1_700_000_000_000;
const SESSIONS = 1_000_000;
const LOOKS = 500;

/** Null when quick, because a server and its sessions take long, and where there is no PostgreSQL. */
export async function measureTimerScans({
  quick,
}: {
  readonly quick: boolean;
}): Promise<TimerScans | null> {
  const server = quick ? undefined : await startPostgresServer({ restartable: true });
  if (server === undefined) return null;
  let statements = 0;
  const store = await openPostgresStore(server.url, {
    onStatement: () => statements++,
    // So that one process of the server makes all looks.
    maxConnections: 1,
  });
  try {
    await store.join('node');
    await insertWaitingSessions(server.url, SESSIONS);
    const times: number[] = [];
    const measure = async (firstNow: number): Promise<number> => {
      const readCpuMs = await findScanningProcess(server.url, async () => look(firstNow));
      const cpuMs = readCpuMs();
      for (let index = 0; index < LOOKS; index++) {
        const begin = performance.now();
        await look(firstNow + index);
        times.push(performance.now() - begin);
      }
      return (readCpuMs() - cpuMs) / LOOKS;
    };
    const look = async (now: number): Promise<void> => {
      await store.findRunnable({ owner: 'node', agents: ['assistant'], now, limit: 256 });
    };
    const scanMs = await measure(AT + 1000);
    const before = statements;
    await look(AT);
    const perLook = statements - before;
    const overdueScanMs = await measure(AT + 60_000);
    return {
      sessions: SESSIONS,
      scanMs,
      overdueScanMs,
      waitMs: median(times),
      statements: perLook,
    };
  } finally {
    await store.close();
    await server.stop();
  }
}

/** 10,000 of the timers fall due in the first minute, the others in the year after. */
async function insertWaitingSessions(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO petrichor.sessions (app, user_id, name, uid, agent, owner, epoch, head, last_seq, last_record, last_input,
      inbox_up_to, status, in_flight, next_due_at, failures, net_hash, created_at, updated_at, changed, created)
    SELECT 'app', 'u' || n % 1000, 's' || n, 'uid' || n, 'assistant', 'former' || n % 50, 1, 1, 1, 1, 0, 0, 'waiting', 0,
      CASE WHEN n % (${count} / 10000) = 0 THEN ${AT} + n % 60000 ELSE ${AT} + 60000 + (n * 31536.0)::bigint END,
      0, 'hash', ${AT} - n, ${AT} - n, pg_current_xact_id(), pg_current_xact_id()
    FROM generate_series(1, ${count}) AS n`);
  await client.query('VACUUM ANALYZE petrichor.sessions');
  await client.end();
}

/** Finds the server process that runs a look, and returns a function that reads the CPU time of that process. */
async function findScanningProcess(url: string, look: () => Promise<void>): Promise<() => number> {
  await look();
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query LIKE '%WITH RECURSIVE%' AND pid <> pg_backend_pid()",
  );
  await client.end();
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error('More than one process may scan.');
  return () => {
    // Linux: user and system time in ticks of 10 ms, after the name in parentheses.
    const stat = readFileSync(`/proc/${row.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(stat[11]) + Number(stat[12])) * 10;
  };
}
