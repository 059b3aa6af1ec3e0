import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { contentText } from '../../core/index.ts';
import type { Content, Json, JsonObject } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { InMemoryArtifactService, tool } from '../../tools/index.ts';
import type { ArtifactPart, ArtifactService, Tool } from '../../tools/index.ts';
import { InMemorySessionService, LlmAgent, Runner } from '../index.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;
const key = { appName: 'demo', ...sessionIds };

/** The changes of a turn: to state before it and by a tool, and to artifacts. */
interface TurnPlan {
  readonly delta: Readonly<Record<string, number>>;
  readonly set: Readonly<Record<string, number>>;
  readonly increment: readonly string[];
  readonly delete: readonly string[];
  readonly save: readonly (readonly [name: string, text: string])[];
}

type Operation =
  | { readonly do: 'turn'; readonly plan: TurnPlan }
  /** The index of an invocation, counted back from the last one. */
  | { readonly do: 'rewind'; readonly back: number };

const name = fc.constantFrom('a', 'b', 'temp:t');
const values = fc.dictionary(name, fc.nat(9), { maxKeys: 2 });
const plan: fc.Arbitrary<TurnPlan> = fc.record({
  delta: fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(9), { maxKeys: 1 }),
  set: values,
  increment: fc.array(fc.constantFrom('n', 'm'), { maxLength: 2 }),
  delete: fc.array(fc.constantFrom('a', 'c'), { maxLength: 1 }),
  save: fc.array(fc.tuple(fc.constantFrom('x.txt', 'y.txt'), fc.string({ maxLength: 3 })), {
    maxLength: 2,
  }),
});
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const), plan }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rewind' as const), back: fc.nat(3) }) },
);

const act: Tool = tool({
  name: 'act',
  description: 'Acts.',
  parameters: { type: 'object', properties: { plan: { type: 'string' } }, required: ['plan'] },
  execute: async ({ plan: text }, { state, artifacts }) => {
    const { set, increment, delete: removed, save }: TurnPlan = JSON.parse(String(text));
    for (const one of removed) state.delete(one);
    for (const [one, value] of Object.entries(set)) state.set(one, value);
    for (const one of increment) state.increment(one);
    for (const [file, content] of save) await artifacts.save(file, { text: content });
    return { state: { n: state.get('n') ?? 0 } };
  },
});

/** A session and its observable data. */
class RewindScenario {
  readonly requests: (readonly Content[])[] = [];
  readonly artifacts = new InMemoryArtifactService();
  readonly service = new InMemorySessionService();
  readonly runner: Runner;
  readonly #turns: { readonly invocationId: string; readonly plan: TurnPlan }[] = [];

  constructor() {
    const model = new ScriptedModel(({ contents }) => {
      this.requests.push(contents);
      const last = contents.at(-1);
      return last?.role === 'user'
        ? { toolCalls: [{ name: 'act', args: { plan: contentText(last) } }] }
        : { text: 'Done.' };
    });
    this.runner = new Runner({
      appName: 'demo',
      agent: new LlmAgent({ name: 'actor', model, tools: [act] }),
      sessionService: this.service,
      artifactService: this.artifacts,
      autoCreateSession: true,
    });
  }

  get standing(): readonly TurnPlan[] {
    return this.#turns.map(({ plan }) => plan);
  }

  async run(operations: readonly Operation[]): Promise<void> {
    for (const one of operations)
      await (one.do === 'turn' ? this.#turn(one.plan) : this.#rewind(one.back));
  }

  async #turn(what: TurnPlan): Promise<void> {
    const { delta: stateDelta } = what;
    const [event] = await this.runner.run({
      ...sessionIds,
      newMessage: JSON.stringify(what),
      stateDelta,
    });
    this.#turns.push({ invocationId: event?.invocationId ?? '', plan: what });
  }

  async #rewind(back: number): Promise<void> {
    const index = this.#turns.length - 1 - back;
    const turn = this.#turns[index];
    if (turn === undefined) return;
    await this.runner.rewind({ ...sessionIds, rewindBeforeInvocationId: turn.invocationId });
    this.#turns.splice(index);
  }

  async seen(): Promise<unknown> {
    const session = await this.service.getSession(key);
    const names = await this.artifacts.list(key);
    const files: Record<string, ArtifactPart | undefined> = {};
    for (const file of names) files[file] = await this.artifacts.load({ session: key, name: file });
    await this.#turn({ delta: {}, set: {}, increment: [], delete: [], save: [] });
    const requests = this.requests.slice(-2).map((contents) => contents.map(withoutIds));
    return { state: session?.state ?? {}, files, shown: requests };
  }

  async close(): Promise<void> {
    await this.runner.close();
    await this.service.close();
  }
}

