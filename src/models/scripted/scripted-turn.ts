import { isRecord, omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import {
  checkOptions,
  InvalidInputError,
  isJsonObject,
  optionTable,
  type FinishReason,
  type JsonObject,
  type OptionTable,
  type ProviderMetadata,
  type Usage,
} from '../../core/index.ts';
import type { ModelErrorKind } from '../model/model-error.ts';

/** One response or failure of a `ScriptedModel`. */
export type ScriptedTurn = {
  readonly text?: string;
  readonly thinking?: string;
  readonly thoughtSignature?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Milliseconds before the first delta. */
  readonly delayMs?: number;
  /** Milliseconds before each further delta. */
  readonly deltaDelayMs?: number;
  /** The deltas of the text, or how many to cut it into. Default: one per word. */
  readonly deltas?: number | readonly string[];
  /** Thrown after the deltas of the text, if there are any. */
  readonly error?: ScriptedError;
  readonly usage?: Usage;
  /** Default: `tool_calls` if there are calls, else `stop`. */
  readonly finishReason?: FinishReason;
  readonly providerMetadata?: ProviderMetadata;
};

/** A call in a scripted response. */
export type ScriptedToolCall = {
  readonly name: string;
  readonly args?: JsonObject;
  /** The id that the provider would give. Default: empty. */
  readonly id?: string;
  /** Arguments that are not JSON. They replace `args`. */
  readonly malformedArgs?: string;
};

/** How a scripted turn fails: the `ModelError` that its attempts throw. */
export type ScriptedError = {
  readonly kind: ModelErrorKind;
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** How many attempts fail before one succeeds. Default: all. */
  readonly attempts?: number;
};

const TURN: OptionTable = optionTable<ScriptedTurn>('turn', {
  text: true,
  thinking: true,
  thoughtSignature: true,
  toolCalls: true,
  delayMs: true,
  deltaDelayMs: true,
  deltas: true,
  error: { kind: true, message: true, retryAfterMs: true, attempts: true },
  usage: true,
  finishReason: true,
  providerMetadata: true,
});

const TOOL_CALL: OptionTable = optionTable<ScriptedToolCall>('toolCall', {
  name: true,
  args: true,
  id: true,
  malformedArgs: true,
});

/**
 * Checks that a script is a function, or a list of turns without unknown fields.
 * @throws InvalidInputError for another value
 * @throws UnknownFieldError for an unknown field
 */
export function checkScript(script: unknown): void {
  if (typeof script === 'function') return;
  if (!Array.isArray(script))
    throw new InvalidInputError(
      'script',
      `must be a list of turns, for example [{ text: 'Hi' }], or a function; it is ${script === null ? 'null' : typeof script}.`,
    );
  for (const [index, turn] of script.entries()) checkTurn(turn, `script[${index}]`);
}

/**
 * @throws InvalidInputError for a turn that is not an object
 * @throws UnknownFieldError for an unknown field
 */
export function checkTurn(turn: unknown, path: string): void {
  if (!isRecord(turn))
    throw new InvalidInputError(path, "must be a turn, for example { text: 'Hi' }.");
  checkOptions({ ...TURN, typeName: path }, turn);
  const calls = turn['toolCalls'];
  if (!Array.isArray(calls)) return;
  for (const [index, call] of calls.entries())
    checkOptions({ ...TOOL_CALL, typeName: `${path}.toolCalls[${index}]` }, call);
}

const fixtureSchema = v.object({
  turns: v.array(
    v.object({
      text: v.exactOptional(v.string()),
      tool_calls: v.optional(
        v.array(
          v.object({
            name: v.pipe(v.string(), v.nonEmpty('must not be empty')),
            input: v.optional(v.custom<JsonObject>(isJsonObject, 'must be an object'), {}),
            id: v.exactOptional(v.string()),
          }),
        ),
        [],
      ),
    }),
  ),
});

/**
 * Parses the `scripted_model` member of a conformance fixture: `{ turns: [{ text?, tool_calls?: [{
 * name, input, id? }] }] }`.
 * @throws InvalidInputError with the path
 */
export function parseScriptedTurns(scriptedModel: unknown): readonly ScriptedTurn[] {
  const result = v.safeParse(fixtureSchema, scriptedModel, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    const keys = (issue.path ?? []).map(({ key }) => String(key));
    throw new InvalidInputError(['scripted_model', ...keys].join('.'), `${issue.message}.`);
  }
  return result.output.turns.map(({ text, tool_calls: calls }) => ({
    ...omitUndefined({ text }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ name, input, id }) => ({
        name,
        args: input,
        ...omitUndefined({ id: id ? id : undefined }),
      })),
    }),
  }));
}
