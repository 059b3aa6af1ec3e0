import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { textOf } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { alice, sessionServiceContract } from '../../src/runner/contract/session-service-cases.ts';
import { DatabaseSessionService, LlmAgent, Runner } from '../../src/runner/index.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

describe('DatabaseSessionService on PostgreSQL', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;
  const opened: DatabaseSessionService[] = [];

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await Promise.all(opened.map((service) => service.close()));
    if (server === undefined) return;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    for (let index = 0; index < schemas; index++)
      await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(index)} CASCADE`);
    await client.end();
    await server.stop();
  });

  const open = (
    url: string,
    schema: string,
    echo?: (statement: string) => void,
  ): DatabaseSessionService => {
    const service = new DatabaseSessionService(url.replace('postgres:', 'postgresql+asyncpg:'), {
      poolSize: 3,
      maxOverflow: 1,
      poolRecycle: 3600,
      schema,
      ...(echo !== undefined && { echo }),
    });
    opened.push(service);
    return service;
  };

  for (const { name, check } of sessionServiceContract) {
    it(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const service = open(server.url, schemaOf(schemas++));
      await check(service);
      await service.close();
    });
  }

  it('a conversation begun by one process is gone on with by another, and SQL is shown to who asks', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const { url } = server;
    const schema = schemaOf(schemas++);
    const statements: string[] = [];
    const model = new ScriptedModel(({ contents }) => ({ text: contents.map(textOf).join(' | ') }));
    const say = async (newMessage: string): Promise<string> => {
      const sessionService = open(url, schema, (statement) => statements.push(statement));
      const agent = new LlmAgent({ name: 'chat', model });
      await using runner = new Runner({
        appName: 'chatbot',
        agent,
        sessionService,
        autoCreateSession: true,
      });
      const events = await runner.run({ userId: alice.userId, sessionId: 's1', newMessage });
      await runner.close();
      await sessionService.close();
      return events.map(({ content }) => (content === undefined ? '' : textOf(content))).join();
    };
    assert.equal(await say('one'), 'one');
    assert.equal(await say('two'), 'one | one | two');
    assert.ok(statements.some((statement) => statement.includes('INSERT INTO')));
  });
});

function schemaOf(index: number): string {
  return `sessions_${process.pid}_${index}`;
}
