import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { contentText } from '../../src/core/index.ts';
import { address, openCustomRunner } from './custom-agent-host.ts';

test('a custom agent killed between two yields continues after the last committed yield, and each state write counts once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custom-kill-'));
  try {
    const child = fork(new URL('custom-agent-host.ts', import.meta.url), [folder], {
      stdio: 'inherit',
    });
    const held = Promise.withResolvers<void>();
    const invocation = Promise.withResolvers<string>();
    child.on('message', (message) => {
      if (message === 'held') held.resolve();
      else if (typeof message === 'object' && message !== null && 'invocationId' in message)
        invocation.resolve(String(message.invocationId));
    });
    await held.promise;
    const invocationId = await invocation.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');

    const { runner, service } = openCustomRunner(folder, async () => undefined);
    const remainingEvents = await runner.run({ ...address, invocationId });
    assert.deepEqual(
      remainingEvents.map(({ author, content, actions }) => [
        author,
        contentText(content),
        actions.transferToAgent ?? actions.stateDelta,
      ]),
      [
        ['desk', 'At 2.', 'clerk'],
        ['desk', '', { count: 2 }],
        ['clerk', 'Taken over.', {}],
      ],
    );
    const session = await service.getSession(address);
    assert.deepEqual(session?.state, { stage: 'counted', count: 2 });
    const stateWrites = session.events.flatMap(({ author, actions: { stateDelta } }) =>
      Object.entries(stateDelta).map(([key, value]) => `${author} ${key}=${JSON.stringify(value)}`),
    );
    assert.deepEqual(stateWrites, [
      'desk stage="begun"',
      'desk stage="counted"',
      'desk count=1',
      'desk count=2',
    ]);
    const skips = session.events.filter(({ actions }) => actions.skipSummarization === true);
    assert.equal(skips.length, 1);
    assert.equal(readFileSync(join(folder, 'runs'), 'utf8'), 'run\nrun\n');
    await runner.close();
    await service.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
