import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { freePort } from '../../../test/free-port.ts';

const source = (path: string): string => new URL(`../../${path}`, import.meta.url).href;

/** An agent whose model has no key. Its instruction comes from another file. */
const agentFile = `
import { agent } from '${source('index.ts')}';
import { instruction } from './instruction.ts';
export const assistant = agent({ name: 'assistant', model: 'gpt-5', instruction });
`;

test('a file is served with the console, without a key, and reloaded when what it imports changes; while it has an error, the version before runs', async () => {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentFile);
  folder.write('instruction.ts', `export const instruction = 'Be brief.';`);
  folder.write('index.html', '<head><base href="/" /></head>');
  // Stands for the browser, and for the files of the console.
  const browser = folder.write(
    'browser.sh',
    `#!/bin/sh\nprintf %s "$1" > '${folder.path}/opened'\n`,
  );
  chmodSync(browser, 0o755);
  const env = {
    BROWSER: browser,
    PATH: process.env['PATH'] ?? '',
    PETRICHOR_CONSOLE_FILES: folder.path,
  };
  const args = ['dev', 'agent.ts', '--port', String(await freePort()), '--store', folder.store];
  const running = folder.start(args, { env });
  await running.stdout.shows(/Console: \S+\/console\//);
  const [, url = ''] = /Serving on (\S+) /.exec(running.stdout.text) ?? [];
  await running.stderr.shows(/scripted answer: set OPENAI_API_KEY/);
  const readSystem = async (): Promise<unknown> => {
    const response = await fetch(`${url}/v1/agents/agent_assistant`);
    return ((await response.json()) as { readonly system: unknown }).system;
  };
  assert.equal(await readSystem(), 'Be brief.');
  const ask = async (path: string, body: object): Promise<{ readonly id: string }> => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${url}${path}`, sent)).json()) as { readonly id: string };
  };
  const { id } = await ask('/v1/sessions', { agent: 'agent_assistant' });
  const content = [{ type: 'text', text: 'Hello' }];
  await ask(`/v1/sessions/${id}/events`, { events: [{ type: 'user.message', content }] });

  folder.write('instruction.ts', `export const instruction = ;`);
  await running.stderr.shows(/agent\.ts: The version before keeps running\. Correct the file\./);
  await running.stderr.shows(/could not be loaded/);
  assert.equal(await readSystem(), 'Be brief.');

  folder.write('instruction.ts', `export const instruction = 'Be kind.';`);
  await running.stderr.shows(/agent\.ts: Reloaded\./);
  await running.stdout.shows(/Console: [^]*Console: /);
  assert.equal(await readSystem(), 'Be kind.');
  const events = await (await fetch(`${url}/v1/sessions/${id}/events?limit=100`)).text();
  assert.match(events, /You wrote: Hello/, 'the session of the first version');
  // The browser is a process that nobody waits for.
  const opened = join(folder.path, 'opened');
  while (!existsSync(opened) || readFileSync(opened, 'utf8') === '') await delay(10);
  assert.equal(readFileSync(opened, 'utf8'), `${url}/console/`);

  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
  assert.equal(running.listened(), 0);
  await assert.rejects(fetch(url));
});

test('a file that does not exist, and a wrong command line, end the command', async () => {
  const folder = new CommandFolder();
  mkdirSync(join(folder.path, 'sub'));
  const missing = await folder.run(['dev', 'sub/agent.ts', '--no-open']);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr.text, /sub\/agent\.ts.* does not exist/);
  assert.equal((await folder.run(['dev'])).code, 2);
  folder.write('agent.ts', 'export const agents = [];');
  const wrong = await folder.run(['dev', 'agent.ts', '--port', 'x', '--no-open']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr.text, /--port must be a number/);
  assert.ok(!existsSync(join(folder.path, 'petrichor.db')));
});
