import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toInlineData } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { SendOptions, Session } from '../../runtime/index.ts';
import { InMemoryArtifactService, tool } from '../../tools/index.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';
import { agent } from '../index.ts';
import type { AgentDefinition } from '../index.ts';

interface Instructions {
  /** The system instruction of each model call. */
  readonly instructions: readonly (string | undefined)[];
  readonly errors: readonly (readonly [code: string, message: string])[];
}

async function send(session: Session, options: SendOptions = {}): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send('Hello', options)) if ('seq' in event) events.push(event);
  return events;
}

async function readInstructions(
  definition: Pick<AgentDefinition, 'instruction' | 'globalInstruction'>,
  stateDelta: NonNullable<SendOptions['stateDelta']> = {},
  artifacts?: ArtifactService,
): Promise<Instructions> {
  const model = new ScriptedModel(() => ({ text: 'Yes.' }));
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model, ...definition })],
    ...(artifacts !== undefined && { artifacts }),
  });
  const events = await send(await runtime.session('s'), { stateDelta });
  return {
    instructions: model.requests.map(({ instruction }) => instruction),
    errors: events.flatMap((event) =>
      event.type === 'error' ? [[event.code, event.message] as const] : [],
    ),
  };
}

async function withArtifact(name: string, part: ArtifactPart): Promise<ArtifactService> {
  const artifacts = new InMemoryArtifactService();
  const session = { appName: 'petrichor', userId: 'default', sessionId: 's' };
  await artifacts.save({ session, name }, part, { saveId: 'test' });
  return artifacts;
}

test('a template is filled from state of every scope', async () => {
  const { instructions } = await readInstructions(
    { instruction: 'Call {user:name} about {topic}, {app:motto}; mood: {temp:mood}. {missing?}' },
    { 'user:name': 'Ada', topic: { id: 7 }, 'app:motto': 'kindly', 'temp:mood': null },
  );
  assert.deepEqual(instructions, ['Call Ada about {"id":7}, kindly; mood: null. ']);
});

test('a state change of a tool is in the instruction of the next model call', async () => {
  const remember = tool({
    name: 'remember',
    description: 'Remembers',
    execute: (_, { state }) => state.set('temp:fact', 'It rains.'),
  });
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'remember', args: {} }] },
    { text: 'Yes.' },
  ]);
  const definition = { name: 'a', model, tools: [remember], instruction: 'Known: {temp:fact?}' };
  await using runtime = await openRuntime({ agents: [agent(definition)] });
  await send(await runtime.session('s'));
  assert.deepEqual(
    model.requests.map(({ instruction }) => instruction),
    ['Known: ', 'Known: It rains.'],
  );
});

test('a missing state key is an error that names the key, and the session continues', async () => {
  const model = new ScriptedModel(() => ({ text: 'Yes.' }));
  const definition = { name: 'a', model, instruction: 'Call them {user:name}.' };
  await using runtime = await openRuntime({ agents: [agent(definition)] });
  const session = await runtime.session('s');
  const events = await send(session);
  const error = events.find((event) => event.type === 'error');
  assert.equal(error?.code, 'missing_variable');
  assert.match(error.message, /\{user:name\}.*stateDelta.*\{user:name\?\}/);
  assert.equal(model.requests.length, 0);
  await send(session, { stateDelta: { 'user:name': 'Ada' } });
  assert.equal(model.requests[0]?.instruction, 'Call them Ada.');
});

test('braces that are not a placeholder are kept, and inserted values are not parsed again', async () => {
  const { instructions } = await readInstructions(
    { instruction: 'Answer as {"name": "…"}, {{said}}, {toString?}.' },
    { said: '{secret}', secret: 'x' },
  );
  assert.deepEqual(instructions, ['Answer as {"name": "…"}, {{secret}}, .']);
});

test('a function returns the final text, in which braces have no meaning', async () => {
  const { instructions } = await readInstructions(
    {
      instruction: ({ state, sessionKey }) =>
        `{x} ${String(state['x'])} in ${sessionKey.sessionId}`,
    },
    { x: 1 },
  );
  assert.deepEqual(instructions, ['{x} 1 in s']);
});

test('the global instruction comes first, and is also a template', async () => {
  const { instructions } = await readInstructions(
    { globalInstruction: 'Speak {app:language}.', instruction: 'Be brief.' },
    { 'app:language': 'Latin' },
  );
  assert.deepEqual(instructions, ['Speak Latin.\n\nBe brief.']);
});

test('the global instruction of the first agent applies to the agents it transfers to', async () => {
  const clerk = new ScriptedModel(() => ({ text: 'Done.' }));
  const host = new ScriptedModel([
    { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }] },
  ]);
  const desk = agent({
    name: 'desk',
    model: host,
    instruction: 'You are the desk.',
    globalInstruction: 'Speak {app:language}.',
    subAgents: [
      agent({ name: 'clerk', model: clerk, instruction: 'You file.', globalInstruction: 'Shout.' }),
    ],
  });
  await using runtime = await openRuntime({ agents: [desk] });
  await send(await runtime.session('s'), { stateDelta: { 'app:language': 'Latin' } });
  assert.deepEqual(
    [host, clerk].map(({ requests }) => requests.map(({ instruction }) => instruction)),
    [['Speak Latin.\n\nYou are the desk.'], ['Speak Latin.\n\nYou file.']],
  );
});

test('the newest version of a text artifact is inserted', async () => {
  const session = { appName: 'petrichor', userId: 'default', sessionId: 's' };
  const artifacts = await withArtifact('law.txt', { text: 'Old law.' });
  await artifacts.save({ session, name: 'law.txt' }, { text: 'New law.' }, { saveId: '2' });
  const json = toInlineData('application/json', new TextEncoder().encode('{"ü":1}'));
  await artifacts.save({ session, name: 'user:cv' }, { inlineData: json }, { saveId: '3' });
  const { instructions } = await readInstructions(
    { instruction: '{artifact.law.txt} {artifact.user:cv} {artifact.none?}!' },
    {},
    artifacts,
  );
  assert.deepEqual(instructions, ['New law. {"ü":1} !']);
});

test('an artifact that cannot be inserted is an error with the reason', async () => {
  const png = toInlineData('image/png', new Uint8Array([1]));
  const artifacts = await withArtifact('a.png', { inlineData: png });
  const cases: readonly (readonly [string, ArtifactService | undefined, string, RegExp])[] = [
    ['{artifact.x}', undefined, 'no_service', /pass \{ artifacts \} to openRuntime/],
    ['{artifact.x}', artifacts, 'missing_variable', /\{artifact\.x\}/],
    ['{artifact.a.png}', artifacts, 'artifact_not_text', /image\/png/],
    ['{artifact.a..b}', artifacts, 'missing_variable', /\{artifact\.a\.\.b\}/],
  ];
  for (const [instruction, service, code, message] of cases) {
    const { errors } = await readInstructions({ instruction }, {}, service);
    assert.deepEqual(
      errors.map(([one]) => one),
      [code],
      instruction,
    );
    assert.match(errors[0]?.[1] ?? '', message);
  }
});
