import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, custom, loop, parallel, sequential, START, workflow } from '../../agents/index.ts';
import type { Agent, OutcomeDefinition, OutcomesOption } from '../../agents/index.ts';
import { contentText, deriveInvocationId, UnknownFieldError } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';
import { openRuntime } from '../open-runtime.ts';
import { OutcomesNotEnabledError } from './define-outcome.ts';
import type { Session } from './session.ts';

/** Asks for this many revisions, and is then satisfied. */
function grader(revisions: number): ScriptedModel {
  const model: ScriptedModel = new ScriptedModel(() => ({
    text: JSON.stringify(
      model.requests.length <= revisions
        ? { result: 'needs_revision', explanation: `fault ${model.requests.length}` }
        : { result: 'satisfied', explanation: 'Good.' },
    ),
  }));
  return model;
}

/** Answers with the number of its calls. */
function writer(name: string): Agent {
  const model: ScriptedModel = new ScriptedModel(() => ({
    text: `${name} ${model.requests.length}`,
  }));
  return agent({ name, model });
}

/** An agent that hands the turn to its sub-agent `writer`, and to whom nobody hands it back. */
function desk(outcomes: OutcomesOption): Agent {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user'
      ? { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'writer' } }] }
      : { text: 'No.' },
  );
  return agent({ name: 'desk', model, subAgents: [writer('writer')], maxTransfers: 2, outcomes });
}

const kinds: readonly (readonly [
  create: (outcomes: OutcomesOption) => Agent,
  answers: readonly string[],
])[] = [
  [
    (outcomes) => {
      const model: ScriptedModel = new ScriptedModel(() => ({
        text: `alone ${model.requests.length}`,
      }));
      return agent({ name: 'alone', model, outcomes });
    },
    ['alone 1', 'alone 2', 'alone 3'],
  ],
  [
    (outcomes) =>
      sequential({ name: 'steps', subAgents: [writer('one'), writer('two')], outcomes }),
    ['one 1', 'two 1', 'one 2', 'two 2', 'one 3', 'two 3'],
  ],
  [
    (outcomes) => parallel({ name: 'both', subAgents: [writer('left')], outcomes }),
    ['left 1', 'left 2', 'left 3'],
  ],
  [
    (outcomes) => loop({ name: 'again', subAgents: [writer('draft')], maxIterations: 2, outcomes }),
    ['draft 1', 'draft 2', 'draft 3', 'draft 4', 'draft 5', 'draft 6'],
  ],
  [
    (outcomes) =>
      custom({
        name: 'own',
        outcomes,
        async *run() {
          yield 'done';
        },
      }),
    ['done', 'done', 'done'],
  ],
  [
    (outcomes) =>
      workflow({
        name: 'flow',
        outcomes,
        nodes: [{ kind: 'agent', name: 'node', agent: writer('node') }],
        edges: [{ from: START, to: 'node' }],
      }),
    ['node 1', 'node 2', 'node 3'],
  ],
  [desk, ['writer 1', 'writer 2', 'writer 3']],
];

async function readTurns(session: Session, turns: number): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  let ended = 0;
  for await (const event of session.events(0)) {
    if (!('seq' in event)) continue;
    log.push(event);
    if (event.type === 'turn.ended' && ++ended === turns) return log;
  }
  return log;
}

const listAnswers = (log: readonly LogEvent[]): readonly string[] =>
  log
    .flatMap((event) => (event.type === 'agent.message' ? [contentText(event.content)] : []))
    .filter((text) => text !== '');

const listRounds = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) => {
    if (event.type === 'outcome.evaluated') return [`${event.iteration} ${event.result}`];
    return event.type === 'outcome.ended' ? [event.result] : [];
  });

const SATISFIED = ['1 needs_revision', '2 needs_revision', '3 satisfied', 'satisfied'];

for (const [create, answers] of kinds) {
  const { name } = create({ grader: grader(0) });
  test(`the agent "${name}" revises its work until the grader is satisfied`, async () => {
    const judge = grader(2);
    await using runtime = await openRuntime({ agents: [create({ grader: judge })] });
    const session = await runtime.session('x');
    const { outcomeId } = await session.defineOutcome({
      description: 'A story.',
      rubric: 'It has an end.',
    });
    const log = await readTurns(session, 1);
    assert.deepEqual(listAnswers(log), answers);
    assert.deepEqual(listRounds(log), SATISFIED);
    assert.equal(log.filter(({ type }) => type === 'turn.started').length, 1);
    const defined = log.find((event) => event.type === 'outcome.defined');
    assert.equal(defined?.outcomeId, outcomeId);
    assert.match(JSON.stringify(judge.requests[0]), /A story.*It has an end/);
    assert.match(JSON.stringify(judge.requests[2]), /fault 1.*fault 2/);
    // The next turn is not judged, and starts as usual.
    for await (const _ of session.send('More.'));
    assert.equal(judge.requests.length, 3);
    assert.equal((await session.status()).status, 'idle');
  });
}

