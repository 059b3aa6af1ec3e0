import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const program = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
const { resolveModel } = await import(process.argv[1]);
const atStart = loaded.length;
await resolveModel('claude-x', { apiKey: () => 'some-key' });
console.log(JSON.stringify([loaded.slice(0, atStart), loaded.slice(atStart)]));
`;

test('a provider package is loaded when a model of it is resolved, and not before', async () => {
  const index = join(import.meta.dirname, '../../src/models/index.ts');
  const args = ['--input-type=module', '--eval', program, index];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [before = [], after = []] = JSON.parse(stdout) as readonly (readonly string[])[];
  assert.ok(before.length > 10);
  const provider = /@ai-sdk|eventsource|\/zod\/|node:(assert|test|http)/;
  assert.deepEqual(
    before.filter((url) => provider.test(url)),
    [],
  );
  assert.ok(after.some((url) => url.includes('@ai-sdk/anthropic')));
  assert.ok(!after.some((url) => /@ai-sdk\/(google|openai)/.test(url)));
});
