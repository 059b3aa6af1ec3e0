/** Programs of tests in one file each: a process that loads hundreds of modules starts two to three times as slowly. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

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
 * @returns the path of the file
 */
export async function bundleProgram(program: URL): Promise<string> {
  const source = fileURLToPath(program);
  const known = bundles.get(source);
  if (known !== undefined) return known;
  const made = makeBundle(source);
  bundles.set(source, made);
  return made;
}

const bundles = new Map<string, Promise<string>>();

async function makeBundle(source: string): Promise<string> {
  const name = relative(ROOT, source).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '.mjs');
  const bundle = join(openBundleFolder(), name);
  if (existsSync(bundle)) return bundle;
  // Two processes can make the same bundle at the same time: each writes its own, with its map, and then renames it.
  const own = `${name}.${process.pid}`;
  await build({
    cwd: ROOT,
    input: source,
    // Packages, without the helper functions that the transformation adds.
    external: /^(?!@oxc-project\/)[@a-z]/,
    platform: 'node',
    logLevel: 'warn',
    output: {
      dir: openBundleFolder(),
      entryFileNames: own,
      format: 'esm',
      codeSplitting: false,
      sourcemap: true,
    },
  });
  renameSync(join(openBundleFolder(), own), bundle);
  return bundle;
}