test('an outcome ends after its rounds, and a new one replaces one that is open', async () => {
  const [[create] = [desk]] = kinds;
  await using runtime = await openRuntime({ agents: [create({ grader: grader(9) })] });
  const session = await runtime.session('x');
  await session.defineOutcome({ criteria: 'Short.' });
  await session.defineOutcome({ criteria: 'Long.', maxIterations: 2 });
  await session.send('Write.').accepted;
  const log = await readTurns(session, 1);
  assert.deepEqual(listRounds(log), [
    'replaced',
    '1 needs_revision',
    '2 needs_revision',
    'max_iterations_reached',
  ]);
});

test('an agent judges its own work if there is no other grader', async () => {
  const model: ScriptedModel = new ScriptedModel(({ instruction }) => ({
    text: /judge/.test(instruction ?? '') ? '{"result":"satisfied"}' : 'work',
  }));
  await using runtime = await openRuntime({ agents: [agent({ name: 'a', model, outcomes: {} })] });
  const session = await runtime.session('x');
  await session.defineOutcome({ description: 'A story.' });
  assert.deepEqual(listRounds(await readTurns(session, 1)), ['1 satisfied', 'satisfied']);
});

test('the runtime resolves a grader that is named', async () => {
  const resolved: unknown[] = [];
  const models = async (ref: unknown): Promise<Model> => {
    resolved.push(ref);
    return grader(0);
  };
  const team = sequential({
    name: 'team',
    subAgents: [writer('one')],
    outcomes: { grader: 'gpt-5' },
  });
  await using runtime = await openRuntime({ agents: [team], models });
  const session = await runtime.session('x');
  await session.defineOutcome({ description: 'A story.' });
  assert.deepEqual(listRounds(await readTurns(session, 1)), ['1 satisfied', 'satisfied']);
  assert.equal(resolved.length, 1);
});

test('a satisfied outcome completes the session if it is asked to', async () => {
  const [[create] = [desk]] = kinds;
  await using runtime = await openRuntime({ agents: [create({ grader: grader(0) })] });
  const session = await runtime.session('x');
  const key = { dedupeKey: 'k' };
  const definition: OutcomeDefinition = { description: 'A story.', completeWhenSatisfied: true };
  const first = await session.defineOutcome(definition, key);
  const second = await session.defineOutcome(definition, key);
  assert.deepEqual(
    [first.duplicate, second.duplicate, second.outcomeId],
    [false, true, first.outcomeId],
  );
  for await (const event of session.events(0)) if (event.type === 'session.completed') break;
  assert.equal((await session.status()).status, 'completed');
});

test('an agent without outcome rounds, and a composite without a grader, are refused by a typed error', async () => {
  await using runtime = await openRuntime({ agents: [writer('plain')] });
  const session = await runtime.session('x');
  await assert.rejects(
    session.defineOutcome({ description: 'A story.' }),
    (error) => error instanceof OutcomesNotEnabledError && /outcomes: \{\}/.test(error.message),
  );
  assert.throws(
    () => sequential({ name: 'steps', subAgents: [writer('one')], outcomes: {} }),
    /outcomes\.grader.*"steps" has no model/,
  );
});

test('a wrong outcome is refused by the name of the field, and nothing is written', async () => {
  const [[create] = [desk]] = kinds;
  await using runtime = await openRuntime({ agents: [create({ grader: grader(0) })] });
  const session = await runtime.session('x');
  const wrong: readonly (readonly [definition: unknown, expected: RegExp])[] = [
    [{}, /either criteria or a description/],
    [{ criteria: 'a', description: 'b' }, /either criteria or a description/],
    [{ description: '' }, /description/],
    [{ criteria: 'a', rubric: 1 }, /rubric/],
    [{ criteria: 'a', maxIterations: 21 }, /maxIterations.*1 to 20/],
    [{ criteria: 'a', completeWhenSatisfied: 'yes' }, /completeWhenSatisfied/],
    [{ criteria: 'a', max_iterations: 2 }, /Did you mean `maxIterations`/],
  ];
  for (const [definition, expected] of wrong)
    await assert.rejects(
      session.defineOutcome(definition as OutcomeDefinition),
      expected,
      JSON.stringify(definition),
    );
  await assert.rejects(
    session.defineOutcome({ criteria: 'a' }, { key: 'k' } as object),
    UnknownFieldError,
  );
  assert.deepEqual(await runtime.store.inbox(session.key, 0), []);
});

/** Answers each message with `re:` and its text, at once or when it may. */
function echo(mayAnswer: () => Promise<void> = async () => {}): Agent {
  const model = new ScriptedModel(
    ({ contents }) => ({
      text: `re: ${contentText(contents.findLast(({ role }) => role === 'user')).slice(0, 30)}`,
      delayMs: 1,
    }),
    { sleep: mayAnswer },
  );
  return agent({ name: 'echo', model, outcomes: { grader: grader(0) } });
}

