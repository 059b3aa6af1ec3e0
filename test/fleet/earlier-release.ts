import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The sources of an earlier release in a temporary folder, which Node runs as they are. */
export interface EarlierRelease {
  readonly commit: string;
  /** Its program `petrichor`. */
  readonly main: string;
  /** The agents of the fleet, beside these sources. */
  readonly agents: string;
  readonly remove: () => void;
}

/**
 * Takes an earlier release from the history of the repository: the commit of `PETRICHOR_EARLIER_COMMIT`, or the one
 * before the schema of the PostgreSQL store changed last. Undefined where there is no history.
 */
export async function openEarlierRelease(): Promise<EarlierRelease | undefined> {
  const commit = findCommit();
  if (commit === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-earlier-'));
  const files = ['src', 'package.json', 'package-lock.json', 'tsconfig.json'];
  const archive = execFileSync('git', ['archive', commit, ...files], {
    cwd: ROOT,
    maxBuffer: 1 << 30,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  providePackages(folder);
  mkdirSync(join(folder, 'test', 'fleet'), { recursive: true });
  const agents = join(folder, 'test', 'fleet', 'fleet-agents.ts');
  cpSync(join(import.meta.dirname, 'fleet-agents.ts'), agents);
  return {
    commit,
    main: join(folder, 'src', 'cli', 'main.ts'),
    agents,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Links the packages of this checkout, or installs those of the release when this checkout lacks one of them. */
function providePackages(folder: string): void {
  const { dependencies = {} }: { readonly dependencies?: Readonly<Record<string, string>> } =
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const isThere = (name: string): boolean => existsSync(join(ROOT, 'node_modules', name));
  if (Object.keys(dependencies).every(isThere))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
}

function findCommit(): string | undefined {
  const given = process.env['PETRICHOR_EARLIER_COMMIT'];
  if (given !== undefined && given !== '') return given;
  try {
    const changed = runGit('log', '--format=%H', '-1', '--', 'src/store/postgres/schema.ts');
    return changed === '' ? undefined : runGit('rev-parse', `${changed}^`);
  } catch {
    return undefined;
  }
}

function runGit(...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
