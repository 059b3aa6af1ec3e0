/** Crash tests of a tool: what happens to a call whose process dies. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { agent, openRuntime, tool } from 'petrichor';
import { MemoryStore } from 'petrichor/store';
import { ScriptedModel } from 'petrichor/testing';

test('a report whose process died waits for a person', async () => {
  const began = Promise.withResolvers<void>();
  const writeReport = tool({
    name: 'write_report',
    description: 'Writes the report',
    onCrash: 'ask',
    execute: async (_args, { signal }) => {
      began.resolve();
      await setTimeout(3_600_000, undefined, { signal }); // still at work when the process dies
    },
  });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'write_report' }] }, { text: 'Done.' }]);
  const agents = [agent({ name: 'writer', model, tools: [writeReport] })];
  const store = new MemoryStore();

  const first = await openRuntime({ agents, store });
  const session = await first.session('test');
  await session.send('Write it.').accepted;
  await began.promise;

  // The store treats the owner as dead, and the next runtime recovers the call.
  await store.evict(session.key);
  await using second = await openRuntime({ agents, store });
  const recovered = await second.session('test');
  for await (const event of recovered.events()) if (event.type === 'turn.waiting') break;

  const [call] = await recovered.pending();
  assert.equal(call?.name, 'write_report');
  assert.equal(call.reason, 'crash');
  await first.close();
});

test('a card is charged once, before whichever commit the process is killed', () => {
  const host = join(import.meta.dirname, 'crash-host.ts');
  for (let commit = 1; ; commit++) {
    const folder = mkdtempSync(join(tmpdir(), 'crash-test-'));
    const first = spawnSync(process.execPath, [host, folder, String(commit)], { encoding: 'utf8' });
    const wasKilled = first.signal === 'SIGKILL';
    if (wasKilled) {
      const second = spawnSync(process.execPath, [host, folder], { encoding: 'utf8' });
      assert.equal(second.status, 0, second.stderr);
    } else assert.equal(first.status, 0, first.stderr);

    // The provider counts requests with the same key once.
    const charges = readFileSync(join(folder, 'charges.txt'), 'utf8').trim().split('\n');
    assert.equal(new Set(charges).size, 1, `killed before commit ${commit}`);
    rmSync(folder, { recursive: true });
    if (!wasKilled) return; // the turn has fewer commits
  }
});
