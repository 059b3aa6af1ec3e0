/** A turn that version 0.1.0 started has its run config in temporary state. This version continues it. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createMetadataReader, turnCurrent } from '../../src/agents/internal.ts';
import { Runner } from '../../src/adk/index.ts';
import { StoreSessionService } from '../../src/adk/sessions/store-session-service.ts';
import { mapIn, SimulatedClock, valuesIn } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { model } from './cases/released-case.ts';
import { RELEASED_AT, releasedApp, releasedTools } from './released-agents.ts';

const RUN_CONFIG = { maxLlmCalls: 500, streamingMode: 'none', customMetadata: {} };

async function withFixture(use: (store: Store) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-metadata-'));
  const file = join(folder, 'adk.db');
  copyFileSync(join(import.meta.dirname, 'fixtures', 'adk.db'), file);
  const store = await openStore(`sqlite:${file}`);
  try {
    await use(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

it('every running turn of 0.1.0 has the run config of its message', async () => {
  await withFixture(async (store) => {
    let running = 0;
    for (const { key } of await store.list({ appName: 'desk' })) {
      const marking = await hydrate(store, key);
      for (const { invocationId } of valuesIn(marking, turnCurrent)) {
        running++;
        assert.ok('temp:run_config' in mapIn(marking, 'state'), key.sessionId);
        assert.deepEqual(
          createMetadataReader()(marking, invocationId).runConfig,
          RUN_CONFIG,
          key.sessionId,
        );
      }
    }
    assert.ok(running >= 3, `${running} turns run`);
  });
});

it('a tool of a turn of 0.1.0 runs with the run config of its message', async () => {
  await withFixture(async (store) => {
    const seen: unknown[] = [];
    const metadata: unknown[] = [];
    const tools = releasedTools(async () => 'done').map((one) => ({
      ...one,
      execute: (...[args, context]: Parameters<typeof one.execute>) => {
        seen.push(context.runConfig);
        metadata.push(context.metadata);
        return one.execute(args, context);
      },
    }));
    const clock = new SimulatedClock(RELEASED_AT + 1_000);
    const sessionService = new StoreSessionService(async () => store, clock);
    await using runner = new Runner({ app: releasedApp(model, tools), sessionService, clock });
    const address = { appName: 'desk', userId: 'u', sessionId: 'approval' };
    const events = (await sessionService.getSession(address))?.events ?? [];
    const [id = ''] = events.flatMap(({ actions }) =>
      Object.keys(actions.requestedToolConfirmations ?? {}),
    );
    const response = { id, name: 'delete', response: { confirmed: true } };
    await runner.run({
      ...address,
      newMessage: { role: 'user', parts: [{ functionResponse: response }] },
    });
    assert.ok(seen.length > 0);
    for (const runConfig of seen) assert.deepEqual(runConfig, RUN_CONFIG);
    // The message of the next turn carries its own.
    await runner.run({
      ...address,
      newMessage: { role: 'user', parts: [{ text: 'call look' }] },
      runConfig: { maxLlmCalls: 7, customMetadata: { ticket: 7 } },
    });
    const customMetadata = { ticket: 7 };
    assert.deepEqual(seen.at(-1), { ...RUN_CONFIG, maxLlmCalls: 7, customMetadata });
    assert.deepEqual([metadata[0], metadata.at(-1)], [{}, customMetadata]);
  });
});
