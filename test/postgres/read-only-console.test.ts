import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { agentSource } from '../cli/agent-source.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { pathWith, rawRequest, servedRoutes } from '../security/served-routes.ts';
import { startPostgresServer } from './postgres-server.ts';

test('petrichor console shows the sessions of a PostgreSQL store, and no request can write there', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  try {
    const folder = new CommandFolder();
    folder.write('agent.ts', agentSource);
    folder.write('index.html', '<head><base href="/" /></head>');
    await folder.run(['run', 'agent.ts', '--session', 'demo', '--store', server.url], 'hello\n');
    const before = await countWrites(server.url);
    await checkThatNoPasswordIsShown(folder, server.url);

    const running = folder.start(
      [
        'console',
        '--port',
        '0',
        '--store',
        server.url,
        '--app',
        'petrichor',
        '--read-only',
        'agent.ts',
      ],
      { env: { PETRICHOR_CONSOLE_FILES: folder.path } },
    );
    try {
      await running.stdout.shows(/Console: \S+\/console\/\n.+\n/);
      assert.doesNotMatch(running.stdout.text, /postgres:/, 'a URL may have a password');
      const [, url = ''] = /Console: (\S+)\/console\//.exec(running.stdout.text) ?? [];
      const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
      assert.match(await get('/v1/sessions'), /"id":"demo"/);
      assert.match(await get('/v1/sessions/demo/records'), /"transition":"turn\.end"/);
      assert.match(await get('/v1/sessions/demo/net'), /"turn\.start"/);
      const events = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];
      for (const { name, method, path } of await servedRoutes(url)) {
        const reply = await rawRequest(url, method, {
          path: pathWith(path, { session_id: 'demo' }),
          headers: { 'content-type': 'application/json' },
          body: method === 'POST' ? JSON.stringify({ events }) : '',
        });
        // 501: the route exists to refuse.
        assert.ok(
          reply.status < 500 || reply.status === 501,
          `${name} ${reply.status} ${reply.text}`,
        );
        if (method !== 'GET') assert.match(reply.text, /This server is read-only/, name);
      }
      assert.deepEqual(await countWrites(server.url), before);
    } finally {
      running.signal('SIGTERM');
    }
    assert.equal(await running.exit, 0);
    assert.deepEqual(await countWrites(server.url), before);
  } finally {
    await server.stop();
  }
});

/** All rows of all tables, as one hash per table. */
async function countWrites(url: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'petrichor' ORDER BY 1`,
  );
  const found: unknown[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query(
      `SELECT count(*) AS count, md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS hash FROM ${name} t`,
    );
    found.push([name, rows[0]]);
  }
  await client.end();
  assert.ok(found.length > 3);
  return found;
}

/** What commands print about a store whose URL has a password. */
async function checkThatNoPasswordIsShown(folder: CommandFolder, url: string): Promise<void> {
  const secret = 'secret-of-the-url';
  const store = `${url}${url.includes('?') ? '&' : '?'}application_name=${secret}`;
  const chats = ['run', 'agent.ts', '--session', 'demo', '--store'];
  const typed = await folder.run([...chats, store], '');
  assert.match(typed.stdout.text, / · postgres:\/\/[^?@]*$/m);
  const chat = folder.start([...chats, 'env:STORE'], { env: { STORE: store }, input: '' });
  assert.equal(await chat.exit, 0);
  assert.match(chat.stdout.text, /Resume with: .* --store env:STORE$/m);
  const none = await folder.run(['replay', 'none', '--store', store]);
  assert.match(none.stderr.text, /There is no session "none"/);
  const serving = folder.start(['serve', '--port', '0', '--store', store]);
  await serving.stdout.shows(/Serving on/);
  serving.signal('SIGINT');
  assert.equal(await serving.exit, 0);
  for (const { stdout, stderr } of [typed, chat, none, serving])
    assert.doesNotMatch(stdout.text + stderr.text, new RegExp(secret));
}
