import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const project = mkdtempSync(join(tmpdir(), 'petrichor-declarations-'));
after(() => rmSync(project, { recursive: true }));

/** Copies a package, because through a link the packages of this repository would be found. */
function install(name: string, ...parts: readonly string[]): void {
  const from = name === 'petrichor' ? root : join(root, 'node_modules', name);
  const to = join(project, 'node_modules', name);
  mkdirSync(dirname(to), { recursive: true });
  for (const part of parts.length > 0 ? parts : ['.'])
    cpSync(join(from, part), join(to, part), { recursive: true });
}

test('the declarations of every entry compile with skipLibCheck: false without optional peers', async () => {
  install('petrichor', 'package.json', 'dist');
  for (const name of [...Object.keys(packageJson.dependencies), '@types/node', 'undici-types'])
    install(name);
  const entries = Object.entries(packageJson.exports).flatMap(([entry, to]) =>
    typeof to === 'string' ? [] : [`petrichor${entry.slice(1)}`],
  );
  const uses = entries.map((entry, index) => `export * as entry${index} from '${entry}';`);
  writeFileSync(join(project, 'uses.ts'), uses.join('\n'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['uses.ts'] }),
  );
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', project]).catch(
    (error: { readonly stdout: string }) => error,
  );
  assert.equal(stdout, '');
});
