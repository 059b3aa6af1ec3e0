import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { median } from './statistics.ts';

export interface ImportTime {
  /** A process that imports nothing. */
  readonly bareMs: number;
  /** A process that imports the root entry, as built. */
  readonly importMs: number;
  /** The files that the import reads: ours and those of our dependencies. */
  readonly files: readonly string[];
}

const ENTRY = new URL('../dist/index.js', import.meta.url);

/** How long a program waits for `import 'petrichor'`. @throws Error when it was not built */
export async function measureImportTime({
  quick,
}: {
  readonly quick: boolean;
}): Promise<ImportTime> {
  if (!existsSync(ENTRY)) throw new Error('There is no dist/: run `npm run build`.');
  const bare: number[] = [];
  const imported: number[] = [];
  // In turns, so that both meet the same machine.
  for (let round = quick ? 0 : -1; round < (quick ? 1 : 21); round++) {
    const bareMs = processMs('');
    const importMs = processMs(`import ${JSON.stringify(ENTRY.href)}`);
    if (round < 0) continue;
    bare.push(bareMs);
    imported.push(importMs);
  }
  return { bareMs: median(bare), importMs: median(imported), files: listFiles() };
}

function listFiles(): readonly string[] {
  const program = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({
      load(url, context, next) {
        if (url.startsWith('file:')) files.push(url);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(ENTRY.href)});
    console.log(JSON.stringify(files));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(output.toString());
}

function processMs(program: string): number {
  const startedAt = performance.now();
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'pipe' });
  return performance.now() - startedAt;
}
