import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

function createFolder(): CommandFolder {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  return folder;
}

test('a net is drawn as DOT, with its places and transitions', async () => {
  const { code, stdout } = await createFolder().run(['graph', 'agent.ts', '--format', 'dot']);
  assert.equal(code, 0);
  assert.match(stdout.text, /^digraph /);
  for (const name of [
    'turn.start',
    'model.call',
    'tool.run',
    'turn.interrupt',
    'user.in',
    'turn.permit',
  ]) {
    assert.ok(stdout.text.includes(name), name);
  }
});

test('a net is drawn as SVG by default', async () => {
  const { code, stdout } = await createFolder().run(['graph', 'agent.ts']);
  assert.equal(code, 0);
  assert.match(stdout.text, /<svg [^]*model\.call[^]*<\/svg>\s*$/);
});

test('a diagram is written to a file, in the format of its extension', async () => {
  const folder = createFolder();
  const { stdout } = await folder.run(['graph', 'agent.ts', '--out', 'net.dot']);
  assert.equal(stdout.text, 'Wrote net.dot.\n');
  assert.match(readFileSync(join(folder.path, 'net.dot'), 'utf8'), /^digraph /);
  await folder.run(['graph', 'agent.ts', '--out', 'net.svg']);
  assert.match(readFileSync(join(folder.path, 'net.svg'), 'utf8'), /<svg /);
});

test('with --json a diagram is one object', async () => {
  const folder = createFolder();
  const printed = await folder.run(['graph', 'agent.ts', '--format', 'dot', '--json']);
  const [facts] = printed.stdout.json;
  assert.deepEqual(
    [facts?.['agent'], facts?.['format'], facts?.['out']],
    ['assistant', 'dot', null],
  );
  assert.match(String(facts?.['drawing']), /^digraph /);
  const written = await folder.run(['graph', 'agent.ts', '--out', 'net.gv', '--json']);
  assert.deepEqual(written.stdout.json, [{ agent: 'assistant', format: 'dot', out: 'net.gv' }]);
});

test('a diagram that cannot be written is an error', async () => {
  const { code, stderr } = await createFolder().run([
    'graph',
    'agent.ts',
    '--format',
    'dot',
    '--out',
    'no/folder/net.dot',
  ]);
  assert.equal(code, 1);
  assert.match(stderr.text, /no\/folder\/net\.dot/);
});
