/**
 * Writes the public API of the package, one file per subpath, to `api/`.
 * `--check` compares instead and exits with 1 when a file differs: a change of the public API is
 * accepted by running `npm run api` and committing what it wrote.
 * Reads the declarations in `dist/`, so the package must be built.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import packageJson from '../package.json' with { type: 'json' };

/** An exported name, and the declaration that gives it its meaning. */
interface Exported {
  readonly name: string;
  readonly file: string;
  /** The declaration without comments. Overloads are several texts. */
  readonly declarations: readonly string[];
}

interface Module {
  readonly own: ReadonlyMap<string, readonly string[]>;
  /** Name here, and the file and name it comes from. */
  readonly taken: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const modules = new Map<string, Module>();

function readModule(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, 'utf8');
  const { program, comments } = parseSync(file, text);
  const own = new Map<string, string[]>();
  const imported = new Map<string, { file: string; name: string }>();
  const taken = new Map<string, { file: string; name: string }>();
  const sliceText = (start: number, end: number): string => {
    let source = text.slice(start, end);
    for (const comment of comments.toReversed()) {
      if (comment.start < start || comment.end > end) continue;
      source = source.slice(0, comment.start - start) + source.slice(comment.end - start);
    }
    return source.replaceAll(/^[ \t]*\n/gm, '').trim();
  };
  const resolve = (specifier: string): string =>
    join(dirname(file), specifier.replace(/\.(?:ts|js)$/, '.d.ts'));
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration' && node.source.value.startsWith('.')) {
      for (const one of node.specifiers) {
        if (one.type !== 'ImportSpecifier' || one.imported.type !== 'Identifier') continue;
        imported.set(one.local.name, { file: resolve(node.source.value), name: one.imported.name });
      }
    }
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const { local, exported } of node.specifiers) {
      if (local.type !== 'Identifier' || exported.type !== 'Identifier') continue;
      const from =
        node.source === null
          ? imported.get(local.name)
          : { file: resolve(node.source.value), name: local.name };
      if (from) taken.set(exported.name, from);
    }
    const { declaration } = node;
    if (declaration === null) continue;
    const names =
      declaration.type === 'VariableDeclaration'
        ? declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
        : 'id' in declaration && declaration.id?.type === 'Identifier'
          ? [declaration.id.name]
          : [];
    for (const name of names) {
      const declarations = own.get(name) ?? [];
      declarations.push(sliceText(node.start, node.end));
      own.set(name, declarations);
    }
  }
  const module = { own, taken };
  modules.set(file, module);
  return module;
}

function resolveExport(file: string, name: string): Exported {
  const { own, taken } = readModule(file);
  const from = taken.get(name);
  if (from) return { ...resolveExport(from.file, from.name), name };
  const declarations = own.get(name);
  if (!declarations) throw new Error(`${file} has no declaration of ${name}`);
  return { name, file, declarations };
}

function listExports(entry: string): readonly Exported[] {
  const { own, taken } = readModule(entry);
  return [...own.keys(), ...taken.keys()].toSorted().map((name) => resolveExport(entry, name));
}

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
    if (shown === subpath) lines.push('```ts', ...one.declarations, '```', '');
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
