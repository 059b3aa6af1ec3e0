import assert from 'node:assert/strict';
import { test } from 'node:test';
import { braveSearch } from './web/brave-search.ts';
import { builtInTools, type BuiltInServices, type BuiltInTool } from './built-in-tools.ts';

const services: BuiltInServices = {
  environment: { folder: '/nowhere' },
  webFetch: { hosts: ['example.com'] },
  webSearch: { provider: braveSearch({ apiKey: 'key' }) },
};
const names = (asked: readonly BuiltInTool[]): readonly string[] =>
  builtInTools(asked, services).map(({ name }) => name);

test('a built-in tool is off by default, and appears once when it is enabled', () => {
  assert.deepEqual(names([]), []);
  assert.deepEqual(names(['bash', 'bash']), ['bash']);
  assert.deepEqual(names(['filesystem', 'web_search', 'web_fetch', 'code_execution']), [
    'read',
    'write',
    'edit',
    'list',
    'glob',
    'grep',
    'web_search',
    'web_fetch',
    'code_execution',
  ]);
});

test('a tool whose requirement is missing is rejected with the name of the requirement', () => {
  const fields: readonly (readonly [BuiltInTool, string])[] = [
    ['bash', 'environment'],
    ['code_execution', 'environment'],
    ['filesystem', 'environment'],
    ['web_fetch', 'webFetch'],
    ['web_search', 'webSearch'],
  ];
  for (const [name, field] of fields) {
    assert.throws(() => builtInTools([name], {}), { code: 'invalid_input', field });
  }
  assert.throws(() => builtInTools(['computer' as BuiltInTool], services), {
    code: 'invalid_input',
    field: 'tools',
  });
});
