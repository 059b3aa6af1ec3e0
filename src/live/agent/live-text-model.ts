import type { Content, FinishReason, FunctionCall, Part, Usage } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { ModelError } from '../../models/index.ts';
import type { Model, ModelContext, ModelRequest, ModelResponse } from '../../models/index.ts';
import type { LiveCommand } from '../models/live-command.ts';
import type { LiveConfig } from '../models/live-config.ts';
import type { LiveModel } from '../models/live-model.ts';
import type { LiveSignal } from '../models/live-signal.ts';

/**
 * A live model as a model for text turns: each request opens a connection, has one reply, and closes it. The answer is
 * the text of the reply, or its transcript.
 */
export function liveTextModel(live: LiveModel, config?: LiveConfig): Model {
  return {
    name: live.name,
    generate: async (request, context) => generate(live, config, request, context),
  };
}

async function generate(
  live: LiveModel,
  config: LiveConfig | undefined,
  { instruction, contents, tools }: ModelRequest,
  { signal, onDelta }: ModelContext,
): Promise<ModelResponse> {
  const last = contents.at(-1);
  const isMessage = last?.role === 'user';
  const reply = new ReplyCollector(live.name);
  const connection = await live.open(
    {
      history: isMessage ? contents.slice(0, -1) : contents,
      tools,
      ...omitUndefined({ instruction, config }),
    },
    {
      signal,
      listener: {
        onSignal: (one) => reply.add(one),
        onMedia: () => {},
        onPartial: (partial) => {
          if (partial.kind !== 'said') return;
          onDelta({ kind: partial.form === 'thought' ? 'thinking' : 'text', text: partial.text });
        },
      },
    },
  );
  try {
    const command: LiveCommand = isMessage ? { kind: 'text', content: last } : { kind: 'respond' };
    await connection.send(command);
    return await reply.response;
  } finally {
    await connection.close();
  }
}

/** Collects the signals of one reply. */
class ReplyCollector {
  readonly response: Promise<ModelResponse>;
  readonly #model: string;
  readonly #parts: Part[] = [];
  #resolve: (response: ModelResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(model: string) {
    this.#model = model;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Sending the request can fail first.
    this.response.catch(() => {});
  }

  add(signal: LiveSignal): void {
    switch (signal.kind) {
      case 'said':
        this.#parts.push(
          signal.form === 'thought' ? { text: signal.text, thought: true } : { text: signal.text },
        );
        return;
      case 'call':
        this.#parts.push(...signal.calls.map((call) => ({ functionCall: toFunctionCall(call) })));
        return;
      case 'done':
        if (signal.error === undefined) this.#end(signal.finishReason, signal.usage);
        else this.#fail(signal.error.message);
        return;
      case 'closed':
        this.#fail(signal.message ?? `the connection closed: ${signal.reason}.`);
        return;
      default:
    }
  }

  #end(finishReason: FinishReason, usage: Usage | undefined): void {
    const content: Content = { role: 'model', parts: this.#parts };
    this.#resolve({ content, finishReason, ...omitUndefined({ usage }) });
  }

  #fail(message: string): void {
    this.#reject(new ModelError({ model: this.#model, kind: 'server', message }));
  }
}

function toFunctionCall({ id, name, args, argsError }: FunctionCall): FunctionCall {
  return { id, name, args, ...omitUndefined({ argsError }) };
}
