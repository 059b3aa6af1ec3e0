import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

test('README, changelog and the MCP client have the version of package.json', () => {
  const { version } = packageJson;
  assert.match(read('README.md'), new RegExp(`petrichor-${version}\\.tgz`));
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${version}$`, 'm'));
  assert.match(read('src/tools/mcp/mcp-client.ts'), new RegExp(`const VERSION = '${version}'`));
});