/** A sequence of the same behavior. Its revisions begin in another place. */
const echoes = (mayAnswer?: () => Promise<void>): Agent =>
  sequential({ name: 'team', subAgents: [echo(mayAnswer)], outcomes: { grader: grader(0) } });

type Input = 'message' | 'description' | 'criteria';

/** Sends inputs named by their index. */
async function sendAll(session: Session, inputs: readonly Input[]): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    if (input === 'message') await session.send(`m${index}`).accepted;
    else await session.defineOutcome({ [input]: `o${index}` }, { dedupeKey: `${index}` });
  }
}

/** What each turn was about, in order, with the outcome that it was judged by. */
function listTurns(log: readonly LogEvent[]): readonly string[] {
  const turns: string[] = [];
  let text = '';
  let judgedBy = '';
  for (const event of log) {
    if (event.type === 'user.message') {
      text = /[mo]\d/.exec(contentText(event.content))?.[0] ?? '';
      judgedBy = '';
    }
    if (event.type === 'outcome.evaluated') judgedBy = ` by ${event.outcomeId}`;
    if (event.type === 'turn.ended') turns.push(`${text}${judgedBy}`);
  }
  return turns;
}

const ORDERS: readonly (readonly [inputs: readonly Input[], turns: readonly string[]])[] = [
  [
    ['description', 'message'],
    ['o0 by outcome_0', 'm1'],
  ],
  [
    ['criteria', 'message', 'message'],
    ['m1 by outcome_0', 'm2'],
  ],
  [
    ['message', 'description', 'message'],
    ['m0', 'o1 by outcome_1', 'm2'],
  ],
  [
    ['message', 'criteria', 'message', 'message'],
    ['m0', 'm2 by outcome_1', 'm3'],
  ],
  [
    ['message', 'message', 'description', 'description', 'message'],
    ['m0', 'm1', 'o2 by outcome_2', 'o3 by outcome_3', 'm4'],
  ],
  [
    ['message', 'criteria', 'description', 'criteria', 'message'],
    ['m0', 'o2 by outcome_2', 'm4 by outcome_3'],
  ],
  // The second replaces the first.
  [
    ['message', 'criteria', 'criteria', 'message'],
    ['m0', 'm3 by outcome_2'],
  ],
];

for (const [inputs, turns] of ORDERS) {
  const count = turns.length;

  test(`${inputs.join(', ')}: while a turn runs, an outcome judges only its own turn, in the order of arrival`, async () => {
    for (const create of [echo, echoes]) {
      const answered = Promise.withResolvers<void>();
      await using runtime = await openRuntime({ agents: [create(async () => answered.promise)] });
      const session = await runtime.session('x');
      await session.send('first').accepted;
      for await (const { type } of session.events()) if (type === 'turn.started') break;
      await sendAll(session, inputs);
      while ((await session.status()).inboxPending) await new Promise(setImmediate);
      answered.resolve();
      const log = await readTurns(session, count + 1);
      assert.deepEqual(listTurns(log), ['', ...turns]);
    }
  });

  test(`${inputs.join(', ')}: the same while the session is paused`, async () => {
    await using runtime = await openRuntime({ agents: [echo()] });
    const session = await runtime.session('x');
    await session.pause();
    await sendAll(session, inputs);
    while ((await session.status()).inboxPending) await new Promise(setImmediate);
    await session.resume();
    assert.deepEqual(listTurns(await readTurns(session, count)), turns);
  });

  test(`${inputs.join(', ')}: the same when they arrive in one transaction`, async () => {
    await using runtime = await openRuntime({ agents: [echo()] });
    const batch = runtime.batch();
    const session = await batch.session('x');
    for (const [index, input] of inputs.entries())
      await batch.add(async () =>
        input === 'message'
          ? session.send(`m${index}`).accepted
          : session.defineOutcome({ [input]: `o${index}` }, { dedupeKey: `${index}` }),
      );
    await batch.submit();
    const opened = await runtime.session('x');
    assert.deepEqual(listTurns(await readTurns(opened, count)), turns);
  });
}

test('an outcome whose turn is interrupted as it begins ends as interrupted', async () => {
  await using runtime = await openRuntime({ agents: [echo(async () => new Promise(() => {}))] });
  const session = await runtime.session('x');
  const running = session.send('m');
  await running.accepted;
  for await (const { type } of session.events()) if (type === 'turn.started') break;
  const { outcomeId } = await session.defineOutcome({ description: 'A story.' });
  const batch = runtime.batch();
  const same = await batch.session('x');
  for (const invocationId of [running.invocationId, deriveInvocationId(`outcome:${outcomeId}`)])
    await batch.add(async () =>
      same.inject('interrupt.in', { invocationId }, { dedupeKey: invocationId }),
    );
  await batch.submit();
  const log = await readTurns(session, 2);
  assert.deepEqual(listRounds(log), ['interrupted']);
  assert.equal(log.findLast(({ type }) => type === 'outcome.defined')?.type, 'outcome.defined');
});
