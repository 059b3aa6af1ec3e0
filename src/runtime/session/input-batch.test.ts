import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../open-runtime.ts';

test('a session that a batch creates accepts messages, also when they are added at once', async () => {
  const assistant = agent({
    name: 'assistant',
    model: new ScriptedModel(() => ({ text: 'Yes.' })),
  });
  await using runtime = await openRuntime({ agents: [assistant] });
  const batch = runtime.batch();
  const session = await batch.session('s');
  const adding = ['One', 'Two'].map(async (text) =>
    batch.add(async () => session.send(text, { messageId: text }).accepted),
  );
  const [one, two] = await Promise.all(adding);
  assert.deepEqual(
    [one, two].map((added) => JSON.stringify(added?.input).includes('"messageId":"One"')),
    [true, false],
  );
  const result = await batch.submit();
  assert.ok(result.ok);
  assert.deepEqual(
    result.receipts.map(({ inputSeq }) => inputSeq),
    [1, 2],
  );
  assert.deepEqual(await Promise.all([one?.done, two?.done]), [1, 2]);
});
