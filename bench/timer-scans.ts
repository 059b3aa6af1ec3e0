import { Client } from 'pg';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';
import { median } from './statistics.ts';

/** Looks for work in a PostgreSQL store in which all sessions wait for a timer. */
export interface TimerScans {
  readonly sessions: number;
  /** Milliseconds of a look that finds the timers of half a second. */
  readonly scanMs: number;
  /** The same when 10,000 timers are overdue. */
  readonly overdueScanMs: number;
  /** Statements of each look. */
  readonly statements: number;
}

const AT = 1_700_000_000_000;
const SESSIONS = 1_000_000;
const LOOKS = 200;

/** Null when quick, because a server and its sessions take long, and where there is no PostgreSQL. */
export async function measureTimerScans({
  quick,
}: {
  readonly quick: boolean;
}): Promise<TimerScans | null> {
  const server = quick ? undefined : await startPostgresServer({ restartable: true });
  if (server === undefined) return null;
  let statements = 0;
  const store = await openPostgresStore(server.url, { onStatement: () => statements++ });
  try {
    await store.join('node');
    await insertWaitingSessions(server.url, SESSIONS);
    const measure = async (firstNow: number): Promise<number> => {
      const times: number[] = [];
      for (let look = 0; look < LOOKS; look++) {
        const now = firstNow + look * 10;
        const begin = performance.now();
        await store.findRunnable({ owner: 'node', agents: ['assistant'], now, limit: 256 });
        times.push(performance.now() - begin);
      }
      return median(times);
    };
    statements = 0;
    // 10,000 timers per minute are 83 in half a second.
    const scanMs = await measure(AT + 500);
    const perLook = statements / LOOKS;
    const overdueScanMs = await measure(AT + 60_000);
    return { sessions: SESSIONS, scanMs, overdueScanMs, statements: perLook };
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
