import { omitUndefined } from '../../core/internal.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { PetrichorError, type Content, type FunctionCall, type Part } from '../../core/index.ts';
import { abortedError, ModelError, toModelError } from '../model/model-error.ts';
import type {
  Model,
  ModelContext,
  ModelDelta,
  ModelRequest,
  ModelResponse,
} from '../model/model.ts';
import {
  checkScript,
  checkTurn,
  parseScriptedTurns,
  type ScriptedError,
  type ScriptedToolCall,
  type ScriptedTurn,
} from './scripted-turn.ts';

/**
 * The turns in order, or a function of the request and the number of responses it already contains.
 */
export type ModelScript =
  | readonly ScriptedTurn[]
  | ((request: ModelRequest, turnIndex: number) => ScriptedTurn);

/** Options of `ScriptedModel`. */
export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly name?: string;
  /** Waits, and rejects when aborted. Default: a real timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * A conversation is longer than the script of its `ScriptedModel`.
 * @remedy Add a turn to the script, or check why the agent called the model again.
 */
export class ScriptExhaustedError extends PetrichorError {
  override readonly code = 'script_exhausted' as const;
  readonly turns: number;

  constructor(turns: number) {
    super(
      `The script has ${turns} turns and the request needs turn ${turns + 1}: ` +
        'add a turn, or check why the agent called the model again.',
    );
    this.turns = turns;
  }
}

/**
 * A model that responds from a script, for tests and demonstrations. The turn is determined by the
 * request alone (the number of model messages in it), so a request that is repeated after a crash
 * gets the same response, and one model serves any number of sessions concurrently.
 */
export class ScriptedModel implements Model {
  readonly name: string;
  readonly #script: ModelScript;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #requests: ModelRequest[] = [];

  /**
   * @throws InvalidInputError if the script is not a list of turns or a function
   * @throws UnknownFieldError for an unknown field of a turn
   */
  constructor(script: ModelScript, options: ScriptedModelOptions = {}) {
    checkScript(script);
    this.name = options.name ?? 'scripted';
    this.#script = script;
    this.#sleep = options.sleep ?? realSleep;
  }

  /**
   * Creates a model from the `scripted_model` member of a conformance fixture.
   * @throws InvalidInputError with the path
   */
  static fromFixture(scriptedModel: unknown, options?: ScriptedModelOptions): ScriptedModel {
    return new ScriptedModel(parseScriptedTurns(scriptedModel), options);
  }

  /** Every request this object received, oldest first. */
  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  /**
   * Responds with the next turn of the script.
   * @throws ModelError for a scripted error or an abort
   * @throws ScriptExhaustedError if the script has no such turn
   * @throws UnknownFieldError if a script that is a function returns a turn with an unknown field
   */
  readonly generate = async (
    request: ModelRequest,
    context: ModelContext,
  ): Promise<ModelResponse> => {
    if (context.signal.aborted) throw abortedError(this.name, context.signal.reason);
    this.#requests.push(request);
    const turn = this.#turnFor(request);
    try {
      await this.#streamTurn(turn, context);
    } catch (error) {
      throw context.signal.aborted
        ? abortedError(this.name, error)
        : toModelError(error, this.name);
    }
    if (fails(turn.error, context.attempt)) throw this.#failure(turn.error);
    return toResponse(turn);
  };

  #turnFor(request: ModelRequest): ScriptedTurn {
    const index = request.contents.filter(({ role }) => role === 'model').length;
    if (typeof this.#script === 'function') {
      const scripted = this.#script(request, index);
      checkTurn(scripted, 'script()');
      return scripted;
    }
    const turn = this.#script[index];
    if (turn === undefined) throw new ScriptExhaustedError(this.#script.length);
    return turn;
  }

  async #streamTurn(turn: ScriptedTurn, { onDelta, signal }: ModelContext): Promise<void> {
    const { delayMs = 0, deltaDelayMs = 0 } = turn;
    if (delayMs > 0) await this.#sleep(delayMs, signal);
    for (const [i, delta] of toDeltas(turn).entries()) {
      if (i > 0 && deltaDelayMs > 0) await this.#sleep(deltaDelayMs, signal);
      signal.throwIfAborted();
      onDelta(delta);
    }
  }

  #failure({ kind, message, retryAfterMs }: ScriptedError): ModelError {
    return new ModelError({
      model: this.name,
      kind,
      message: message ?? `the script says ${kind}.`,
      ...omitUndefined({ retryAfterMs }),
    });
  }
}

async function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}

function fails(error: ScriptedError | undefined, attempt: number): error is ScriptedError {
  return error !== undefined && attempt <= (error.attempts ?? Infinity);
}

function toDeltas(turn: ScriptedTurn): readonly ModelDelta[] {
  const thinking = turn.thinking ?? '';
  const texts = splitText(turnText(turn), turn.deltas).map(
    (text) => ({ kind: 'text', text }) as const,
  );
  return thinking === '' ? texts : [{ kind: 'thinking', text: thinking }, ...texts];
}

function turnText(turn: ScriptedTurn): string {
  return turn.text ?? (typeof turn.deltas === 'object' ? turn.deltas.join('') : '');
}

function splitText(text: string, deltas: ScriptedTurn['deltas']): readonly string[] {
  if (typeof deltas === 'object') return deltas;
  if (deltas === undefined) return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
  const size = Math.max(1, Math.ceil(text.length / deltas));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  );
}

function toResponse(turn: ScriptedTurn): ModelResponse {
  const calls = turn.toolCalls ?? [];
  return {
    content: toContent(turn, calls),
    finishReason: turn.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    ...omitUndefined({ usage: turn.usage, providerMetadata: turn.providerMetadata }),
  };
}

function toContent(turn: ScriptedTurn, calls: readonly ScriptedToolCall[]): Content {
  const { thinking = '', thoughtSignature } = turn;
  const text = turnText(turn);
  const parts: Part[] = calls.map((call) => ({ functionCall: toFunctionCall(call) }));
  if (text !== '') parts.unshift({ text });
  if (thinking !== '') parts.unshift({ text: thinking, thought: true });
  if (parts.length === 0) parts.push({ text: '' });
  const [first, ...rest] = parts;
  if (thoughtSignature === undefined || first === undefined) return { role: 'model', parts };
  return { role: 'model', parts: [{ ...first, thoughtSignature }, ...rest] };
}

function toFunctionCall({
  id = '',
  name,
  args = {},
  malformedArgs,
}: ScriptedToolCall): FunctionCall {
  if (malformedArgs === undefined) return { id, name, args };
  const argsError = { message: 'The arguments are not JSON.', raw: malformedArgs };
  return { id, name, args: {}, argsError };
}
