/**
 * Finishes the declarations in `dist/`, after `tsc`: removes those that no public entry refers to, and lets the others
 * compile where an optional peer is not installed, also with `skipLibCheck: false`: its types are `any` there.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { keepUsedDeclarations } from './used-declarations.ts';

const optional = Object.keys(packageJson.peerDependenciesMeta);
const IMPORT = /^(?:import|export) .* from '([^']+)';$/gm;

const entries = Object.values(packageJson.exports).flatMap((to) =>
  typeof to === 'string' ? [] : [join(to.types)],
);
const used = keepUsedDeclarations(entries, (file) => readFileSync(file, 'utf8'));

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
  writeFileSync(file, marked);
}
