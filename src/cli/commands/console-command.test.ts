import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { readWrittenConfig } from '../../../test/server/read-written-config.ts';
import type { Running } from '../../../test/cli/command-folder.ts';

function createFolder(): CommandFolder {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  folder.write('index.html', '<head><base href="/" /></head>');
  return folder;
}

async function start(
  folder: CommandFolder,
  args: readonly string[],
): Promise<{ readonly running: Running; readonly url: string }> {
  const env = { PETRICHOR_CONSOLE_FILES: folder.path };
  const running = folder.start(['console', '--port', '0', ...args], { env });
  await running.stdout.shows(/Console: \S+\/console\/\n.+\n/);
  const [, url = ''] = /Console: (\S+)\/console\//.exec(running.stdout.text) ?? [];
  return { running, url };
}

function readFiles(folder: CommandFolder): ReadonlyMap<string, string> {
  const names = readdirSync(folder.path).toSorted();
  return new Map(names.map((name) => [name, readFileSync(join(folder.path, name), 'base64')]));
}

test('the sessions of a store are shown without a server; nothing runs, and no byte of the store changes', async () => {
  const folder = createFolder();
  const session = ['--session', 'demo', '--store', folder.store];
  await folder.run(['run', 'agent.ts', ...session], 'hello\ndelete it\n');
  const before = readFiles(folder);
  const { running, url } = await start(folder, ['--store', folder.store, '--app', 'petrichor']);
  const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
  assert.match(await get('/v1/sessions'), /"id":"demo"/);
  assert.match(await get('/v1/sessions/demo/events'), /You said: hello/);
  assert.match(await get('/v1/pending'), /"name":"delete_file"/);
  assert.match(await get('/console/'), /read_only&quot;:true/);
  const answer = { type: 'user.tool_confirmation', tool_use_id: 'x', result: 'allow' };
  const refused = await fetch(`${url}/v1/sessions/demo/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ events: [answer] }),
  });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /"read_only"/);
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
  assert.equal(running.listened(), 0);
  assert.deepEqual(readFiles(folder), before);
});

test('with the file of the agents, the records and the net of a session are shown', async () => {
  const folder = createFolder();
  await folder.run(['run', 'agent.ts', '--session', 'demo', '--store', folder.store], 'hello\n');
  const shown = ['--store', folder.store, '--app', 'petrichor'];
  const { running, url } = await start(folder, [...shown, 'agent.ts']);
  const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
  assert.match(await get('/v1/sessions/demo/net'), /"turn\.start"/);
  assert.match(await get('/v1/sessions/demo/records'), /"transition":"turn\.end"/);
  assert.match(await get('/v1/agents'), /"agent_/);
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);

  const without = await start(folder, shown);
  assert.match(without.running.stdout.text, /Name the file of the agents/);
  const read = async (path: string): Promise<string> =>
    (await fetch(`${without.url}/v1/sessions/demo/${path}`)).text();
  assert.match(await read('records'), /"transition":"turn\.end"/);
  assert.match(await read('net'), /unknown_agent/);
  without.running.signal('SIGTERM');
  assert.equal(await without.running.exit, 0);
});

test('the console of another server is a page that calls that server only, from the browser', async () => {
  const folder = createFolder();
  const { running, url } = await start(folder, [
    '--server',
    'http://127.0.0.1:9/api',
    '--read-only',
  ]);
  const page = await fetch(`${url}/`);
  assert.equal(page.url, `${url}/console/`);
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /connect-src 'self' http:\/\/127\.0\.0\.1:9;/,
  );
  assert.deepEqual(readWrittenConfig(await (await fetch(`${url}/console/`)).text()), {
    server: 'http://127.0.0.1:9/api/',
    read_only: true,
    proofs: false,
  });
  assert.equal((await fetch(`${url}/v1/sessions`)).status, 404, 'nothing is forwarded');
  assert.match(running.stdout.text, /--allow-origin http:\/\/127\.0\.0\.1:\d+/);
  running.signal('SIGINT');
  assert.equal(await running.exit, 0);
});

test('addresses that are no server, and stores that are no file, are refused', async () => {
  const folder = createFolder();
  for (const [args, message] of [
    [['--server', 'file:///etc/passwd'], /http\(s\) URL/],
    [['--server', 'javascript:alert(1)'], /http\(s\) URL/],
    [['--server', 'http://user:secret@host/'], /http\(s\) URL/],
    [['--server', 'http://host/?x=1'], /http\(s\) URL/],
    [['--server', 'http://host', '--store', 'a.db'], /exclude each other/],
    [['--app', 'x'], /only with --store/],
    [['--store', 'memory:'], /must be a SQLite file, or a PostgreSQL or MySQL database/],
    [['agent.ts'], /only with --store/],
  ] as const) {
    const { code, stderr } = await folder.run(['console', ...args]);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr.text, message);
    assert.doesNotMatch(stderr.text, /secret/);
  }
  const missing = await folder.run(['console', '--store', 'gone.db']);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr.text, /no store at gone\.db/);
});
