/** Measurements of a package without running it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Peer } from '../peer.ts';
import { petrichorProject } from '../petrichor-package.ts';

interface Options {
  readonly quick: boolean;
}

const folderOf = (peer: Peer): string =>
  peer.name === 'petrichor' ? petrichorProject : join(import.meta.dirname, '..');

/** CPU of a process that imports the entries, above one that imports nothing; and the files it loads. */
export async function measureImport(
  peer: Peer,
  { quick }: Options,
): Promise<{ readonly importCpuMs: number; readonly files: number }> {
  const imports = peer.entries.map((entry) => `await import(${JSON.stringify(entry)});`).join('');
  const run = (program: string): number =>
    Number(
      execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
        cwd: folderOf(peer),
        encoding: 'utf8',
      })
        .trim()
        .split('\n')
        .at(-1),
    );
  const cpu = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';
  const end = 'process.exit();';
  const bare: number[] = [];
  const imported: number[] = [];
  for (let n = 0; n < (quick ? 1 : 7); n++) {
    bare.push(run(cpu + end));
    imported.push(run(imports + cpu + end));
  }
  const hooks = `import { registerHooks } from 'node:module'; let files = 0;
    registerHooks({ load: (url, context, next) => { if (url.startsWith('file:')) files++; return next(url, context); } });`;
  const files = run(`${hooks} ${imports} console.log(files); ${end}`);
  // The least: what other programs of the machine add is not a cost of the package.
  return { importCpuMs: Math.min(...imported) - Math.min(...bare), files };
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** Packages that an installation for this platform brings, with required peers, and their size. */
export async function measureInstalled(
  peer: Peer,
): Promise<{ readonly packages: number; readonly installedMb: number }> {
  const folder = folderOf(peer);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = resolve(packages, name, from);
    if (path === undefined || found.has(path)) return;
    const locked = packages[path] ?? {};
    if (!fitsPlatform(locked)) return;
    found.add(path);
    for (const dependency of required(locked)) visit(dependency, path);
  };
  for (const name of peer.packages) visit(name, '');
  const bytes = [...found].reduce((sum, path) => sum + folderSize(join(folder, path)), 0);
  return { packages: found.size, installedMb: bytes / 1_000_000 };
}

function required(locked: LockedPackage): readonly string[] {
  const peers = Object.keys(locked.peerDependencies ?? {}).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [
    ...Object.keys(locked.dependencies ?? {}),
    ...Object.keys(locked.optionalDependencies ?? {}),
    ...peers,
  ];
}

/** Finds a package as Node does: in the folder itself, then in those above it. */
function resolve(
  packages: Readonly<Record<string, LockedPackage>>,
  name: string,
  from: string,
): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (at === '') return undefined;
  }
}

function fitsPlatform({ os, cpu, libc }: LockedPackage): boolean {
  return (
    (os?.includes(process.platform) ?? true) &&
    (cpu?.includes(process.arch) ?? true) &&
    (libc?.includes('glibc') ?? true)
  );
}

function folderSize(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += folderSize(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}

/** Programs with a tool, streaming, an approval and a restart: lines that are neither empty nor a comment. */
const programs: Readonly<Record<string, string>> = {
  petrichor: 'examples/migrate-agent.ts',
  ai: 'test/migration/ai-sdk.ts',
  '@openai/agents': 'test/migration/openai-agents.ts',
  '@langchain/langgraph': 'test/migration/langgraph.ts',
  '@google/adk': 'test/migration/adk.ts',
};

export async function countLines(peer: Peer): Promise<{ readonly lines: number } | null> {
  const program = programs[peer.name];
  if (program === undefined) return null;
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', program), 'utf8');
  // The scripted model stands for one name of a model.
  const own = text.replace(/^const model = new ScriptedModel\(\[\n[^]*?^\]\);\n/m, '');
  const lines = own.split('\n').map((line) => line.trim());
  return { lines: lines.filter((line) => line !== '' && !/^(?:\/\/|\/\*\*)/.test(line)).length };
}
