/**
 * Lets the declarations in `dist/` compile where an optional peer is not installed, also with `skipLibCheck: false`: its
 * types are `any` there. The last step of the build.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };

const optional = Object.keys(packageJson.peerDependenciesMeta);
const IMPORT = /^(?:import|export) .* from '([^']+)';$/gm;

for (const file of globSync('dist/**/*.d.ts')) {
  const text = readFileSync(file, 'utf8');
  const marked = text.replace(IMPORT, (line, specifier: string) =>
    optional.some((name) => specifier === name || specifier.startsWith(`${name}/`))
      ? `// @ts-ignore An optional peer dependency.\n${line}`
      : line,
  );
  if (marked !== text) writeFileSync(file, marked);
}
