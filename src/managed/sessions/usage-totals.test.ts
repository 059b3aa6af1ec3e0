import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { UsageTotals } from './usage-totals.ts';

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

it('usage is counted from the last counted event, and from zero for a recreated session', async () => {
  const model = new ScriptedModel(() => ({ text: 'Yes.', usage }));
  await using runtime = await openRuntime({ agents: [agent({ name: 'chat', model })] });
  const readFrom: (number | undefined)[] = [];
  const read: Store['read'] = (key, from) => {
    readFrom.push(from);
    return runtime.store.read(key, from);
  };
  const totals = new UsageTotals({ read });
  const row = async (): Promise<SessionRow> =>
    (await runtime.session('s', { agent: 'chat' })).status();
  const turn = async (): Promise<void> => {
    const session = await runtime.session('s', { agent: 'chat' });
    for await (const _ of session.send('Hi')) continue;
  };

  await turn();
  await turn();
  const two = await row();
  assert.equal((await totals.get(two)).totalTokens, 10);
  assert.equal((await totals.get(two)).totalTokens, 10);
  await turn();
  assert.equal((await totals.get(await row())).totalTokens, 15);
  assert.deepEqual(readFrom, [0, two.lastSeq]);

  await runtime.delete('s');
  await turn();
  assert.equal((await totals.get(await row())).totalTokens, 5);
});
