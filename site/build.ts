/**
 * Builds the documentation site into `site/dist/`: the pages of `docs/` and the README, every
 * example as a page, and an API reference from the doc comments. It works without a network: the
 * search index, fonts and scripts are files of the site. A link to a page or heading that does not
 * exist fails the build.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import settings from './site-settings.json' with { type: 'json' };

const site = import.meta.dirname;
const root = resolve(site, '..');
const pages = join(site, '.pages');
const repositoryUrl: string | null = settings.repositoryUrl;

rmSync(pages, { recursive: true, force: true });
mkdirSync(join(pages, 'examples'), { recursive: true });

// The pages of the repository, with links that lead within the site.
const sources = new Map<string, string>([
  ['README.md', 'index.md'],
  ['CONTRIBUTING.md', 'contributing.md'],
  ['GLOSSARY.md', 'glossary.md'],
  ...optional('CHANGELOG.md', 'changelog.md'),
  ...optional('SECURITY.md', 'security-policy.md'),
  ...optional('CODE_OF_CONDUCT.md', 'code-of-conduct.md'),
  ...globSync('docs/**/*.md', { cwd: root }).map((path): [string, string] => [
    path,
    path.slice('docs/'.length),
  ]),
]);
const examples = new Map(
  globSync('examples/**/*.ts', { cwd: root }).map((path): [string, string] => [
    path,
    path.replace(/\.ts$/, '.md'),
  ]),
);
for (const [from, to] of sources) {
  write(to, rewriteLinks(from, to, readFileSync(join(root, from), 'utf8')));
}
for (const [from, to] of examples) {
  const program = readFileSync(join(root, from), 'utf8');
  write(to, `# ${from}\n\n\`\`\`ts\n${program}\`\`\`\n`);
}
write(
  'examples/index.md',
  `# Examples\n\nEach one runs in the tests.\n\n${[...examples].map(([from, to]) => `- [${from.slice('examples/'.length)}](${relative('examples', to)})`).join('\n')}\n`,
);
for (const picture of globSync('docs/**/*.{svg,png}', { cwd: root })) {
  const to = join(pages, picture.slice('docs/'.length));
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(root, picture), to);
}

// The API reference: one page for each subpath of the package.
const entries = Object.entries(packageJson.exports).flatMap(([subpath, to]) =>
  typeof to === 'string' || subpath === '.'
    ? []
    : [to.types.replace('./dist/', '../src/').replace(/\.d\.ts$/, '.ts')],
);
writeFileSync(
  join(site, '.typedoc.json'),
  JSON.stringify({
    entryPoints: entries,
    tsconfig: './tsconfig.json',
    plugin: ['typedoc-plugin-markdown'],
    out: '.pages/api',
    router: 'module',
    entryFileName: 'index.md',
    readme: 'none',
    name: packageJson.name,
    githubPages: false,
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    useHTMLEncodedBrackets: true,
    sanitizeComments: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    skipErrorChecking: true,
    logLevel: 'Error',
    // What a doc comment names and no entry exports is shown as text.
    validation: { notExported: false, invalidLink: false },
  }),
);
run('typedoc', ['--options', '.typedoc.json']);

run('vitepress', ['build']);
console.log(
  `The site is in ${relative(process.cwd(), join(site, 'dist'))}: ${globSync('**/*.html', { cwd: join(site, 'dist') }).length} pages.`,
);

function optional(from: string, to: string): readonly [string, string][] {
  return globSync(from, { cwd: root }).length > 0 ? [[from, to]] : [];
}

function write(to: string, text: string): void {
  const file = join(pages, to);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Links to files that are pages of the site lead there; others lead to the repository, if it has a URL. */
function rewriteLinks(from: string, to: string, page: string): string {
  const blocks = page.split(/(^```[\s\S]*?^```)/m);
  return blocks
    .map((block, index) =>
      index % 2 === 1
        ? block
        : block.replaceAll(
            /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
            (whole, mark: string, text: string, link: string) => {
              if (/^[a-z]+:|^#/.test(link)) return whole;
              const [path = '', anchor] = link.split('#');
              const target = relative(root, resolve(root, dirname(from), path));
              const page = sources.get(target) ?? examples.get(target);
              const hash = anchor === undefined ? '' : `#${anchor}`;
              if (page !== undefined)
                return `${mark}[${text}](${local(relative(dirname(to), page))}${hash})`;
              if (target.startsWith('docs/') && /\.(?:svg|png)$/.test(target)) {
                return `${mark}[${text}](${local(relative(dirname(to), target.slice('docs/'.length)))})`;
              }
              if (target === 'examples')
                return `[${text}](${local(relative(dirname(to), 'examples/index.md'))})`;
              return repositoryUrl === null ? text : `[${text}](${repositoryUrl}/${target}${hash})`;
            },
          ),
    )
    .join('');
}

function local(path: string): string {
  return path.startsWith('.') ? path : `./${path}`;
}

function run(program: string, args: readonly string[]): void {
  execFileSync(join(site, 'node_modules', '.bin', program), args, { cwd: site, stdio: 'inherit' });
}
