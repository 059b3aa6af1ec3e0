import { readFileSync } from 'node:fs';

export interface InstalledPackages {
  /** What an installation of the package brings with it, by name. */
  readonly names: readonly string[];
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

const NODE_MODULES = 'node_modules/';

/** The packages that the lock has for users: not those for development, and not optional peers. */
export async function measureInstalledPackages(): Promise<InstalledPackages> {
  const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(text);
  const names = Object.entries(lock.packages)
    .filter(([path]) => path.startsWith(NODE_MODULES))
    .filter(([, { dev, optional, devOptional }]) => !(dev ?? optional ?? devOptional ?? false))
    .map(([path]) => path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length));
  return { names };
}
