import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { FOUND_EXIT_CODE } from './report-usage.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';

/** What `petrichor prove` costs for one agent: the whole command. */
export interface ProofCost {
  readonly agent: string;
  /** The processor time of the command without stored proofs, in seconds. */
  readonly coldSeconds: number;
  /** The most that `coldSeconds` may be. */
  readonly limitSeconds: number;
  /** The processor time of the command, without stored proofs, before its first line of output. */
  readonly firstOutputSeconds: number;
  readonly maxResidentMb: number;
  /** The processor time of the same command with stored proofs, after it has imported the agent. */
  readonly warmSeconds: number;
  readonly proved: boolean;
}

/** How soon `petrichor prove` finds a fault of `test/proofs/planted` with its default properties. */
export interface FaultCost {
  readonly fault: string;
  /** The processor time of the command until it has written the trace. */
  readonly traceSeconds: number;
  readonly found: boolean;
}

interface Usage {
  /** Processor times, from the start of the process. */
  readonly seconds: number;
  readonly firstOutputSeconds: number;
  readonly importSeconds: number;
  readonly megabytes: number;
  readonly code: number;
}

/** By agent of `proof-subject.ts`: the limit of a cold proof in seconds. */
const LIMITS: Readonly<Record<string, number>> = {
  'bare agent': 2,
  'agent with ten tools and approvals': 3,
  'sequential of three': 5,
  'parallel of three': 5,
  'loop of three': 5,
  'tree of six': 10,
  'tree of twenty': 60,
  'parallel of ten': 60,
  'workflow of ten nodes': 2,
  'workflow of fifty nodes': 30,
  'session with control inputs': 5,
  'session with control and outcomes': 5,
};

/** By agent: options of the command beside its defaults. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'session with control inputs': ['--control'],
  'session with control and outcomes': ['--control'],
};

/** By fault of `test/proofs/planted`: how the line of its refutation begins. */
const FAULTS: Readonly<Record<string, string>> = {
  'two-locks': '✖ deadlock-free',
  'double-commit': '✖ primary.commit or fallback.commit at most once',
  'unbounded-place': '✖ at most 10 in each place',
  'stale-commit': '✖ no stale commit',
  'bypassed-approval': '✖ charge.send never before its charge.approve',
  'join-behind-branch': '✖ every join gets all its inputs',
  'reask-without-budget': '✖ re-ask budget',
  livelock: '✖ every settling ends',
};

const TIMEOUT_MS = 300_000;
const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const SUBJECT = fileURLToPath(new URL('proof-subject.ts', import.meta.url));
const PLANTED = new URL('../test/proofs/planted/', import.meta.url);
/** Imported first: reports what the process uses, and ends it after the output that `UNTIL` names. */
const REPORT_USAGE = new URL('report-usage.ts', import.meta.url).href;

/** Measures the command `petrichor prove`, without and with stored proofs. @throws Error when it was not built */
export async function measureProofs({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly ProofCost[]> {
  assertBuilt();
  const costs: ProofCost[] = [];
  for (const [agent, limitSeconds] of Object.entries(LIMITS).slice(0, quick ? 1 : undefined))
    await withTemporaryFolder(async (folder) => {
      const options = ['--cache', join(folder, 'proofs'), ...(OPTIONS[agent] ?? [])];
      const command = [PROGRAM, 'prove', SUBJECT, '--strict', ...options];
      const env = { SUBJECT: agent };
      const cold = await run(command, env);
      const warm = await run(command, env);
      costs.push({
        agent,
        coldSeconds: cold.seconds,
        limitSeconds,
        firstOutputSeconds: cold.firstOutputSeconds,
        maxResidentMb: cold.megabytes,
        warmSeconds: warm.seconds - warm.importSeconds,
        proved: cold.code === 0 && warm.code === 0,
      });
    });
  return costs;
}

/** Measures how soon each planted fault is found. @throws Error when the command was not built */
export async function measurePlantedFaults({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly FaultCost[]> {
  assertBuilt();
  const costs: FaultCost[] = [];
  for (const [fault, until] of Object.entries(FAULTS).slice(0, quick ? 1 : undefined)) {
    const file = fileURLToPath(new URL(`${fault}.ts`, PLANTED));
    const { seconds, code } = await run([PROGRAM, 'prove', file, '--no-cache'], { UNTIL: until });
    costs.push({ fault, traceSeconds: seconds, found: code === FOUND_EXIT_CODE });
  }
  return costs;
}

function assertBuilt(): void {
  if (!existsSync(PROGRAM)) throw new Error('There is no dist/: run `npm run build`.');
}

async function run(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Usage> {
  const env = { ...process.env, ...variables };
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: 64_000_000 };
  const ended = await promisify(execFile)(
    process.execPath,
    ['--import', REPORT_USAGE, ...args],
    options,
  ).then(
    ({ stderr }) => ({ stderr, code: 0 }),
    ({ stderr, code }: { readonly stderr: string; readonly code: unknown }) => ({
      stderr,
      code: typeof code === 'number' ? code : 1,
    }),
  );
  const line = /^usage (.*)$/m.exec(ended.stderr)?.[1];
  // A command that was stopped reports nothing: it took longer than the timeout.
  const late = TIMEOUT_MS / 1000;
  const usage: Omit<Usage, 'code'> =
    line === undefined
      ? { seconds: late, firstOutputSeconds: late, importSeconds: 0, megabytes: 0 }
      : JSON.parse(line);
  return { ...usage, code: ended.code };
}
