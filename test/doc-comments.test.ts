import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where a name is declared, or taken from. */
interface Declared {
  readonly file: string;
  readonly name: string;
  /** Undefined for a name of another file. */
  readonly documented: boolean | undefined;
}

const read = new Map<string, ReadonlyMap<string, Declared>>();

/** What a file exports, by the name it has there. */
function listExports(file: string): ReadonlyMap<string, Declared> {
  const known = read.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const { program, comments } = parseSync(file, text);
  const ends = new Set(
    comments
      .filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
      .map(({ end }) => end),
  );
  const found = new Map<string, Declared>();
  for (const node of program.body) {
    if (node.type !== 'ExportNamedDeclaration') continue;
    const from = node.source?.value;
    for (const { local, exported } of node.specifiers) {
      if (local.type !== 'Identifier' || exported.type !== 'Identifier' || from === undefined)
        continue;
      const target = join(dirname(file), from);
      found.set(exported.name, { file: target, name: local.name, documented: undefined });
    }
    const { declaration } = node;
    if (declaration === null) continue;
    const documented = ends.has(text.slice(0, node.start).trimEnd().length);
    const declarators =
      declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration];
    for (const declarator of declarators) {
      if (!('id' in declarator) || declarator.id?.type !== 'Identifier') continue;
      const { name } = declarator.id;
      // Of overloads the first one speaks.
      if (!found.has(name)) found.set(name, { file, name, documented });
    }
  }
  read.set(file, found);
  return found;
}

function isDocumented({ file, name, documented }: Declared): boolean {
  if (documented !== undefined) return documented;
  const declared = listExports(file).get(name);
  assert.ok(declared, `${file} exports ${name}`);
  return isDocumented(declared);
}

const entries = Object.values(packageJson.exports)
  .map((to) => (typeof to === 'string' ? to : to.default))
  .filter((to) => to.endsWith('.js'))
  .map((to) => to.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'));

test('every public name says what it promises', () => {
  const all = entries.flatMap((entry) =>
    [...listExports(entry)].map(([name, declared]) => ({ entry, name, declared })),
  );
  assert.ok(all.length > 900);
  assert.deepEqual(
    all
      .filter(({ declared }) => !isDocumented(declared))
      .map(({ entry, name }) => `${entry}: ${name}`),
    [],
  );
});
