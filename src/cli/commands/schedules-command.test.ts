import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../client/index.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { scriptedChat } from '../../../test/server/scripted-chat.ts';
import { openServerFixture } from '../../../test/server/server-fixture.ts';

test('a schedule is created, listed, paused, run, resumed and deleted', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createClient({ baseUrl: on.url });
  const { id: agent } = await client.agents.create({ name: 'Helper', model: 'gemini-2.5-flash' });
  const run = async (...args: readonly string[]): ReturnType<CommandFolder['run']> =>
    new CommandFolder().run(['schedules', ...args, '--url', on.url]);

  assert.match((await run('list')).stdout.text, /^There are no schedules here yet\.\n$/);
  const definition = ['--agent', agent, '--message', 'Hello', '--cron', '0 9 * * 1-5'];
  const created = await run('create', 'daily', ...definition, '--time-zone', 'Europe/Berlin');
  assert.equal(created.code, 0, created.stderr.text);
  const [head, row] = (await run('list')).stdout.text.split('\n');
  assert.match(head ?? '', /^SCHEDULE +DUE +AGENT +STATUS +NEXT +LAST RUN +MESSAGE$/);
  assert.match(row ?? '', /^daily +0 9 \* \* 1-5 Europe\/Berlin +agent_\S+ +active +20\S+ +Hello$/);

  assert.match((await run('pause', 'daily')).stdout.text, / paused /);
  const [requested] = (await run('run', 'daily', '--json')).stdout.json;
  let history = await run('history', 'daily', '--json');
  while (history.stdout.json.length === 0) history = await run('history', 'daily', '--json');
  assert.deepEqual(
    history.stdout.json.map(({ id, kind }) => [id, kind]),
    [[requested?.['run'], 'manual']],
  );
  assert.match((await run('resume', 'daily')).stdout.text, / active /);
  assert.match((await run('delete', 'daily')).stdout.text, /^The schedule daily is deleted\.\n$/);
  const missing = await run('pause', 'daily');
  assert.equal(missing.code, 1);
  assert.match(missing.stderr.text, /There is no schedule "daily"/);
});

test('wrong arguments of a schedule are refused with what to do', async () => {
  await using on = await openServerFixture(scriptedChat);
  const client = createClient({ baseUrl: on.url });
  const { id: agent } = await client.agents.create({ name: 'Helper', model: 'gemini-2.5-flash' });
  const refuse = async (problem: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await new CommandFolder().run(['schedules', ...args, '--url', on.url]);
    assert.notEqual(code, 0);
    assert.match(stderr.text, problem);
  };
  const known = ['--agent', agent, '--message', 'Hello'];
  await refuse(/"start" is not list, create/, 'start');
  await refuse(/ID is missing/, 'pause');
  await refuse(/needs --agent ID/, 'create');
  await refuse(/needs --message TEXT/, 'create', '--agent', agent);
  await refuse(/--every must be a duration .* it is "soon"/, 'create', ...known, '--every', 'soon');
  await refuse(/--overlap must be one of skip/, 'create', ...known, '--overlap', 'never');
  await refuse(/cron: must be five fields.*"61/, 'create', ...known, '--cron', '61 * * * *');
});
