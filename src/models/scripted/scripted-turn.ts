import * as v from 'valibot';
import {
  InvalidInputError,
  isJsonObject,
  type FinishReason,
  type JsonObject,
  type ProviderMetadata,
  type Usage,
} from '../../core/index.ts';
import type { ModelErrorKind } from '../model/model-error.ts';

/** One answer of a `ScriptedModel`, or one failure. */
export type ScriptedTurn = {
  readonly text?: string;
  readonly thinking?: string;
  readonly thoughtSignature?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Milliseconds before the first piece. */
  readonly delayMs?: number;
  /** Milliseconds before each further piece. */
  readonly deltaDelayMs?: number;
  /** The pieces of the text, or how many to cut it into. One a word when missing. */
  readonly deltas?: number | readonly string[];
  /** Thrown after the pieces of the text, if there is one. */
  readonly error?: ScriptedError;
  readonly usage?: Usage;
  /** `tool_calls` or `stop` when missing, as there are calls or not. */
  readonly finishReason?: FinishReason;
  readonly providerMetadata?: ProviderMetadata;
};

/** A call in a scripted answer, as a provider would give it. */
export type ScriptedToolCall = {
  readonly name: string;
  readonly args?: JsonObject;
  /** The id the provider would give. */
  readonly id?: string;
  /** Arguments the model wrote that are not JSON; `args` is not used then. */
  readonly malformedArgs?: string;
};

/** How a scripted turn fails: what the attempts throw as a `ModelError` before one succeeds. */
export type ScriptedError = {
  readonly kind: ModelErrorKind;
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** How many attempts fail, the first ones. All of them when missing. */
  readonly attempts?: number;
};

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
 * Reads the `scripted_model` member of a conformance fixture: `{ turns: [{ text?, tool_calls?: [{ name, input, id? }] }] }`.
 * @throws InvalidInputError naming the path.
 */
export function parseScriptedTurns(scriptedModel: unknown): readonly ScriptedTurn[] {
  const result = v.safeParse(fixtureSchema, scriptedModel, { abortEarly: true });
  if (!result.success) {
    const [issue] = result.issues;
    const keys = (issue.path ?? []).map(({ key }) => String(key));
    throw new InvalidInputError(['scripted_model', ...keys].join('.'), `${issue.message}.`);
  }
  return result.output.turns.map(({ text, tool_calls: calls }) => ({
    ...(text !== undefined && { text }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ name, input, id }) => ({ name, args: input, ...(id && { id }) })),
    }),
  }));
}
