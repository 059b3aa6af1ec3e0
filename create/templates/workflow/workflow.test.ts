import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRuntime } from 'petrichor';
import { deskWorkflow, demoLedger } from './workflow.ts';
import { demoModel } from './demo-model.ts';

test('a question about an invoice is answered from the ledger', async () => {
  const model = demoModel();
  const runtime = await openRuntime({ agents: [deskWorkflow(model, demoLedger)] });
  const session = await runtime.session('test');
  assert.equal(await session.ask('Is invoice 8 paid?'), '800 cents, paid.');
  assert.equal(await session.ask('And invoice 7?'), '700 cents, open.');
  assert.equal(model.requests.length, 0);
  await runtime.close();
});

test('an agent answers any other question', async () => {
  const model = demoModel();
  const runtime = await openRuntime({ agents: [deskWorkflow(model, demoLedger)] });
  const session = await runtime.session('test');
  assert.match(await session.ask('Hello'), /Name an invoice/);
  assert.equal(model.requests.length, 1);
  await runtime.close();
});
