import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { contentText } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import {
  alice,
  sessionServiceContract,
} from '../../src/adk/sessions/contract/session-service-cases.ts';
import { DatabaseSessionService, LlmAgent, Runner } from '../../src/adk/index.ts';
import { tool } from '../../src/tools/index.ts';
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
      await client.query(`DROP SCHEMA IF EXISTS ${schemaName(index)} CASCADE`);
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
      const service = open(server.url, schemaName(schemas++));
      await check(service);
      await service.close();
    });
  }

  it('another process continues a conversation, and echo receives the SQL statements', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const { url } = server;
    const schema = schemaName(schemas++);
    const statements: string[] = [];
    const model = new ScriptedModel(({ contents }) => ({
      text: contents.map(contentText).join(' | '),
    }));
    const sendInNewProcess = async (newMessage: string): Promise<string> => {
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
      return events
        .map(({ content }) => (content === undefined ? '' : contentText(content)))
        .join();
    };
    assert.equal(await sendInNewProcess('one'), 'one');
    assert.equal(await sendInNewProcess('two'), 'one | one | two');
    assert.ok(statements.some((statement) => statement.includes('INSERT INTO')));
  });

  it('ten concurrent messages from two processes to one session are answered one after the other', async (t) => {
    if (server === undefined) return t.skip('no PostgreSQL for this platform');
    const { url } = server;
    const schema = schemaName(schemas++);
    const count = tool({
      name: 'count',
      description: 'Counts',
      execute: (_, { state }) => state.set('n', Number(state.get('n') ?? 0) + 1),
    });
    const runners = [0, 1].map(() => {
      const sessionService = open(url, schema);
      const model = new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'count' }] },
      );
      const agent = new LlmAgent({ name: 'chat', model, tools: [count] });
      return new Runner({ appName: 'chatbot', agent, sessionService });
    });
    const [first] = runners;
    await first?.sessionService.createSession({ ...alice, sessionId: 's1' });
    const runs = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        runners[index % 2]?.run({ userId: alice.userId, sessionId: 's1', newMessage: `${index}` }),
      ),
    );
    assert.ok(runs.every((events) => contentText(events?.at(-1)?.content ?? none) === 'Done.'));
    const session = await first?.sessionService.getSession({ ...alice, sessionId: 's1' });
    assert.equal(session?.state['n'], 10);
    for (const runner of runners) await runner.close();
  });
});

const none = { role: 'model', parts: [] } as const;

function schemaName(index: number): string {
  return `sessions_${process.pid}_${index}`;
}
