/** Programs of tests in one file each: a process that loads hundreds of modules starts two to three times as slowly. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
/** The folder of the bundles of a run. Sources do not change during a run, so a bundle is made once. */
const FOLDER_VARIABLE = 'PETRICHOR_TEST_BUNDLES';
/** Inside `node_modules`, so that a bundle finds the packages. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'test-bundles');

/**
 * Creates the folder of the bundles of this process and of those that it starts, unless there is one. It is removed when
 * the process ends.
 */
export function openBundleFolder(): string {
  const known = process.env[FOLDER_VARIABLE];
  if (known !== undefined) return known;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'run-'));
  process.env[FOLDER_VARIABLE] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The program with all its modules in one file, with a source map. It must not read files beside itself.
 * @returns the path of the file, or of the source where esbuild is not installed: it has one native package per platform
 */
export function bundleProgram(program: URL): string {
  const source = fileURLToPath(program);
  const name = relative(ROOT, source).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '.mjs');
  const bundle = join(openBundleFolder(), name);
  if (existsSync(bundle)) return bundle;
  const buildSync = loadBundler();
  if (buildSync === undefined) return source;
  const { outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile: bundle,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  // Two processes can make the same bundle at the same time. The map comes first, so that a bundle always has one.
  for (const { path, contents } of outputFiles.toSorted((a, b) => b.path.length - a.path.length)) {
    const own = `${path}.${process.pid}`;
    writeFileSync(own, contents);
    renameSync(own, path);
  }
  return bundle;
}

/** The part of esbuild that is used here. */
type BuildSync = (options: Readonly<Record<string, unknown>>) => {
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array }[];
};

function loadBundler(): BuildSync | undefined {
  const require = createRequire(import.meta.url);
  try {
    const { buildSync }: { readonly buildSync: BuildSync } = require('esbuild');
    return buildSync;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')
      return undefined;
    throw error;
  }
}
