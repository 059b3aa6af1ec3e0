import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentText, InMemoryRunner, isFinalResponse } from 'petrichor/adk';
import { tripPlanner } from './agent.ts';
import { researcherModel, writerModel } from './demo-model.ts';

test('the writer gets the facts of the researcher', async () => {
  const agent = tripPlanner({ researcher: researcherModel(), writer: writerModel() });
  const runner = new InMemoryRunner({ agent });
  const events = await runner.runDebug('Plan a day in Oslo');
  const answers = events.filter(isFinalResponse);
  assert.equal(answers.at(-1)?.author, 'writer');
  assert.match(contentText(answers.at(-1)?.content), /Pack a coat.*Oslo.*14/);
  await runner.close();
});
