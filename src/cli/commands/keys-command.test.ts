import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

test('a key is shown once, and the stored data does not contain it', async () => {
  const folder = new CommandFolder();
  const { code, stdout, stderr } = await folder.run([
    'keys',
    'create',
    '--store',
    folder.store,
    '--name',
    'laptop',
  ]);
  assert.equal(code, 0);
  const [, secret = ''] = /^ptk_[0-9a-f]{16}_([0-9a-f]{64})\n$/.exec(stdout.raw) ?? [];
  assert.equal(secret.length, 64, stdout.raw);
  assert.match(stderr.text, /for workspace default\. It is not shown again\.\n$/);
  const listed = await folder.run(['keys', 'list', '--store', folder.store]);
  assert.match(listed.stdout.text, /^[0-9a-f]{16} +default +full +\S.*valid +laptop$/m);
  assert.doesNotMatch(listed.stdout.text, new RegExp(secret));
  for (const file of readdirSync(folder.path))
    assert.ok(!readFileSync(join(folder.path, file), 'latin1').includes(secret), file);
});

test('a revoked key is listed as revoked, and can be revoked only once', async () => {
  const folder = new CommandFolder();
  const made = await folder.run([
    'keys',
    'create',
    '--store',
    folder.store,
    '--json',
    '--workspace',
    'blue',
  ]);
  const [{ id, key, workspace } = {}] = made.stdout.json;
  assert.equal(workspace, 'blue');
  assert.match(String(key), new RegExp(`^ptk_${String(id)}_`));
  assert.equal((await folder.run(['keys', 'revoke', '--store', folder.store, String(id)])).code, 0);
  const again = await folder.run(['keys', 'revoke', '--store', folder.store, String(id)]);
  assert.equal(again.code, 1);
  assert.match(again.stderr.text, /There is no valid key/);
  const [listed] = (await folder.run(['keys', 'list', '--store', folder.store, '--json'])).stdout
    .json;
  assert.equal(typeof listed?.['revokedAt'], 'number');
  assert.equal(listed?.['key'], undefined);
});

test('listing keys needs an existing store, and a workspace has a plain name', async () => {
  const folder = new CommandFolder();
  const { code, stderr } = await folder.run(['keys', 'list', '--store', folder.store]);
  assert.equal(code, 1);
  assert.match(stderr.text, /There is no store/);
  const odd = await folder.run(['keys', 'create', '--store', folder.store, '--workspace', 'a/b']);
  assert.equal(odd.code, 1);
  assert.match(odd.stderr.text, /workspace/);
});

test('a key is created with a scope and an expiry, and listed with both', async () => {
  const folder = new CommandFolder();
  const create = async (
    ...args: readonly string[]
  ): Promise<Awaited<ReturnType<CommandFolder['run']>>> =>
    folder.run(['keys', 'create', '--store', folder.store, ...args]);
  const made = await create('--scope', 'read', '--expires', '90d', '--name', 'two\nlines');
  assert.equal(made.code, 0, made.stderr.text);
  assert.match(made.stderr.text, /scope read, until \d{4}-/);
  assert.equal((await create('--scope', 'metrics', '--json')).code, 0);
  const listed = await folder.run(['keys', 'list', '--store', folder.store]);
  assert.match(listed.stdout.text, /^[0-9a-f]{16} +default +read .*until \d{4}-\S+ +two lines$/m);
  assert.match(listed.stdout.text, /^[0-9a-f]{16} +default +metrics .*valid$/m);
  for (const [args, why] of [
    [
      ['--scope', 'admin'],
      /full, read, console, metrics, operator, import or environment; it is "admin"/,
    ],
    [['--scope', 'environment'], /needs --environment ID/],
    [['--environment', 'env_1'], /is allowed only with --scope environment/],
    [['--scope', 'environment', '--environment', 'env_1'], /no environment "env_1"/],
    [['--expires', 'tomorrow'], /it is "tomorrow"/],
    [['--expires', '0d'], /it is "0d"/],
  ] as const) {
    const { code, stderr } = await create(...args);
    assert.notEqual(code, 0);
    assert.match(stderr.text, why);
  }
  const { stdout } = await folder.run(['keys', 'list', '--store', folder.store, '--json']);
  assert.equal(stdout.json.length, 2, 'what was refused made no key');
});
