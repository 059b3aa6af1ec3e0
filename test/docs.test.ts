import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, it, test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const pages = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('{docs,examples,test,src}/**/*.md', {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  }),
].toSorted();

/** The page without its programs, and without brackets in inline code, which are no links. */
function readProse(page: string): string {
  return page
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]]/g, ' '));
}

/** The targets of a page's links and pictures within the repository. */
function listLinks(page: string): readonly string[] {
  return [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = '']) => to)
    .filter((to) => !/^[a-z]+:/.test(to));
}

/** The anchors of a page's headings, in the format of code hosts. */
function listAnchors(page: string): readonly string[] {
  return [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}

/** The links of a page whose target does not exist. */
function brokenLinks(path: string, page: string): readonly string[] {
  return listLinks(page).filter((link) => {
    const [to = '', anchor] = link.split('#');
    const target = to === '' ? path : relative(root, resolve(root, dirname(path), to));
    if (to !== '' && !existsSync(join(root, target))) return true;
    const text = to === '' ? page : target.endsWith('.md') ? read(target) : '';
    return anchor !== undefined && !listAnchors(text).includes(anchor);
  });
}

/** The packages that the tables of docs/dependencies.md list. */
function listPackages(page: string): readonly string[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (?:package|-)/.test(line))
    .flatMap((line) =>
      (line.split('|')[1] ?? '')
        .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
        .replace(/\(optional peers?\)/, '')
        .split(',')
        .map((name) => name.trim().replace(/ \d+$/, '')),
    );
}

test('the glossary defines each word once', () => {
  const words = [...read('GLOSSARY.md').matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, word]) => word);
  assert.ok(words.length > 20);
  assert.deepEqual(
    words.filter((word, index) => words.indexOf(word) !== index),
    [],
  );
});

describe('the documentation', () => {
  for (const path of pages) {
    it(`${path} has no broken links`, () => {
      assert.deepEqual(brokenLinks(path, read(path)), []);
    });
  }

  it('detects a link to a missing page, heading or picture', () => {
    const broken = ['docs/no-page.md', 'docs/nets.md#no-heading', '#nor-here', 'docs/nets/no.svg'];
    const page = `# Here\n[a](docs/nets.md#places) [b](#here) \`[c](d)\`\n${broken.map((to) => `[x](${to})`).join(' ')}`;
    assert.deepEqual(brokenLinks('README.md', page), broken);
  });

  it('every page can be reached from the README, and every picture is on a page', () => {
    const found = new Set(['README.md']);
    for (const path of found) {
      if (!path.endsWith('.md')) continue;
      for (const link of listLinks(read(path))) {
        const [to = ''] = link.split('#');
        const target = relative(root, resolve(root, dirname(path), to));
        if (to !== '') found.add(target);
        if (target === 'docs/decisions')
          for (const one of globSync('docs/decisions/*.md', { cwd: root })) found.add(one);
      }
    }
    const shown = globSync(['docs/**/*.md', 'docs/nets/*.svg'], { cwd: root });
    assert.ok(shown.length > 40);
    assert.deepEqual(
      shown.filter((path) => !found.has(path)),
      [],
    );
  });

  it('docs/architecture.md lists every entry of the package', () => {
    const page = read('docs/architecture.md');
    const entries = Object.keys(packageJson.exports).filter((entry) => entry !== './package.json');
    assert.deepEqual(
      entries.filter((entry) => !page.includes(`\`${join('petrichor', entry)}\``)),
      [],
    );
  });

  it('docs/dependencies.md lists every dependency and nothing else', () => {
    const { dependencies, devDependencies, peerDependencies } = packageJson;
    const all = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
    const documented = listPackages(read('docs/dependencies.md'));
    assert.deepEqual([...new Set(documented)].toSorted(), all.toSorted());
  });

  it('every npm script that a page names exists', () => {
    const scripts: readonly string[] = Object.keys(packageJson.scripts);
    const unknown = pages.flatMap((path) =>
      [...read(path).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g)]
        .map(([, script = '']) => script)
        .filter((script) => !scripts.includes(script) && !path.includes('managed-smoke'))
        .map((script) => `${basename(path)}: npm run ${script}`),
    );
    assert.deepEqual(unknown, []);
  });
});
