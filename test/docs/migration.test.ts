import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import manifest from '../migration/package.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import { readPage } from './docs-tables.ts';

/** The packages and programs of each page: theirs, then ours. */
const pages = {
  'docs/migrate-from-langgraph.md': {
    packages: ['langchain', '@langchain/langgraph', '@langchain/langgraph-checkpoint-postgres'],
    programs: ['test/migration/langgraph.ts', 'examples/migrate-agent.ts'],
  },
  'docs/migrate-from-ai-sdk.md': {
    packages: ['ai'],
    programs: ['test/migration/ai-sdk.ts', 'examples/migrate-agent.ts'],
  },
  'docs/migrate-from-openai-agents.md': {
    packages: ['@openai/agents'],
    programs: ['test/migration/openai-agents.ts', 'examples/migrate-agent.ts'],
  },
  'docs/migrate-from-adk.md': {
    packages: ['@google/adk'],
    programs: ['test/migration/adk.ts', 'examples/migrate-adk.ts'],
  },
} as const;

describe('the migration pages', () => {
  for (const [path, { packages, programs }] of Object.entries(pages)) {
    it(`${path} shows the two programs, byte for byte`, () => {
      const shown = [...readPage(path).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
      assert.deepEqual(shown, programs.map(readPage));
    });

    it(`${path} names the versions that its tests run`, () => {
      const page = readPage(path);
      for (const name of packages)
        assert.ok(page.includes(`\`${name}\` ${manifest.devDependencies[name]}`), name);
      assert.ok(page.includes(`Petrichor ${packageJson.version}`));
    });
  }
});
