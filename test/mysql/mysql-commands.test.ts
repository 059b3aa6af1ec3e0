import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { DatabaseSessionService } from '../../src/adk/index.ts';
import { sessionServiceContract } from '../../src/adk/sessions/contract/session-service-cases.ts';
import { agentSource } from '../cli/agent-source.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { listTexts, readLines, withKilledInvocation } from '../crash/killed-invocation.ts';
import { randomFrom } from '../crash/random-kills.ts';
import { here } from '../crash/runner-host.ts';
import { runFleet } from '../fleet/run-fleet.ts';
import { sampleSeed } from '../sample-seed.ts';
import { connectMysql, NO_SERVER, startMysqlServer, type MysqlServer } from './mysql-server.ts';

describe('MySQL', () => {
  let server: MysqlServer | undefined;
  let prefixes = 0;

  before(async () => {
    server = await startMysqlServer();
  });

  after(async () => {
    await server?.stop();
  });

  it('petrichor console shows the sessions of a MySQL store, and writes nothing there', async (t) => {
    if (server === undefined) return t.skip(NO_SERVER);
    const folder = new CommandFolder();
    folder.write('agent.ts', agentSource);
    folder.write('index.html', '<head><base href="/" /></head>');
    await folder.run(['run', 'agent.ts', '--session', 'demo', '--store', server.url], 'hello\n');
    const listed = await folder.run(['sessions', '--store', server.url]);
    assert.match(listed.stdout.text, /demo/);
    const before = await checksums(server.url);
    const running = folder.start(
      ['console', '--port', '0', '--store', server.url, '--app', 'petrichor', 'agent.ts'],
      { env: { PETRICHOR_CONSOLE_FILES: folder.path } },
    );
    await running.stdout.shows(/Console: \S+\/console\/\n.+\n/);
    assert.doesNotMatch(running.stdout.text, /mysql:/, 'a URL may have a password');
    const [, url = ''] = /Console: (\S+)\/console\//.exec(running.stdout.text) ?? [];
    const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    assert.match(await get('/v1/sessions'), /"id":"demo"/);
    assert.match(await get('/v1/sessions/demo/records'), /"transition":"turn\.end"/);
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
    assert.deepEqual(await checksums(server.url), before);
  });

  it('two servers on one MySQL database lose and repeat nothing while one is killed, one drained and one paused', async (t) => {
    if (server === undefined) return t.skip(NO_SERVER);
    const report = await runFleet({
      server,
      nodes: 2,
      sessions: 2,
      // No cut: after one, a dead owner is waited for as long as after a restart of the database.
      faults: ['pause', 'drain', 'kill'],
      untilNextFault: async (countRuns) => {
        const enough = countRuns() + 4;
        while (countRuns() < enough) await sleep(20);
      },
      random: randomFrom(sampleSeed),
      pauseMs: () => 500,
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.calls >= 2 * 4);
  });

  it('an invocation whose process was killed is resumed without repeating finished work', async (t) => {
    if (server === undefined) return t.skip(NO_SERVER);
    await withKilledInvocation(
      async ({ folder, invocationId, open }) => {
        const events = await open().run({ ...here, invocationId });
        assert.deepEqual(listTexts(events), ['Both are done.']);
        assert.deepEqual(readLines(folder, 'done'), ['first 1', 'second 2']);
        assert.deepEqual(readLines(folder, 'asked'), ['1', '3', '5']);
      },
      { url: server.url, schema: 'killed' },
    );
  });

  for (const { name, check } of sessionServiceContract)
    it(`DatabaseSessionService on MySQL: ${name}`, async (t) => {
      if (server === undefined) return t.skip(NO_SERVER);
      const service = new DatabaseSessionService(server.url.replace('mysql:', 'mysql+pymysql:'), {
        schema: `sessions_${prefixes++}`,
        poolSize: 3,
      });
      await check(service);
      await service.close();
    });
});

/** A checksum of each table of the default prefix. */
async function checksums(url: string): Promise<readonly unknown[]> {
  const client = await connectMysql(url);
  const [tables] = await client.query<RowDataPacket[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'petrichor\\_%' ORDER BY 1",
  );
  const names = tables.map(({ name }) => `\`${name}\``);
  const [sums] = await client.query<RowDataPacket[]>(`CHECKSUM TABLE ${names.join(', ')}`);
  await client.end();
  assert.ok(sums.length > 10);
  return sums.map((row) => ({ ...row }));
}
