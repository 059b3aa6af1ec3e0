/** Runs on the lowest Node version that the package supports, against `dist/`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

interface PackageJson {
  readonly engines: { readonly node: string };
  readonly bin: { readonly petrichor: string };
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const root = join(import.meta.dirname, '..', '..');
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;

async function run(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...args], { cwd });
  return stdout;
}

test('this process runs the lowest Node version of package.json', () => {
  const [major, minor] = process.versions.node.split('.');
  assert.equal(packageJson.engines.node, `>=${major}.${minor}`);
});

test('the program of the README runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-lowest-node-'));
  try {
    const types = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];
    const program = join(root, 'examples', 'readme.ts');
    for (let n = 0; n < 2; n++)
      assert.match(await run([...types, program], folder), /^The session has \d+ events\.$/m);
  } finally {
    await rm(folder, { recursive: true });
  }
});

for (const [entry, to] of Object.entries(packageJson.exports)) {
  if (typeof to === 'string') continue;
  test(`petrichor${entry.slice(1)} can be imported`, async () => {
    const loaded = (await import(pathToFileURL(join(root, to.default)).href)) as object;
    assert.ok(Object.keys(loaded).length > 0);
  });
}

test('the command line program runs', async () => {
  assert.match(
    await run([join(root, packageJson.bin.petrichor), 'help'], root),
    /^ +serve \[FILE\] +Serve agents/m,
  );
});
