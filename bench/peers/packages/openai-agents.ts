import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import {
  Agent,
  MemorySession,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  RunState,
  type StreamEvent,
  tool,
  Usage,
} from '@openai/agents';
import { z } from 'zod';
import type { AgentOptions, Answer, Peer, PeerAgent, Script } from '../peer.ts';

type Output = Extract<StreamEvent, { type: 'response_done' }>['response']['output'];

/** Sessions are in memory. With a file, the program writes the state of a run that waits there, for the approval only. */
export const openaiAgents: Peer = {
  name: '@openai/agents',
  packages: ['@openai/agents', 'zod'],
  entries: ['@openai/agents', 'zod'],
  open: async (options) => openAgent(options),
};

function openAgent({ script, readFile, file, needsApproval = false }: AgentOptions): PeerAgent {
  const agent = new Agent({
    name: 'assistant',
    instructions: 'Be brief.',
    model: new ScriptedModel(script),
    tools: [
      tool({
        name: 'read_file',
        description: 'Reads a file',
        parameters: z.object({ path: z.string() }),
        needsApproval,
        execute: async ({ path }, _context, details) => ({
          text: await readFile(path, details?.signal),
        }),
      }),
    ],
  });
  const runner = new Runner({ tracingDisabled: true });
  const sessions = new Map<string, MemorySession>();
  const open = (id: string): MemorySession => {
    let session = sessions.get(id);
    if (session === undefined) sessions.set(id, (session = new MemorySession()));
    return session;
  };
  return {
    ask: async (id, message, { onText, signal } = {}) => {
      const session = open(id);
      if (onText === undefined) {
        const result = await runner.run(agent, message, {
          session,
          ...(signal !== undefined && { signal }),
        });
        if (result.interruptions.length > 0 && file !== undefined)
          writeFileSync(file, result.state.toString());
        return result.finalOutput ?? '';
      }
      const result = await runner.run(agent, message, { session, stream: true });
      for await (const piece of result.toTextStream()) onText(piece);
      await result.completed;
      return result.finalOutput ?? '';
    },
    stored: async (id) => JSON.stringify((await sessions.get(id)?.getItems()) ?? []),
    approve: async (_, ready) => {
      if (file === undefined || !existsSync(file)) throw new Error('No run waits.');
      const state = await RunState.fromString(agent, readFileSync(file, 'utf8'));
      const interruptions = state.getInterruptions();
      await ready();
      for (const interruption of interruptions) state.approve(interruption);
      await runner.run(agent, state);
    },
    close: async () => undefined,
  };
}

class ScriptedModel implements Model {
  readonly #script: Script;
  #calls = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    return { usage: new Usage(), output: this.#toOutput(this.#next(request)) };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const answer = this.#next(request);
    yield { type: 'response_started' };
    if ('text' in answer)
      for (const delta of answer.text) yield { type: 'output_text_delta', delta };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const output = this.#toOutput(answer);
    yield { type: 'response_done', response: { id: `response-${this.#calls++}`, usage, output } };
  }

  #next({ input }: ModelRequest): Answer {
    const last = typeof input === 'string' ? undefined : input.at(-1);
    return last?.type === 'function_call_result'
      ? this.#script.afterResults
      : this.#script.afterMessage;
  }

  #toOutput(answer: Answer): Output {
    if ('paths' in answer) {
      return answer.paths.map((path) => ({
        type: 'function_call',
        callId: `call-${this.#calls++}`,
        name: 'read_file',
        arguments: JSON.stringify({ path }),
        status: 'completed',
      }));
    }
    return [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: answer.text.join('') }],
      },
    ];
  }
}
