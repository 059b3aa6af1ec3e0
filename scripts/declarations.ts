/**
 * Finishes the declarations in `dist/`, after `tsc`: removes those that no public entry refers to, and lets the others
 * compile where an optional peer is not installed, also with `skipLibCheck: false`: its types are `any` there.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };

const optional = Object.keys(packageJson.peerDependenciesMeta);
const IMPORT = /^(?:import|export) .* from '([^']+)';$/gm;
/** Also the types of the form `import('./x.ts').Name`. */
const REFERENCE = /(?:\bfrom |\bimport\()'(\.[^']+)'/g;

const entries = Object.values(packageJson.exports).flatMap((to) =>
  typeof to === 'string' ? [] : [join(to.types)],
);

/** The declarations that the entries refer to, directly or not, by path. */
const used = new Map<string, string>();
const open = [...entries];
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (used.has(file)) continue;
  const text = readFileSync(file, 'utf8');
  used.set(file, text);
  for (const [, target = ''] of text.matchAll(REFERENCE))
    open.push(join(dirname(file), target.replace(/\.(?:ts|js)$/, '.d.ts')));
}

for (const file of globSync('dist/**/*.d.ts')) {
  const text = used.get(file);
  if (text === undefined) {
    rmSync(file);
    continue;
  }
  const marked = text.replace(IMPORT, (line, specifier: string) =>
    optional.some((name) => specifier === name || specifier.startsWith(`${name}/`))
      ? `// @ts-ignore An optional peer dependency.\n${line}`
      : line,
  );
  if (marked !== text) writeFileSync(file, marked);
}
