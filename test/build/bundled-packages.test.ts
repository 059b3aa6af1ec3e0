import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { BUNDLED_PACKAGES } from '../../scripts/bundled-packages.ts';

const root = join(import.meta.dirname, '..', '..');

test('what the built files import is installed with the package, or an optional peer', () => {
  const installed = [
    ...Object.keys(packageJson.dependencies),
    ...Object.keys(packageJson.peerDependencies),
  ];
  const files = globSync('dist/**/*.{js,d.ts}', { cwd: root });
  assert.ok(files.length > 0);
  const missing = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^\s*(?:import|export)\b.*?\bfrom ?["']([@a-z][^"']*)["']/gm,
      ),
    ].flatMap(([, id = '']) => {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id;
      const isKnown =
        id.startsWith('node:') || builtinModules.includes(id) || installed.includes(name);
      return isKnown ? [] : [`${file}: ${id}`];
    }),
  );
  assert.deepEqual(missing, []);
});

test('bundled packages are not installed, and NOTICE names them', () => {
  const notice = readFileSync(join(root, 'NOTICE'), 'utf8');
  for (const name of BUNDLED_PACKAGES) {
    assert.ok(!(name in packageJson.dependencies), name);
    assert.ok(notice.includes(name), `NOTICE has no license of ${name}`);
  }
});
