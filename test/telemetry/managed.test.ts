import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { recordedTelemetry, formatTree, within } from './spans.ts';

test('the trace of a managed session is below the span that sent its message', async () => {
  const { telemetry, provider, spans } = await recordedTelemetry();
  const model = new ScriptedModel([{ text: 'Hello.' }], { name: 'google/gemini-2.5-flash' });
  await using runtime = await openManagedRuntime({
    resolver: async () => model,
    interceptors: [telemetry],
  });
  const { id: agentId } = await runtime.create({ name: 'Helper', model: 'gemini-2.5-flash' });
  const { id } = await runtime.startSession(agentId, { userId: 'ada' });
  const request = provider.getTracer('web').startSpan('POST /events');
  await within(request, async () =>
    runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text: 'Hi' }] }),
  );
  request.end();
  for await (const event of runtime.streamEvents(id, 0)) if (event.type === 'status.idle') break;
  assert.deepEqual(formatTree(spans().filter(({ name }) => name !== 'commit')), [
    'POST /events',
    '  invocation',
    '    invoke_agent Helper',
    '      chat gemini-2.5-flash',
  ]);
});
