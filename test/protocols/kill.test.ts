/** A server is killed while it runs tools for a stock client, which comes back by its own means. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSideEffects } from '../crash/side-effects.ts';
import { freePort } from '../free-port.ts';
import { ServeProcess } from '../server/serve-process.ts';
import { a2aDrivers } from './drivers/a2a-driver.ts';
import { mcpDrivers } from './drivers/mcp-driver.ts';

const AGENTS = join(import.meta.dirname, '..', 'server', 'killable-agents.ts');

describe('kill -9 of the server during a tool', () => {
  for (const driver of [...a2aDrivers, ...mcpDrivers])
    it(driver.name, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-protocol-kill-'));
      const effects = join(folder, 'effects.jsonl');
      const start = async (
        port: string,
        more: Record<string, string> = {},
      ): Promise<ServeProcess> =>
        ServeProcess.start({
          folder,
          args: ['--agents', AGENTS, '--port', port, '--protocols', `managed,${driver.protocol}`],
          env: { SIDE_EFFECTS: effects, ...more },
        });
      let server = await start(String(await freePort()), { HOLD_NOTES: '1' });
      try {
        const { url, port } = server;
        const [agentId = ''] = server.agents;
        const conversation = await driver.open({ url, agentId });
        const lost = conversation.send('work a').then(
          () => 'answered',
          () => 'lost',
        );
        const begun = (tool: string): number =>
          readSideEffects(effects).filter((one) => one.tool === tool && one.what === 'began')
            .length;
        while (begun('note') === 0) await sleep(2);
        await server.end('SIGKILL');
        const before = new Set(
          readSideEffects(effects).flatMap(({ what, tool, callId }) =>
            what === 'did' ? `${tool} ${callId}` : [],
          ),
        );
        server = await start(port);
        const { text, error } = await conversation.reconnect();
        assert.equal(await lost, 'lost');
        assert.deepEqual([text, error], ['Done: a.', undefined]);
        const again = await conversation.reconnect();
        assert.equal(again.text, 'Done: a.');
        const runs = readSideEffects(effects).filter(({ what }) => what === 'began');
        const notes = runs.filter(({ tool }) => tool === 'note').map(({ callId }) => callId);
        assert.equal(new Set(notes).size, notes.length, 'what may not run twice ran once');
        assert.ok(notes.length <= 2 && before.size <= 2);
      } finally {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
