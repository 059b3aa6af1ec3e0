/** The test files of the project, and how they can run. */
import { globSync, readFileSync } from 'node:fs';

/** Folders whose tests a `package.json` of their own or a script of their own runs, or that take minutes. */
const foldersApart = [
  'test/adk-comparison/parity',
  'test/bench',
  'test/create',
  'test/deploy',
  'test/long',
  'test/migration',
  'test/node-22',
  'test/protocols',
  'test/restate',
];

/** Every test file that `npm test` runs, sorted. */
export function listTestFiles(): readonly string[] {
  return globSync('{src,test,examples}/**/*.test.ts', {
    exclude: foldersApart.map((folder) => `${folder}/**`),
  })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

/**
 * What a test file contains if it cannot share a process: it changes the environment; or it walks the heap, which takes
 * seconds where many files have left theirs.
 */
const ownProcess =
  /embedded-postgres|node:v8|process\.(?:env\[[^\]]*\] = |chdir|exitCode)|delete process\.env/;

/** Whether a test file runs in a process of its own. */
export function needsOwnProcess(path: string): boolean {
  return ownProcess.test(readFileSync(path, 'utf8'));
}

/**
 * What a test file contains, or where it is, if it starts and kills processes or breaks connections, or reads the
 * environment: a crash or a late exit may reach other tests, so it shares a process with few.
 */
const processes = /^test\/(?:crash|postgres|mysql)\/|node:child_process|process\.env\[/;

/** Whether a test file starts processes, and changes nothing in its own. */
export function startsProcesses(path: string): boolean {
  if (needsOwnProcess(path)) return false;
  return processes.test(path) || processes.test(readFileSync(path, 'utf8'));
}

/** Whether a test file connects to PostgreSQL. */
export function usesPostgres(path: string): boolean {
  return readFileSync(path, 'utf8').includes('startPostgresServer');
}

/** Whether a test file connects to MySQL. */
export function usesMysql(path: string): boolean {
  return readFileSync(path, 'utf8').includes('startMysqlServer');
}

/** What a slow test imports, or where it is. */
const slow = /node:child_process|fast-check|\/smt\/|embedded-postgres|proofs\/|prove|sqlite/;

/** Whether a test file starts processes, databases, provers or property searches. */
export function isSlow(path: string): boolean {
  return slow.test(path) || slow.test(readFileSync(path, 'utf8'));
}

/**
 * Files that take longest, the longest first. Of those with a process of their own none starts last, and the others are
 * dealt to different processes.
 */
const longest = [
  'test/proofs/flows.test.ts',
  'test/verify/differential.test.ts',
  'test/mutants.test.ts',
  'test/proofs/live.test.ts',
  'test/proofs/managed.test.ts',
  'test/security/hostile-mcp.test.ts',
  'test/proofs/agent.test.ts',
  'test/proofs/contracts.test.ts',
  'test/upgrade/released-sessions.test.ts',
  'test/proofs/cases.test.ts',
  'test/live/live-agents-crashes.test.ts',
  'test/server/conformance.test.ts',
  'src/tools/schema/validate-value.test.ts',
  'test/diagrams.test.ts',
  'test/security/two-tenants.test.ts',
  'test/postgres/postgres-store.test.ts',
  'test/mysql/mysql-store.test.ts',
  'test/crash/kills-at-failpoints.test.ts',
  'test/crash/runner-kill.test.ts',
  'test/examples/examples.test.ts',
  'examples/testing/crash.test.ts',
  'test/postgres/connection-breaks.test.ts',
];

/** The files, those that take longest first. */
export function slowestFirst(files: readonly string[]): readonly string[] {
  const known = longest.filter((file) => files.includes(file));
  return [...known, ...files.filter((file) => !known.includes(file))];
}
