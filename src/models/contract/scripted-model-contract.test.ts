import { test } from 'node:test';
import type { ModelHarness } from './model-contract-case.ts';
import { modelContract } from './model-contract.ts';
import { ScriptedModel } from '../scripted/scripted-model.ts';
import type { ScriptedTurn } from '../scripted/scripted-turn.ts';

for (const { name, check } of modelContract) {
  test(`ScriptedModel: ${name}`, () => check(makeHarness));
}

async function makeHarness(turns: readonly ScriptedTurn[]): Promise<ModelHarness> {
  const model = new ScriptedModel(turns);
  return { model, requestCount: () => model.requests.length, close: async () => undefined };
}
