/** Runs test files: many in one process where they can share it, side by side on all cores. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { chooseSampleSeed, SEED_VARIABLE } from '../test/sample-seed.ts';
import { openBundleFolder } from '../test/bundled-program.ts';
import { startMysqlServer } from '../test/mysql/mysql-server.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';
import {
  needsOwnProcess,
  slowestFirst,
  startsProcesses,
  usesMysql,
  usesPostgres,
} from './test-files.ts';
import { showDot, type ReportMessage } from './test-reporter.ts';
import {
  addTotals,
  emptyTotals,
  showCosts,
  summarizeTotals,
  type TestTotals,
} from './test-totals.ts';

const OUTPUT_LINES_SHOWN = 40;

/** The CPU time of every test file in the last run. */
const COSTS = 'node_modules/.cache/test-cpu-seconds.txt';

/** A process for fewer files takes longer to load the package than to run them. */
const LEAST_FILES_PER_PROCESS = 20;

/** Files of one process that start processes. They wait more than they work. */
const STARTING_FILES_PER_PROCESS = 9;

/**
 * Runs the files, prints failures and a summary, and returns the exit code.
 *
 * To start a process and to load the package takes about a second for each file. So files that
 * leave no trace share processes: one per core, and one that works while another waits. The others
 * run beside them, each in its own: they mostly wait for the processes and databases that they start.
 */
export async function runTests(files: readonly string[]): Promise<number> {
  const cores = availableParallelism();
  const apart = files.filter((file) => needsOwnProcess(file) || startsProcesses(file));
  const together = files.filter((file) => !apart.includes(file));

  // One server of each kind for all files, each with a database of its own.
  const postgres = files.some(usesPostgres) ? await startPostgresServer() : undefined;
  if (postgres !== undefined) process.env['PETRICHOR_TEST_POSTGRES_URL'] = postgres.url;
  const mysql = files.some(usesMysql) ? await startMysqlServer() : undefined;
  if (mysql !== undefined) process.env['PETRICHOR_TEST_MYSQL_URL'] = mysql.url;

  const seed = chooseSampleSeed();
  openBundleFolder();
  let dots = 0;
  const show = (message: Exclude<ReportMessage, { totals: TestTotals }>): void => {
    process.stdout.write('failure' in message ? message.failure : showDot((dots += 1)));
  };
  const outcomes: Outcome[] = [];
  const shared = toGroups(slowestFirst(together), cores + 1);
  const own = toOwnGroups(slowestFirst(apart));
  const runQueue = async (queue: (readonly string[])[]): Promise<void> => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift())
      outcomes.push(await runGroup(group, show));
  };
  await Promise.all([
    ...shared.map(async (group) => runQueue([group])),
    ...Array.from({ length: cores }, async () => runQueue(own)),
  ]);
  await postgres?.stop();
  await mysql?.stop();
  console.log(`\nSweeps took the sample ${SEED_VARIABLE}=${seed}.`);
  const totals = addTotals(outcomes.map((outcome) => outcome.totals));
  console.log(summarizeTotals(totals));
  writeFileSync(COSTS, showCosts(totals));
  console.log(`All test files: ${COSTS}`);
  return Math.max(0, ...outcomes.map(({ code }) => code));
}

/**
 * Groups of files for one process each, at most `most`. The files are dealt in turn, because those of one folder take alike
 * long, and so do those that take longest.
 */
function toGroups(files: readonly string[], most: number): readonly (readonly string[])[] {
  const count = Math.min(most, Math.ceil(files.length / LEAST_FILES_PER_PROCESS));
  return Array.from({ length: count }, (_, group) =>
    files.filter((_file, index) => index % count === group),
  );
}

/** Groups of files that share no process with others: files that only start processes go together, the others alone. */
function toOwnGroups(files: readonly string[]): (readonly string[])[] {
  const start = files.filter(startsProcesses);
  const count = Math.ceil(start.length / STARTING_FILES_PER_PROCESS);
  return [
    ...Array.from({ length: count }, (_, group) =>
      start.filter((_file, index) => index % count === group),
    ),
    ...files.filter((file) => !start.includes(file)).map((file) => [file]),
  ];
}

interface Outcome {
  readonly code: number;
  readonly totals: TestTotals;
}

function runGroup(
  files: readonly string[],
  show: (message: Exclude<ReportMessage, { totals: TestTotals }>) => void,
): Promise<Outcome> {
  const { promise, resolve: finish, reject } = Promise.withResolvers<Outcome>();
  const child = spawn(process.execPath, ['scripts/test-process.ts', ...files], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      // What is compiled once serves every test file and every process they start.
      NODE_COMPILE_CACHE: resolve('node_modules/.cache/node'),
      // Without it, a fifth of the time to load the package goes to `realpath`. No import is a link.
      NODE_OPTIONS: '--preserve-symlinks',
      ...process.env,
    },
  });
  // Files that share a process print into it directly.
  const output: string[] = [];
  const keep = (chunk: Buffer): void => {
    output.push(...chunk.toString().trimEnd().split('\n'));
    output.splice(0, output.length - OUTPUT_LINES_SHOWN);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);

  let totals: TestTotals | undefined;
  child.on('message', (message: ReportMessage) => {
    if ('totals' in message) totals = message.totals;
    else show(message);
  });
  child.on('error', reject);
  child.on('close', (code, signal) => {
    const failed = code !== 0 || totals === undefined || totals.failed > 0;
    if (failed && output.length > 0) {
      process.stdout.write(`\nLast output of the process:\n  ${output.join('\n  ')}\n`);
    }
    if (totals === undefined) {
      process.stdout.write(
        `\n✖ A test process ended without a report (${signal ?? `exit code ${code}`}).\n`,
      );
    }
    finish({ code: failed ? (code ?? 1) || 1 : 0, totals: totals ?? emptyTotals() });
  });
  return promise;
}
