/** Recorded answers of a real model: the test replays the file, and needs neither key nor network. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, contentText, openRuntime } from 'petrichor';
import type { Model } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

type Answers = Record<string, Awaited<ReturnType<Model['generate']>>>;

/** Calls the model, and writes each answer to a file, by its request. */
function recordModel(model: Model, file: string): Model {
  const answers: Answers = {};
  return {
    name: model.name,
    generate: async (request, context) => {
      const answer = await model.generate(request, context);
      answers[JSON.stringify(request)] = answer;
      writeFileSync(file, JSON.stringify(answers, null, 2));
      return answer;
    },
  };
}

/** Answers from the file. A request that is not in the file fails the turn. */
function replayModel(file: string): Model {
  const answers: Answers = JSON.parse(readFileSync(file, 'utf8'));
  return {
    name: 'replay',
    generate: async (request) => {
      const answer = answers[JSON.stringify(request)];
      if (answer === undefined) throw new Error(`${file} has no answer: record it again.`);
      return answer;
    },
  };
}

async function ask(model: Model, message: string): Promise<string> {
  await using runtime = await openRuntime({ agents: [agent({ name: 'poet', model })] });
  const session = await runtime.session('test');
  // Call ids derive from the message id, and requests contain them: a fixed id makes equal requests.
  for await (const event of session.send(message, { messageId: 'm1' }))
    if (event.type === 'agent.message') return contentText(event.content);
    else if (event.type === 'error') throw new Error(event.message);
  return '';
}

test('a recorded answer is replayed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recorded-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'poet.json');

  // Once, with a real model: recordModel(await resolveModel('gpt-5', { env: process.env }), file)
  const recorder = recordModel(new ScriptedModel([{ text: 'Rain on dry ground.' }]), file);
  const recorded = await ask(recorder, 'A line about rain.');

  assert.equal(await ask(replayModel(file), 'A line about rain.'), recorded);
  await assert.rejects(ask(replayModel(file), 'A line about snow.'), /record it again/);
});