/** Removes call ids, because they contain the invocation, which differs between runs. */
function withoutIds({ role, parts }: Content): JsonObject {
  return {
    role,
    parts: parts.map((part): Json => {
      if ('functionCall' in part) return { call: part.functionCall.args };
      if ('functionResponse' in part) return { response: part.functionResponse.response };
      return { text: contentText({ role, parts: [part] }) };
    }),
  };
}

describe('a rewind', () => {
  it('restores state, artifacts and model requests as if the removed invocations had not happened', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 8 }), async (operations) => {
        const one = new RewindScenario();
        await one.run(operations);
        const other = new RewindScenario();
        await other.run(one.standing.map((each) => ({ do: 'turn', plan: each })));
        assert.deepEqual(await one.seen(), await other.seen());
        await one.close();
        await other.close();
      }),
      { numRuns: 20 },
    );
  });

  it('repeated after a crash completes the rewind, and applies nothing twice', async () => {
    const scenario = new RewindScenario();
    const saving = (...save: TurnPlan['save']): TurnPlan => ({
      delta: {},
      set: {},
      increment: [],
      delete: [],
      save,
    });
    await scenario.run([{ do: 'turn', plan: saving(['x.txt', 'one']) }]);
    const [event] = await scenario.runner.run({
      ...sessionIds,
      newMessage: JSON.stringify(saving(['x.txt', 'two'], ['y.txt', 'new'])),
    });
    const rewindBeforeInvocationId = event?.invocationId ?? '';
    // The process dies after the session was rewound and before its artifacts were.
    let dies = true;
    const { artifacts } = scenario;
    const sessionService = scenario.service;
    const dying: ArtifactService = {
      load: artifacts.load,
      list: artifacts.list,
      versions: artifacts.versions,
      describe: artifacts.describe,
      delete: artifacts.delete,
      save: async (...args) => {
        if (dies) throw new Error('died');
        return artifacts.save(...args);
      },
    };
    const agent = scenario.runner.agent;
    await using runner = new Runner({
      appName: 'demo',
      agent,
      sessionService,
      artifactService: dying,
    });
    await scenario.runner.close();
    await assert.rejects(runner.rewind({ ...sessionIds, rewindBeforeInvocationId }), /died/);
    assert.deepEqual(await artifacts.load({ session: key, name: 'x.txt' }), { text: 'two' });
    dies = false;
    for (let times = 0; times < 2; times++) {
      await runner.rewind({ ...sessionIds, rewindBeforeInvocationId });
      assert.deepEqual(await artifacts.list(key), ['x.txt']);
      assert.deepEqual(await artifacts.load({ session: key, name: 'x.txt' }), { text: 'one' });
      assert.deepEqual(await artifacts.versions({ session: key, name: 'x.txt' }), [0, 1, 2]);
    }
    await runner.close();
    await scenario.service.close();
  });

  it('does not change state and artifacts of the user', async () => {
    const scenario = new RewindScenario();
    const saving: TurnPlan = {
      delta: { 'user:u': 1 },
      set: { 'app:a': 2 },
      increment: [],
      delete: [],
      save: [['user:x', 'mine']],
    };
    const [event] = await scenario.runner.run({
      ...sessionIds,
      newMessage: JSON.stringify(saving),
      stateDelta: saving.delta,
    });
    await scenario.runner.rewind({
      ...sessionIds,
      rewindBeforeInvocationId: event?.invocationId ?? '',
    });
    const session = await scenario.service.getSession(key);
    assert.deepEqual(session?.state, { 'user:u': 1, 'app:a': 2 });
    assert.deepEqual(await scenario.artifacts.list(key), ['user:x']);
    await scenario.close();
  });

  it('to an unknown invocation changes nothing', async () => {
    const scenario = new RewindScenario();
    await scenario.run([
      {
        do: 'turn',
        plan: { delta: { a: 1 }, set: {}, increment: [], delete: [], save: [['x.txt', 'one']] },
      },
    ]);
    await assert.rejects(
      scenario.runner.rewind({ ...sessionIds, rewindBeforeInvocationId: 'e-none' }),
      {
        code: 'invalid_input',
      },
    );
    assert.deepEqual((await scenario.service.getSession(key))?.state, { a: 1 });
    assert.deepEqual(await scenario.artifacts.list(key), ['x.txt']);
    await scenario.close();
  });
});
