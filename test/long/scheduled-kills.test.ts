import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../crash/random-kills.ts';
import { killWhileSchedulesRun } from '../fleet/scheduled-kills.ts';
import { NO_SERVER, startMysqlServer } from '../mysql/mysql-server.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { sampleSeed } from '../sample-seed.ts';

const SECONDS = Number(process.env['PETRICHOR_SCHEDULED_SECONDS'] ?? 60);

for (const { name, start } of [
  { name: 'PostgreSQL', start: async () => startPostgresServer({ restartable: true }) },
  { name: 'MySQL', start: async () => startMysqlServer() },
])
  test(`two servers on ${name} that are killed again and again send one message for each due time`, async (t) => {
    const server = await start();
    if (server === undefined) return t.skip(name === 'MySQL' ? NO_SERVER : 'no PostgreSQL');
    try {
      const random = randomFrom(sampleSeed);
      const report = await killWhileSchedulesRun(server.url, { seconds: SECONDS, random });
      t.diagnostic(JSON.stringify(report));
      assert.ok(report.kills > 0 && report.dueTimes > report.skipped);
    } finally {
      await server.stop();
    }
  });
