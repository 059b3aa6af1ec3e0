import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import type { SessionKey } from '../../../core/index.ts';
import { callTool } from '../../../../test/tools/call-tool.ts';
import { noSandboxReason, sandboxFolder } from '../../../../test/tools/sandbox-folder.ts';
import { bashTool } from '../commands/bash-tool.ts';
import { Environments } from './environments.ts';

// Before any test is registered, because registered tests would end and clean up during this wait.
const noSandbox = await noSandboxReason();

const key = (userId: string, sessionId: string): SessionKey => ({
  appName: 'app',
  userId,
  sessionId,
});

test('each session has its own folder, which persists', async () => {
  using root = sandboxFolder('environments');
  const environments = new Environments({ root: root.path });
  const first = await environments.open(key('ann', '1'));
  writeFileSync(join(first.folder, 'a.txt'), 'x');
  const again = await environments.open(key('ann', '1'));
  assert.deepEqual(readdirSync(again.folder), ['a.txt']);
  const others = await Promise.all([
    environments.open(key('ann', '2')),
    environments.open(key('bob', '1')),
    environments.open(key('ann', '../1')),
  ]);
  assert.equal(new Set([first, again, ...others].map(({ folder }) => folder)).size, 4);
  assert.equal(statSync(first.folder).uid, statSync(root.path).uid);
  await environments.remove(key('ann', '1'));
  assert.ok(!existsSync(first.folder));
});

test('a folder is deleted with its session, and so are the folders of called agents; nothing outside the root is touched', async () => {
  using root = sandboxFolder('environments');
  using outside = sandboxFolder('outside');
  writeFileSync(join(outside.path, 'kept.txt'), 'x');
  const environments = new Environments({ root: root.path });
  const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const own = await environments.open(key('ann', '1'));
  const called = [`1/${uid}/7`, `1/${uid}/7/${uid}/9`].map((id) => key('ann', id));
  const [first, inner] = await Promise.all(called.map(async (id) => environments.open(id)));
  assert.ok(first && inner);
  symlinkSync(outside.path, join(own.folder, 'link'));
  symlinkSync(outside.path, join(first.folder, 'link'));
  const other = await environments.open(key('ann', `2/${uid}/7`));
  await environments.remove(key('ann', '1'));
  for (const { folder } of [own, first, inner]) assert.ok(!existsSync(folder), folder);
  assert.ok(existsSync(other.folder));
  assert.deepEqual(readdirSync(outside.path), ['kept.txt']);
  // A link in place of a folder is removed and not followed, for sessions and called agents.
  const kept = join(outside.path, relative(dirname(other.folder), other.folder));
  mkdirSync(kept);
  rmSync(dirname(other.folder), { recursive: true });
  symlinkSync(outside.path, dirname(other.folder));
  await environments.remove(key('ann', `2/${uid}/7`));
  await environments.remove(key('ann', '2'));
  assert.ok(existsSync(kept));
  assert.deepEqual(readdirSync(root.path), []);
});

test('a named folder is shared by the sessions of one user only', async () => {
  using root = sandboxFolder('environments');
  const environments = new Environments({ root: root.path });
  const config = { workingFolder: 'project-1' };
  const [one, two, other] = await Promise.all([
    environments.open(key('ann', '1'), config),
    environments.open(key('ann', '2'), config),
    environments.open(key('bob', '1'), config),
  ]);
  assert.equal(one.folder, two.folder);
  assert.notEqual(one.folder, other.folder);
  await environments.remove(key('ann', '1'));
  assert.ok(existsSync(one.folder));
});

const refused: readonly (readonly [field: string, config: unknown])[] = [
  ['environment', null],
  ['environment', 'env'],
  ['environment.image', { image: 'debian' }],
  ['environment.working_dir', { working_dir: 'x' }],
  ['environment.workingFolder', { workingFolder: '../x' }],
  ['environment.workingFolder', { workingFolder: 'a/b' }],
  ['environment.workingFolder', { workingFolder: '/etc' }],
  ['environment.workingFolder', { workingFolder: '.' }],
  ['environment.workingFolder', { workingFolder: '' }],
  ['environment.workingFolder', { workingFolder: 7 }],
  ['environment.env', { env: ['A=1'] }],
  ['environment.env.A', { env: { A: 1 } }],
  ['environment.env.A', { env: { A: 'x\0y' } }],
  ['environment.env.A', { env: { A: 'x'.repeat(40_000) } }],
  ['environment.env.A=B', { env: { 'A=B': 'x' } }],
  ['environment.env.A\nB', { env: { 'A\nB': 'x' } }],
  ['environment.env.a;id', { env: { 'a;id': 'x' } }],
  ['environment.env.UID', { env: { UID: '0' } }],
  ['environment.env.BASH_ENV', { env: { BASH_ENV: '/workspace/x' } }],
  ['environment.env.PWD', { env: { PWD: '/' } }],
  ['environment.env.LD_PRELOAD', { env: { LD_PRELOAD: 'x.so' } }],
  [
    'environment.env',
    { env: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`A${i}`, ''])) },
  ],
];

for (const [field, config] of refused) {
  test(`an environment config that is not supported is rejected by name: ${JSON.stringify(config)?.slice(0, 60)}`, () => {
    const environments = new Environments({
      root: '/nowhere',
      variables: ['A', 'UID', 'PWD', 'BASH_ENV', 'A=B', 'A\nB', 'a;id'],
    });
    assert.throws(() => environments.parse(config), { code: 'invalid_input', field });
  });
}

test('a link in place of a session folder is not followed', async () => {
  using root = sandboxFolder('environments');
  using outside = sandboxFolder('elsewhere');
  const environments = new Environments({ root: root.path });
  const { folder } = await environments.open(key('ann', '1'));
  await environments.remove(key('ann', '1'));
  symlinkSync(outside.path, folder);
  await assert.rejects(environments.open(key('ann', '1')), { code: 'path_refused' });
  mkdirSync(join(outside.path, 'kept'));
  await environments.remove(key('ann', '1'));
  assert.deepEqual(readdirSync(outside.path), ['kept']);
});

test(
  'commands see the variables and the folder of their session',
  { skip: noSandbox },
  async () => {
    using root = sandboxFolder('environments');
    const environments = new Environments({ root: root.path });
    const bash = bashTool({
      environment: (session) =>
        environments.open(session, { env: { MOOD: `it's "wet"\n$(id)`, LD_PRELOAD: '/none.so' } }),
    });
    const { response } = await callTool(
      bash,
      { command: 'printf "%s|%s" "$MOOD" "$LD_PRELOAD"; touch seen' },
      { sessionId: '7' },
    );
    assert.equal(response['stdout'], `it's "wet"\n$(id)|/none.so`);
    assert.equal(response['exit_code'], 0);
    const { folder } = await environments.open({ appName: 'app', userId: 'user', sessionId: '7' });
    assert.deepEqual(readdirSync(folder), ['seen']);
  },
);
