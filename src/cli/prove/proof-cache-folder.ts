import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { CliContext } from '../command/cli-context.ts';

/**
 * Returns the default folder of stored proofs: in `node_modules/.cache` of the project that contains `cwd`, or else in
 * `$XDG_CACHE_HOME` or `~/.cache`. Each version of the package has a folder of its own. Undefined if there is none.
 */
export function findProofCacheFolder({
  cwd,
  env,
  version,
}: Pick<CliContext, 'cwd' | 'env' | 'version'>): string | undefined {
  const path = ['petrichor', 'proofs', version];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (existsSync(modules)) return join(modules, '.cache', ...path);
    if (folder === dirname(folder)) break;
  }
  const { XDG_CACHE_HOME: caches = '', HOME: home = '' } = env;
  if (isAbsolute(caches)) return join(caches, ...path);
  return isAbsolute(home) ? join(home, '.cache', ...path) : undefined;
}
