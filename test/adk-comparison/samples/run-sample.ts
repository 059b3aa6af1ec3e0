import {
  BaseLlm,
  InMemorySessionService as StockSessionService,
  LLMRegistry,
  Runner as StockRunner,
  setLogger,
} from '@google/adk';
import type {
  BaseAgent as StockAgent,
  BaseLlmConnection,
  LlmRequest,
  LlmResponse,
} from '@google/adk';
import { InMemorySessionService, Runner } from '../../../src/adk/index.ts';
import type { BaseAgent } from '../../../src/adk/index.ts';
import type { Model } from '../../../src/models/index.ts';
import { createScriptReader } from '../parity/script.ts';
import type { Answer, Script } from '../parity/script.ts';
import { loadRootAgent } from './load-sample.ts';
import type { AdkPackage } from './load-sample.ts';

// Its deprecation warnings would clutter the test output.
setLogger(null);

/** The answers of each agent's model, by the agent's name. */
export type Scripts = Readonly<Record<string, Script>>;

/** What a user sees of a conversation with a sample. */
export interface SampleRun {
  /** One line for each part of each event, with its author. */
  readonly turns: readonly (readonly string[])[];
  readonly state: Readonly<Record<string, unknown>>;
  /** The instruction of each model request, with the name of the agent. */
  readonly instructions: readonly string[];
}

const KEY = { appName: 'samples', userId: 'ada', sessionId: 'one' };

/** Sends messages to a sample, one after the other. */
export async function runSample(options: {
  readonly sample: string;
  readonly on: AdkPackage;
  readonly messages: readonly string[];
  readonly scripts: Scripts;
  readonly state?: Readonly<Record<string, string>>;
}): Promise<SampleRun> {
  const { sample, on, messages, scripts, state = {} } = options;
  const models = new ScriptedModels(scripts);
  const agent = await loadRootAgent(sample, on);
  const { runner, sessionService } =
    on === '@google/adk' ? createStock(agent, models) : createPetrichor(agent, models);
  await sessionService.createSession({ ...KEY, state: { ...state } });
  const turns: string[][] = [];
  for (const text of messages) {
    const lines: string[] = [];
    const newMessage = { role: 'user' as const, parts: [{ text }] };
    for await (const event of runner.runAsync({ ...KEY, newMessage }))
      lines.push(...toLines(event));
    turns.push(lines);
  }
  const session = await sessionService.getSession(KEY);
  if (runner instanceof Runner) await runner.close();
  return { turns, state: { ...session?.state }, instructions: models.instructions };
}

function createStock(agent: object, models: ScriptedModels) {
  StockModel.models = models;
  const sessionService = new StockSessionService();
  const runner = new StockRunner({
    agent: agent as StockAgent,
    appName: KEY.appName,
    sessionService,
  });
  return { runner, sessionService };
}

function createPetrichor(agent: object, models: ScriptedModels) {
  const sessionService = new InMemorySessionService();
  const runner = new Runner({
    agent: agent as BaseAgent,
    appName: KEY.appName,
    sessionService,
    modelResolver: async (): Promise<Model> => ({
      name: 'scripted',
      generate: async ({ instruction = '' }) => {
        const { text, calls = [] } = models.answer(instruction);
        return {
          content: {
            role: 'model',
            parts: [
              ...(text === undefined ? [] : [{ text }]),
              ...calls.map(({ name, args = {} }) => ({ functionCall: { id: '', name, args } })),
            ],
          },
          finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
        };
      },
    }),
  });
  return { runner, sessionService };
}

/** The models of all agents. An agent is known by the name that both packages put into its instruction. */
class ScriptedModels {
  readonly instructions: string[] = [];
  readonly #readers: ReadonlyMap<string, () => Answer>;

  constructor(scripts: Scripts) {
    this.#readers = new Map(
      Object.entries(scripts).map(([name, script]) => [name, createScriptReader(name, script)]),
    );
  }

  answer(instruction: string): Answer {
    const name = /internal name is "(\w+)"/.exec(instruction)?.[1] ?? '';
    const read = this.#readers.get(name);
    if (read === undefined) throw new Error(`No script for the agent "${name}".`);
    this.instructions.push(`${name}: ${instruction}`);
    return read();
  }
}

class StockModel extends BaseLlm {
  static override readonly supportedModels: string[] = ['scripted'];
  static models: ScriptedModels = new ScriptedModels({});

  override async *generateContentAsync({ config }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const { text, calls = [] } = StockModel.models.answer(String(config?.systemInstruction ?? ''));
    const parts = [
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, args = {} }) => ({ functionCall: { name, args: { ...args } } })),
    ];
    yield { content: { role: 'model', parts } };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('The script has no live connection.');
  }
}

LLMRegistry.register(StockModel);

interface SeenEvent {
  readonly author?: string;
  readonly content?: { readonly parts?: readonly object[] };
}

function toLines({ author = '', content }: SeenEvent): readonly string[] {
  return (content?.parts ?? []).map((part) => {
    if ('text' in part) return `${author}: ${String(part.text)}`;
    if ('functionCall' in part) {
      const { name, args }: { name?: string; args?: object } = Object(part.functionCall);
      return `${author} calls ${name} ${JSON.stringify(args)}`;
    }
    const { name, response }: { name?: string; response?: object } = Object(
      'functionResponse' in part ? part.functionResponse : undefined,
    );
    return `${author} returns ${name} ${JSON.stringify(response)}`;
  });
}
