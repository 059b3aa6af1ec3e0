import assert from 'node:assert/strict';
import { test } from 'node:test';
import Newest from '@anthropic-ai/sdk';
import Oldest from 'anthropic-sdk-0-93';
import First from 'anthropic-sdk-1-0';
import { ScriptedModel } from '../../src/models/index.ts';
import { workerTools } from '../../src/server/index.ts';
import { conformanceCases } from './conformance-cases.ts';
import { countingTool, openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { webhookReceiver } from './webhook-receiver.ts';

const versions = [
  ['1.12.0', (baseURL: string) => new Newest({ baseURL, apiKey: 'none' })],
  ['1.0.0', (baseURL: string) => new First({ baseURL, apiKey: 'none' })],
  ['0.93.0', (baseURL: string) => new Oldest({ baseURL, apiKey: 'none' })],
] as const;

for (const [version, open] of versions) {
  test(`the stock client ${version} works with this server as with the original service`, async (t) => {
    await using receiver = await webhookReceiver(() => ({ status: 200 }));
    await using on = await openServerFixture(scriptedChat, {
      server: { webhooks: { allowHosts: [receiver.host] } },
      builtIns: workerTools(async (name) => [countingTool(name)]),
      grader: new ScriptedModel(() => ({
        text: '{"result":"satisfied","explanation":"It rhymes."}',
      })),
    });
    // All versions share the names and types of these methods with the newest version.
    const client = open(on.url) as unknown as Newest;
    const passed: string[] = [];
    const skipped: string[] = [];
    for (const { call, skip, check } of conformanceCases) {
      const reason = skip?.(client);
      if (reason !== undefined) {
        skipped.push(`${call}: ${reason}`);
        continue;
      }
      await t.test(call, async () => {
        await check(client, on, receiver);
        passed.push(call);
      });
    }
    const total = conformanceCases.length - skipped.length;
    t.diagnostic(
      `score ${passed.length} of ${total}${skipped.length > 0 ? `; skipped ${skipped.join('; ')}` : ''}`,
    );
    assert.equal(passed.length, total);
  });
}
