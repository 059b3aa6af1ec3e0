import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openMcpToolset } from '../../src/tools/mcp/index.ts';
import { DuplicateToolError, indexTools, tool, toolset } from '../../src/tools/index.ts';
import { callTool } from '../mcp/call-tool.ts';
import { listed, openHostileMcp } from './hostile-mcp.ts';

const RESERVED = [
  'transfer_to_agent',
  'adk_request_confirmation',
  'adk_request_credential',
  'adk_request_input',
];

test('a tool with a name that the runtime reserves is rejected when it is defined', () => {
  for (const name of RESERVED) {
    const definition = { name, description: 'Takes its place.', execute: () => 'x' };
    assert.throws(() => tool(definition), {
      code: 'invalid_tool',
      toolName: name,
      message: /reserved/,
    });
    const fine = tool({ ...definition, name: 'fine' });
    const set = toolset('set', [{ ...fine, name }]);
    const model = new ScriptedModel([]);
    assert.throws(() => agent({ name: 'a', model, tools: [set] }), { code: 'invalid_tool' });
  }
  // An elicitation that appears later is not shown.
  const laterNames: string[] = [];
  const one = tool({ name: 'one', description: 'One.', execute: () => 'x' });
  const live = indexTools([toolset('live', () => laterNames.map((name) => ({ ...one, name })))]);
  laterNames.push('transfer_to_agent', 'other');
  assert.deepEqual([...live.keys()], ['other']);
});

test('entries of a tool list that are not valid tools are left out and reported by name, and the other tools work', async () => {
  const tools = [
    listed('first'),
    'no object',
    listed(7),
    listed('no schema', { inputSchema: undefined }),
    listed('list', { inputSchema: { type: 'array' } }),
    listed('text', { inputSchema: 'type: object' }),
    listed('described', { description: 5 }),
    listed('properties', { inputSchema: { type: 'object', properties: 5 } }),
    listed('hints', { annotations: 'none' }),
    listed('long', { description: 'x'.repeat(3_000_000) }),
    listed('first', { description: 'Another of the same name.' }),
    ...RESERVED.map((name) => listed(name)),
    listed('a\u0000b\u001b[2Jc'),
    listed('__proto__'),
    listed('last'),
  ];
  await using server = await openHostileMcp({ 'tools/list': () => ({ tools }) });
  const warnings: string[] = [];
  await using set = await openMcpToolset({
    name: 'hostile',
    url: server.url,
    protocol: 'legacy',
    onWarning: (message) => warnings.push(message),
  });
  const names = set.tools().map(({ name }) => name);
  assert.equal(names.length, 4);
  assert.deepEqual([names[0], names[2], names[3]], ['first', '__proto__', 'last']);
  assert.match(names[1] ?? '', /^a_b__2Jc_[0-9a-f]{8}$/);
  assert.deepEqual(
    set.refused().map(({ name }) => name),
    [
      '(no name)',
      '(no name)',
      'no schema',
      'list',
      'text',
      'described',
      'properties',
      'hints',
      'long',
      'first',
      ...RESERVED,
    ],
  );
  assert.equal(warnings.length, set.refused().length);
  for (const { name } of set.refused()) assert.ok(warnings.some((one) => one.includes(name)));
  for (const message of warnings) assert.doesNotMatch(message, /\p{Cc}/u);
  for (const name of names) assert.equal(await callTool(set, name), 'done');
});

test('a toolset takes the first 1,000 tools of a longer list', async () => {
  const tools = Array.from({ length: 3_000 }, (_, i) => listed(`t${i}`));
  await using server = await openHostileMcp({ 'tools/list': () => ({ tools }) });
  await using set = await openMcpToolset({ name: 'many', url: server.url, protocol: 'legacy' });
  assert.equal(set.tools().length, 1_000);
  assert.deepEqual(
    set.refused().map(({ name }) => name),
    ['t1000'],
  );
});

test('the error for two servers with a tool of the same name contains both toolset names and the original tool name', async () => {
  await using server = await openHostileMcp({
    'tools/list': () => ({ tools: [listed('files.read')] }),
  });
  const open = { url: server.url, protocol: 'legacy' } as const;
  await using one = await openMcpToolset({ ...open, name: 'one' });
  await using two = await openMcpToolset({ ...open, name: 'two' });
  assert.throws(
    () => indexTools([one, two]),
    (error) => {
      assert.ok(error instanceof DuplicateToolError);
      assert.match(
        error.message,
        /"files\.read" of toolset "one" and "files\.read" of toolset "two"/,
      );
      return true;
    },
  );
});

test('a tool of the server wins over the built-in resource tool of the same name', async () => {
  await using server = await openHostileMcp({
    'tools/list': () => ({ tools: [listed('read_resource')] }),
  });
  await using set = await openMcpToolset({
    name: 'same',
    url: server.url,
    protocol: 'legacy',
    resourceTools: true,
  });
  assert.deepEqual(
    set.tools().map(({ name }) => name),
    ['read_resource', 'list_resources'],
  );
  assert.equal(await callTool(set, 'read_resource'), 'done');
  assert.deepEqual(
    set.refused().map(({ name }) => name),
    ['read_resource'],
  );
});
