/**
 * Writes the public API of the package, one file per subpath, to `api/`.
 * `--check` compares instead and exits with 1 when a file differs: a change of the public API is
 * accepted by running `npm run api` and committing what it wrote.
 * Reads the declarations in `dist/`, so the package must be built.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { listExports } from './module-exports.ts';

const subpaths = Object.entries(packageJson.exports).flatMap(([subpath, to]) =>
  typeof to === 'string' ? [] : [{ subpath, entry: join('.', to.types) }],
);

/** The subpath that shows a declaration in full: the first one apart from the root. */
const home = new Map<string, string>();
for (const { subpath, entry } of subpaths) {
  if (subpath === '.') continue;
  for (const { name, file } of listExports(entry)) {
    const key = `${file}#${name}`;
    if (!home.has(key)) home.set(key, subpath);
  }
}

function toReport(subpath: string, entry: string): string {
  const name = join(packageJson.name, subpath);
  const lines = [`# ${name}`, ''];
  for (const one of listExports(entry)) {
    const shown = home.get(`${one.file}#${one.name}`) ?? subpath;
    lines.push(`## ${one.name}`, '');
    if (shown === subpath)
      lines.push('```ts', ...one.declarations.map(({ text }) => text), '```', '');
    else lines.push(`As in \`${join(packageJson.name, shown)}\`.`, '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

const reports = new Map(
  subpaths.map(({ subpath, entry }) => [
    `api/${join(packageJson.name, subpath).replaceAll('/', '-')}.md`,
    toReport(subpath, entry),
  ]),
);
const stored = globSync('api/*.md');

if (process.argv.includes('--check')) {
  const differing = [
    ...stored.filter((file) => !reports.has(file)),
    ...[...reports]
      .filter(([file, report]) => !stored.includes(file) || readFileSync(file, 'utf8') !== report)
      .map(([file]) => file),
  ];
  for (const file of differing) console.error(`${file} is not the public API of this build.`);
  if (differing.length > 0) {
    console.error(
      'Read the difference with `npm run api && git diff api`; commit it to accept it.',
    );
    process.exit(1);
  }
} else {
  rmSync('api', { recursive: true, force: true });
  mkdirSync('api');
  for (const [file, report] of reports) writeFileSync(file, report);
  console.log(`${reports.size} files in api/`);
}
