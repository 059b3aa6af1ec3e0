import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import packageJson from '../../package.json' with { type: 'json' };
import { BUNDLED_PACKAGES } from '../../scripts/bundled-packages.ts';

/** What a module imports, statically or with `import()` of a text. */
function listSpecifiers(file: string, code: string): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, code).module;
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...dynamicImports.flatMap(
      ({ moduleRequest: { start, end } }) =>
        /^["'`]([^"'`$]+)["'`]$/.exec(code.slice(start, end))?.[1] ?? [],
    ),
  ];
}

const root = join(import.meta.dirname, '..', '..');

test('what the built files import is installed with the package, or an optional peer', () => {
  const installed = [
    ...Object.keys(packageJson.dependencies),
    ...Object.keys(packageJson.peerDependencies),
  ];
  const files = globSync('dist/**/*.{js,d.ts}', { cwd: root });
  assert.ok(files.length > 0);
  const missing = files.flatMap((file) =>
    listSpecifiers(file, readFileSync(join(root, file), 'utf8')).flatMap((id) => {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id;
      const isKnown =
        id.startsWith('.') ||
        id.startsWith('node:') ||
        builtinModules.includes(id) ||
        installed.includes(name);
      return isKnown ? [] : [`${file}: ${id}`];
    }),
  );
  assert.deepEqual(missing, []);
});

test('an import in any form is found', () => {
  const code = 'import{a}from"a";import{b}from"b";export*from"c";await import(`d`);import("e");';
  assert.deepEqual(listSpecifiers('x.js', code), ['a', 'b', 'c', 'd', 'e']);
});

test('bundled packages are not installed, and NOTICE names them', () => {
  const notice = readFileSync(join(root, 'NOTICE'), 'utf8');
  for (const name of BUNDLED_PACKAGES) {
    assert.ok(!(name in packageJson.dependencies), name);
    assert.ok(notice.includes(name), `NOTICE has no license of ${name}`);
  }
});
