import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInputError, contentText } from '../../core/index.ts';
import type { Content, LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { Session } from '../../runtime/index.ts';
import { agent } from '../index.ts';
import type { AgentDefinition, ContextInfo } from '../index.ts';

async function say(session: Session, text: string): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(text)) if ('seq' in event) events.push(event);
  return events;
}

/** The contents of the model request in each of five turns, and the log. */
async function runFiveTurns(
  context: NonNullable<AgentDefinition['context']>,
  more: Partial<AgentDefinition> = {},
): Promise<{
  readonly shown: readonly (readonly string[])[];
  readonly log: readonly LogEvent[];
}> {
  const model = new ScriptedModel(({ contents }) => ({
    text: `To ${contentText(contents.at(-1))}`,
  }));
  const talker = agent({ name: 'talker', model, context, ...more });
  await using runtime = await openRuntime({ agents: [talker] });
  const session = await runtime.session('s');
  const log: LogEvent[] = [];
  for (let n = 1; n <= 5; n++) log.push(...(await say(session, `q${n}`)));
  return { shown: model.requests.map(({ contents }) => contents.map(contentText)), log };
}

const one = (): number => 1;

test('an agent with a context budget sends the latest turns that fit, and logs all of them', async () => {
  const { shown, log } = await runFiveTurns({ maxTokens: 3, trimToTokens: 3, countTokens: one });
  assert.deepEqual(shown.slice(0, 2), [['q1'], ['q1', 'To q1', 'q2']]);
  assert.deepEqual(shown.at(-1), ['q4', 'To q4', 'q5']);
  const userTexts = log.flatMap((event) =>
    event.type === 'user.message' ? contentText(event.content) : [],
  );
  assert.deepEqual(userTexts, ['q1', 'q2', 'q3', 'q4', 'q5']);
});

test('the instruction and the tools count toward the budget', async () => {
  const countTokens = (): number => 100;
  const budget = { maxTokens: 550, trimToTokens: 550, countTokens };
  const brief = await runFiveTurns(budget);
  assert.equal(brief.shown.at(-1)?.length, 5);
  // 1,000 characters are 250 tokens.
  const long = await runFiveTurns(budget, { instruction: 'x'.repeat(1000) });
  assert.equal(long.shown.at(-1)?.length, 3);
});

test('a context function chooses the contents of a request, and receives the other parts of the request', async () => {
  const infos: ContextInfo[] = [];
  const context = (contents: readonly Content[], info: ContextInfo): readonly Content[] => {
    infos.push(info);
    const summary: Content = {
      role: 'user',
      parts: [{ text: `(${contents.length - 1} messages before)` }],
    };
    return contents.length === 1 ? contents : [summary, ...contents.slice(-1)];
  };
  const { shown } = await runFiveTurns(context, { instruction: 'Be brief.' });
  assert.deepEqual(shown.at(-1), ['(8 messages before)', 'q5']);
  const [info] = infos;
  assert.deepEqual(
    [info?.round, info?.model, info?.instruction, info?.tools],
    [0, 'scripted', 'Be brief.', []],
  );
});

test('a context function that returns no message, or throws, ends the turn with an error, and the session continues', async () => {
  let fault: 'nothing' | 'throws' | 'none' = 'nothing';
  const context = (contents: readonly Content[]): readonly Content[] => {
    if (fault === 'throws') throw new Error('No summary today.');
    return fault === 'nothing' ? [] : contents;
  };
  const model = new ScriptedModel(() => ({ text: 'Yes.' }));
  await using runtime = await openRuntime({ agents: [agent({ name: 'a', model, context })] });
  const session = await runtime.session('s');
  const errorIn = (events: readonly LogEvent[]): unknown =>
    events.flatMap((event) => (event.type === 'error' ? [[event.code, event.message]] : []))[0];
  assert.deepEqual(errorIn(await say(session, 'a')), [
    'invalid_input',
    'context: must leave the model at least one message.',
  ]);
  fault = 'throws';
  assert.deepEqual(errorIn(await say(session, 'b')), ['model_error', 'No summary today.']);
  fault = 'none';
  assert.equal(errorIn(await say(session, 'c')), undefined);
  assert.equal(model.requests.length, 1);
});

test('an invalid context budget is rejected when the agent is created', () => {
  const model = new ScriptedModel([]);
  assert.throws(
    () => agent({ name: 'a', model, context: { maxTokens: -1 } }),
    (error) => error instanceof InvalidInputError && /context\.maxTokens/.test(error.message),
  );
});
