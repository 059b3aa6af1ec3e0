import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import packageJson from '../../package.json' with { type: 'json' };
import settings from '../site-settings.json' with { type: 'json' };

const pages = join(import.meta.dirname, '..', '.pages');
const repositoryUrl: string | null = settings.repositoryUrl;

/** A page by its first heading. */
function toItem(page: string): { text: string; link: string } {
  const heading = /^# (.*)$/m.exec(readFileSync(join(pages, page), 'utf8'))?.[1] ?? page;
  return {
    text: heading.replaceAll(/[`*]|\\/g, ''),
    link: `/${page.replace(/(?:index)?\.md$/, '')}`,
  };
}

const list = (...patterns: readonly string[]): { text: string; link: string }[] =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: pages }).toSorted()).map(toItem);

const known = [
  'which-api',
  'agents',
  'sessions',
  'tools',
  'models',
  'mcp',
  'context',
  'state',
  'approvals',
  'crash-policy',
  'testing',
  'managed',
  'permissions',
  'pending-calls',
  'built-in-tools',
  'server',
  'http-streaming',
  'idempotency',
  'webhooks',
  'schedules',
  'workers',
  'console',
  'deployment',
  'containers',
  'serverless',
  'restate',
  'backup',
  'retention',
  'quotas',
  'keys',
  'security',
  'runbooks',
  'cli',
  'errors',
  'nets',
  'proofs',
  'patterns',
  'architecture',
  'faq',
  'comparison',
];
const guides = known.flatMap((name) => list(`${name}.md`));
const migration = list('migrate-from-*.md');
const adk = list('adk.md', 'adk-*.md');
const rest = list('*.md').filter(
  ({ link }) =>
    ![...guides, ...migration, ...adk].some((one) => one.link === link) &&
    ![
      '/',
      '/contributing',
      '/glossary',
      '/changelog',
      '/security-policy',
      '/code-of-conduct',
    ].includes(link),
);

/** The pages of the API reference, by the subpath that a program imports. */
const apiItems = Object.entries(packageJson.exports).flatMap(([subpath, to]) => {
  if (typeof to === 'string' || subpath === '.') return [];
  const link = to.types.replace('./dist/', '/api/').replace(/(?:\/index)?\.d\.ts$/, '');
  return [{ text: `${packageJson.name}${subpath.slice(1)}`, link }];
});

export default defineConfig({
  title: 'Petrichor',
  description: 'An agent runtime for TypeScript with durable sessions.',
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Guide', link: '/' },
      { text: 'Examples', link: '/examples/' },
      { text: 'API', link: '/api/' },
    ],
    ...(repositoryUrl !== null && { socialLinks: [{ icon: 'github', link: repositoryUrl }] }),
    sidebar: {
      '/api/': [{ text: 'API reference', items: apiItems }],
      '/examples/': [{ text: 'Examples', items: list('examples/**/*.md') }],
      '/': [
        { text: 'Guide', items: [{ text: 'Introduction', link: '/' }, ...guides] },
        { text: 'Migrate', collapsed: true, items: migration },
        { text: 'Google ADK', collapsed: true, items: adk },
        { text: 'More', items: rest },
        { text: 'Conformance', collapsed: true, items: list('conformance/*.md') },
        { text: 'Decisions', collapsed: true, items: list('decisions/*.md') },
        {
          text: 'Project',
          items: list(
            'glossary.md',
            'changelog.md',
            'contributing.md',
            'security-policy.md',
            'code-of-conduct.md',
          ),
        },
      ],
    },
  },
});
