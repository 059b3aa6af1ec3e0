import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { workerTools } from '../../src/server/index.ts';
import { countingTool, userMessage, openServerFixture } from '../server/server-fixture.ts';
import { temporaryFolder } from '../server/temporary-folder.ts';

/** The first run ends when its folder is removed after the test. A second run ends at once. */
const command =
  'if [ -e begun ]; then echo "done by $$"; else touch begun; while [ -e begun ]; do sleep 0.2; done; fi';

test('when a worker is killed while a tool runs, another worker takes the session, and the call is answered once', async () => {
  using folder = temporaryFolder();
  await using on = await openServerFixture(
    ({ contents }) =>
      contents.some(({ parts }) => parts.some(isFunctionResponsePart))
        ? { text: 'All done.' }
        : { toolCalls: [{ name: 'bash', args: { command } }] },
    {
      builtIns: workerTools(async (name) => [countingTool(name)]),
      server: { keys: 'required', leaseMs: 3000 },
    },
  );
  const { token } = await on.server.keys.create('default', 'test');
  on.client.apiKey = token;
  const { beta } = on.client;
  const configs = [{ name: 'bash' as const, enabled: true }];
  const agent = await beta.agents.create({
    name: 'Worker',
    model: 'gemini-2.5-flash',
    tools: [{ type: 'agent_toolset_20260401', default_config: { enabled: false }, configs }],
  });
  const environment = await beta.environments.create({
    name: 'Own',
    config: { type: 'self_hosted' },
  });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  await beta.sessions.events.send(session.id, { events: [userMessage('Go')] });

  const begin = (): ChildProcess =>
    spawn(
      process.execPath,
      [
        join(import.meta.dirname, '../server/worker-process.ts'),
        on.url,
        token,
        environment.id,
        folder.path,
      ],
      // A process group, so that the worker's children are killed with it.
      { detached: true, stdio: 'inherit' },
    );
  const end = (worker: ChildProcess): void => {
    if (worker.pid !== undefined) process.kill(-worker.pid, 'SIGKILL');
  };
  const first = begin();
  while (!existsSync(join(folder.path, 'begun'))) await setTimeout(50);
  end(first);
  const second = begin();
  try {
    for (;;) {
      const { data } = await beta.sessions.events.list(session.id, { limit: 1000 });
      const results = data.filter((event) => event.type === 'user.tool_result');
      if (data.at(-1)?.type !== 'session.status_idle' || results.length === 0) {
        await setTimeout(100);
        continue;
      }
      assert.equal(results.length, 1);
      assert.match(JSON.stringify(results), /done by/);
      break;
    }
    const { data } = await beta.environments.work.list(environment.id);
    assert.equal(data.length, 1, 'the same work item has another worker');
  } finally {
    end(second);
  }
});
