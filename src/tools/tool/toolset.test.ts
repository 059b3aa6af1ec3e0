import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DuplicateToolError, indexTools } from './index-tools.ts';
import { tool, type Tool } from './tool.ts';
import { filteredToolset, prefixedToolset, toolset } from './toolset.ts';

const named = (name: string): Tool =>
  tool({ name, description: `Does ${name}.`, execute: () => name });

const listNames = (tools: Iterable<Tool>): readonly string[] => [...tools].map(({ name }) => name);

test('a toolset is replaced by its tools, at its position', () => {
  const tools = indexTools([named('a'), toolset('set', [named('b'), named('c')]), named('d')]);
  assert.deepEqual([...tools.keys()], ['a', 'b', 'c', 'd']);
  assert.equal(tools.get('c')?.description, 'Does c.');
  assert.equal(tools.size, 4);
  assert.deepEqual(
    [...tools].map(([name, { description }]) => [name, description]),
    listNames(tools.values()).map((name) => [name, `Does ${name}.`]),
  );
});

test('a dynamic toolset shows its current tools, and a name that is taken is not used again', () => {
  let held = [named('b')];
  const tools = indexTools([named('a'), toolset('set', () => held)]);
  const [a] = tools.values();
  held = [named('c'), named('a')];
  assert.deepEqual([...tools.keys()], ['a', 'c']);
  assert.equal(tools.get('a'), a);
  assert.equal(tools.has('b'), false);
  const seen: string[] = [];
  tools.forEach((_tool, name) => seen.push(name));
  assert.deepEqual(seen, ['a', 'c']);
});

test('two tools with the same name are rejected when their sets are combined', () => {
  assert.throws(() => indexTools([named('a'), toolset('set', [named('a')])]), DuplicateToolError);
});

test('a filter keeps some tools, and a prefix separates two sets', () => {
  const set = toolset('set', [named('read'), named('write'), named('list')]);
  assert.deepEqual(listNames(filteredToolset(set, ['list', 'read']).tools()), ['read', 'list']);
  assert.deepEqual(listNames(filteredToolset(set, ({ name }) => name === 'write').tools()), [
    'write',
  ]);
  const prefixed = prefixedToolset(set, 'files_').tools();
  assert.deepEqual(listNames(prefixed), ['files_read', 'files_write', 'files_list']);
  assert.equal(prefixed[0]?.declaration.name, 'files_read');
});

test('a prefixed name that providers reject is made valid, and two names never become equal', () => {
  const long = 'x'.repeat(60);
  const set = toolset('set', [named(`${long}a`), named(`${long}b`)]);
  const names = listNames(prefixedToolset(set, 'my files/').tools());
  assert.equal(new Set(names).size, 2);
  for (const name of names) assert.match(name, /^my_files_x+_[0-9a-f]{8}$/);
});
