import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { deployTool, userMessage } from './managed-fixture.ts';

async function openRuntime(file: string): Promise<ManagedRuntime> {
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'deploy', args: { target: 'prod' } }] },
    { text: 'Done.' },
  ]);
  return openManagedRuntime({ store: `sqlite:${file}`, resolver: async () => model });
}

async function until(runtime: ManagedRuntime, id: string, type: string): Promise<void> {
  for await (const event of runtime.streamLog(id, 0)) if (event.type === type) return;
}

/**
 * Lets this many calls wait while their process ends, and answers each in the next process.
 * @throws AssertionError
 */
export async function parkAcrossRestart(sessions: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-many-'));
  try {
    const file = join(folder, 'sessions.db');
    const first = await openRuntime(file);
    const agent = await first.create({
      name: 'many',
      model: 'gemini-2.5-flash',
      tools: [deployTool],
    });
    const ids = await Promise.all(
      Array.from({ length: sessions }, async (_, n) => {
        const { id } = await first.startSession(agent.id, { userId: `user-${n % 7}` });
        await first.sendEvent(id, userMessage(`Deploy ${n}`));
        await until(first, id, 'turn.waiting');
        return id;
      }),
    );
    await first.close();
    await using second = await openRuntime(file);
    await Promise.all(
      ids.map(async (id, n) => {
        const [call] = await second.pending(id);
        await second.sendEvent(id, {
          type: 'user.custom_tool_result',
          custom_tool_use_id: call?.callId ?? '',
          content: [{ type: 'text', text: `result ${n}` }],
        });
        await until(second, id, 'turn.ended');
      }),
    );
    for (const n of [0, 1, sessions / 2, sessions - 1]) {
      const results: unknown[] = [];
      for await (const event of second.streamLog(ids[n] ?? '', 0, { follow: false }))
        if (event.type === 'tool.result') results.push(event.response);
      assert.deepEqual(results, [{ result: `result ${n}` }]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
