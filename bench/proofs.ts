import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withTemporaryFolder } from './with-temporary-folder.ts';

/** What `petrichor prove` costs for one agent: the whole command. */
export interface ProofCost {
  readonly agent: string;
  /** The processor time of the command without stored proofs, in seconds. */
  readonly coldSeconds: number;
  /** The most that `coldSeconds` may be. */
  readonly limitSeconds: number;
  readonly maxResidentMb: number;
  /** The processor time of the same command with stored proofs, above that of a process that only imports the agent. */
  readonly warmSeconds: number;
  readonly proved: boolean;
}

interface Usage {
  readonly seconds: number;
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
  'session with control and outcomes': 5,
};

const TIMEOUT_MS = 300_000;
const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CLI = new URL('../dist/cli/cli.js', import.meta.url).href;
const SUBJECT = fileURLToPath(new URL('proof-subject.ts', import.meta.url));
/** Imported first: prints what the process used when it ends. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage(); process.stderr.write('\\nusage ' + JSON.stringify([userCPUTime + systemCPUTime, maxRSS]) + '\\n'); });",
)}`;

/** Measures the command `petrichor prove`, without and with stored proofs. @throws Error when it was not built */
export async function measureProofs({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly ProofCost[]> {
  if (!existsSync(PROGRAM)) throw new Error('There is no dist/: run `npm run build`.');
  const costs: ProofCost[] = [];
  for (const [agent, limitSeconds] of Object.entries(LIMITS).slice(0, quick ? 1 : undefined))
    await withTemporaryFolder(async (folder) => {
      const command = [PROGRAM, 'prove', SUBJECT, '--cache', join(folder, 'proofs')];
      const cold = await run(agent, command);
      const warm = await run(agent, command);
      const imported = await run(agent, [
        '--input-type=module',
        '--eval',
        `await import(${JSON.stringify(CLI)}); await import(${JSON.stringify(SUBJECT)});`,
      ]);
      costs.push({
        agent,
        coldSeconds: cold.seconds,
        limitSeconds,
        maxResidentMb: cold.megabytes,
        warmSeconds: warm.seconds - imported.seconds,
        proved: cold.code === 0 && warm.code === 0,
      });
    });
  return costs;
}

async function run(agent: string, args: readonly string[]): Promise<Usage> {
  const env = { ...process.env, SUBJECT: agent };
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
  // A command that was stopped prints no usage: it took longer than the timeout.
  const [microseconds, kilobytes]: readonly [number, number] = JSON.parse(
    line ?? `[${TIMEOUT_MS * 1000}, 0]`,
  );
  return { seconds: microseconds / 1e6, megabytes: kilobytes / 1024, code: ended.code };
}
