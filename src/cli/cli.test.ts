import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFolder } from '../../test/cli/command-folder.ts';

test('without arguments the program lists its commands', async () => {
  const { code, stdout, stderr } = await new CommandFolder().run([]);
  assert.equal(code, 0);
  for (const command of [
    'run AGENT_MODULE',
    'sessions',
    'replay SESSION',
    'graph AGENT_MODULE',
    'prove AGENT_MODULE',
    'help [COMMAND]',
  ]) {
    assert.match(stdout.text, new RegExp(`^  ${command.replace('[', '\\[')} `, 'm'));
  }
  assert.equal(stderr.raw, '');
});

test('every command has a help page, with help and with --help', async () => {
  const folder = new CommandFolder();
  for (const command of [
    'run',
    'dev',
    'serve',
    'mcp',
    'adk',
    'chat',
    'console',
    'keys',
    'sessions',
    'schedules',
    'drain',
    'evict',
    'unquarantine',
    'replay',
    'backup',
    'restore',
    'export',
    'import',
    'quotas',
    'sizes',
    'retain',
    'archived',
    'vacuum',
    'graph',
    'prove',
  ]) {
    const page = await folder.run(['help', command]);
    const same = await folder.run([command, '--help']);
    assert.equal(page.code, 0);
    assert.equal(same.code, 0);
    assert.equal(page.stdout.raw, same.stdout.raw);
    assert.match(page.stdout.text, new RegExp(`^petrichor ${command}\\b`));
    assert.match(page.stdout.text, /^ {2}--json {2,}\S/m);
  }
});

test('the JSON help has one object per command', async () => {
  const { stdout } = await new CommandFolder().run(['help', '--json']);
  const names = stdout.json.map(({ command }) => command);
  assert.deepEqual(names, [
    'run',
    'dev',
    'serve',
    'mcp',
    'adk',
    'chat',
    'console',
    'keys',
    'sessions',
    'schedules',
    'drain',
    'evict',
    'unquarantine',
    'replay',
    'backup',
    'restore',
    'export',
    'import',
    'quotas',
    'sizes',
    'retain',
    'archived',
    'vacuum',
    'graph',
    'prove',
    'help',
  ]);
  assert.ok(
    stdout.json.every(({ usage, summary, options }) => usage && summary && Array.isArray(options)),
  );
});

test('--version prints the version of the package', async () => {
  const folder = new CommandFolder();
  assert.equal((await folder.run(['--version'])).stdout.raw, '1.2.3\n');
  assert.deepEqual((await folder.run(['--version', '--json'])).stdout.json, [{ version: '1.2.3' }]);
});

const misuses: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [['walk'], /There is no command "walk"\. Try: petrichor help$/],
  [['help', 'walk'], /There is no command "walk"\./],
  [['run'], /AGENT_MODULE is missing\. Try: petrichor help run$/],
  [['replay'], /SESSION is missing\./],
  [['replay', 'a', 'b'], /Unexpected argument "b"\./],
  [['run', 'a.ts', '--colour'], /Unknown option '--colour'\. Try: petrichor help run$/],
  [['run', 'a.ts', '--session'], /--session <value>' argument missing\./],
  [['sessions', '--limit', 'all'], /--limit must be a whole number above 0; it is "all"\./],
  [['serve', '--port', 'high'], /--port must be a number from 0 to 65535; it is "high"\./],
  [['serve', '--max-body', '0'], /--max-body must be a whole number above 0; it is "0"\./],
  [['chat', 'nowhere'], /"nowhere" is not a URL\./],
  [['keys'], /create\|list\|revoke is missing\./],
  [['keys', 'burn'], /"burn" is not create, list or revoke\. Try: petrichor help keys$/],
  [['keys', 'revoke'], /ID is missing\./],
  [['prove'], /AGENT_MODULE is missing\. Try: petrichor help prove$/],
  [['prove', 'a.ts', '--faults', 'many'], /--faults must be a whole number from 0; it is "many"\./],
  [['graph', 'a.ts', '--format', 'png'], /--format must be svg or dot; it is "png"\./],
];

for (const [args, says] of misuses) {
  test(`"${args.join(' ')}" exits with 2 and an error message`, async () => {
    const { code, stdout, stderr } = await new CommandFolder().run(args);
    assert.equal(code, 2);
    assert.equal(stdout.raw, '');
    assert.match(stderr.text.trimEnd(), says);
    assert.equal(stderr.text.trimEnd().split('\n').length, 1, 'no stack');
  });
}

test('with --json an error is one object with its code', async () => {
  const { code, stderr } = await new CommandFolder().run(['run', 'missing.ts', '--json']);
  assert.equal(code, 1);
  const [failure, ...more] = stderr.json;
  assert.deepEqual(
    [failure?.['type'], failure?.['code'], more.length],
    ['failure', 'agent_module', 0],
  );
});

test('--debug prints the stack of an error', async () => {
  const { stderr } = await new CommandFolder().run(['run', 'missing.ts', '--debug']);
  assert.match(stderr.text, /^petrichor: missing\.ts does not exist/);
  assert.match(stderr.text, /^ {4}at /m);
});

test('text after -- is an argument, not an option', async () => {
  const { stderr } = await new CommandFolder().run(['run', '--', '--json']);
  assert.match(stderr.text, /^petrichor: --json does not exist/);
});
