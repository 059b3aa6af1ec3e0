import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import { listExports } from '../scripts/module-exports.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const entries = Object.values(packageJson.exports)
  .map((to) => (typeof to === 'string' ? to : to.default))
  .filter((to) => to.endsWith('.js'))
  .map((to) => to.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'));

test('every public name has a doc comment', () => {
  const all = entries.flatMap((entry) =>
    listExports(join(ROOT, entry)).map((declared) => ({ entry, ...declared })),
  );
  assert.ok(all.length > 900);
  assert.deepEqual(
    all
      // The comment of the first overload documents all of them.
      .filter(({ declarations }) => declarations[0]?.comment === undefined)
      .map(({ entry, name }) => `${entry}: ${name}`),
    [],
  );
});
