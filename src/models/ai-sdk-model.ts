import { functionCallsOf, textOf, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { AnswerBuilder, type AnswerEnd } from './answer-builder.ts';
import { AnswerMeter } from './answer-meter.ts';
import type { Feature } from './feature.ts';
import {
  asStreamPart,
  familyOf,
  openStream,
  type LanguageModel,
  type StreamPart,
} from './language-model.ts';
import { abortedCall, ModelError } from './model-error.ts';
import type { Model, ModelContext, ModelRequest, ModelResponse } from './model.ts';
import { profileOf } from './provider-profile.ts';
import type { Redact } from './redact.ts';
import { normaliseSchema, type NormalisedSchema } from './schema/normalise-schema.ts';
import { toCallError, type FailedCall } from './to-call-error.ts';
import { toCallOptions, type LearnedLimits, type PlannedCall } from './to-call-options.ts';
import type { ToolDeclaration } from './tool-declaration.ts';
import { unlessAborted } from './unless-aborted.ts';
import { UnsupportedFeatureError } from './unsupported-feature-error.ts';

/** How a model of the AI SDK is called here, and what its errors may not show. */
export interface AiSdkModelOptions {
  /** How the log and errors name the model; the provider's name and the model's when missing. */
  readonly name?: string;
  /** Takes secrets out of what the provider says in errors. */
  readonly redact?: Redact;
}

/** The options of `aiSdkModel`. */
export const AI_SDK_MODEL_OPTIONS: OptionTable = optionTable<AiSdkModelOptions>('aiSdkModel', {
  name: true,
  redact: true,
});

/**
 * A model of the AI SDK's specification as a `Model`: Gemini, OpenAI, Anthropic, Ollama and every other provider that has
 * a package for it. What providers do differently is made the same here and in what this calls, and nowhere else.
 * Nothing is retried, nothing is held back, and an answer without an end is an error.
 */
export function aiSdkModel(model: LanguageModel, options: AiSdkModelOptions = {}): Model {
  checkOptions(AI_SDK_MODEL_OPTIONS, options);
  const { name = `${familyOf(model)}/${model.modelId}`, redact = (text) => text } = options;
  const schemas = new WeakMap<ToolDeclaration, NormalisedSchema>();
  const { dialect } = profileOf(model);
  // Until the service says that it does not.
  let sealsThinking = true;
  const normalised = (tool: ToolDeclaration): NormalisedSchema => {
    const known = schemas.get(tool) ?? normaliseSchema(tool.parameters, dialect);
    schemas.set(tool, known);
    return known;
  };
  return {
    name,
    generate: async (request, context) => {
      if (context.signal.aborted) throw abortedCall(name);
      // Ours too, so that whatever ends the call closes its socket.
      const ended = new AbortController();
      const signal = AbortSignal.any([context.signal, ended.signal]);
      const failed = { model: name, answering: false, redact };
      const ask = async (limits: LearnedLimits): Promise<ModelResponse> => {
        const plan = await toCallOptions(model, request, normalised, limits);
        const dropped = droppedWishes(plan, request, name);
        const call = { model, plan, dropped, name, failed };
        try {
          return await answerOf(call, request, { ...context, signal });
        } catch (error) {
          const learned = failed.answering
            ? undefined
            : learnedFrom(error, plan, {
                limits,
                mayHide: request.config?.onUnsupported !== 'refuse',
              });
          if (learned === undefined) throw error;
          sealsThinking = learned.sealsThinking;
          return ask(learned);
        }
      };
      try {
        return await ask({ refusedTypes: new Set(), sealsThinking });
      } catch (error) {
        if (context.signal.aborted) throw abortedCall(name);
        throw toCallError(error, failed);
      } finally {
        ended.abort();
      }
    },
  };
}

interface RunningCall {
  readonly model: LanguageModel;
  readonly plan: PlannedCall;
  readonly dropped: readonly string[];
  readonly name: string;
  readonly failed: FailedCall & { answering: boolean };
}

async function answerOf(
  { model, plan, dropped, name, failed }: RunningCall,
  request: ModelRequest,
  { signal, onDelta }: ModelContext,
): Promise<ModelResponse> {
  const answer = new AnswerBuilder({
    family: familyOf(model),
    echoesThinking: profileOf(model).echoesThinking,
    onDelta,
    toolName: plan.names.fromProvider,
    restore: plan.restore,
  });
  const opening = openStream(model, { ...plan.options, abortSignal: signal });
  const { stream } = await unlessAborted(opening, signal);
  failed.answering = true;
  const warnings = [...dropped];
  for await (const part of partsOf(stream, signal, new AnswerMeter(name))) {
    if (part.type === 'error') throw part['error'];
    if (part.type === 'stream-start') warnings.push(...warningsIn(part, request, name));
    answer.add(part);
  }
  signal.throwIfAborted();
  checkEnd(answer.end, model, name);
  if (warnings.length > 0) answer.tell('warnings', warnings.join('; '));
  const response = answer.build();
  checkCalls(response, answer.end, name);
  return response;
}

async function* partsOf(
  stream: ReadableStream<unknown>,
  signal: AbortSignal,
  meter: AnswerMeter,
): AsyncGenerator<StreamPart, void> {
  const reader = stream.getReader();
  // Ends the read that is waiting, whether or not the package heeds the signal.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) return;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      await meter.count(value);
      const part = asStreamPart(value);
      if (part !== undefined) yield part;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Files are no wishes: a conversation keeps them, so they are refused only where that is asked for. */
const FILES: ReadonlySet<Feature> = new Set<Feature>(['images', 'imageUrls', 'files']);

function droppedWishes(
  { unsupported, misnamed, optionNames, warnings }: PlannedCall,
  { config }: ModelRequest,
  name: string,
): readonly string[] {
  const wishes = unsupported.filter((feature) => !FILES.has(feature));
  const [first] = config?.onUnsupported === 'refuse' ? unsupported : wishes;
  if (first !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, first);
  }
  const [wrong] = misnamed;
  const reads = `this model reads ${optionNames.join(', ')}`;
  if (wrong !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, `providerOptions.${wrong}`, reads);
  }
  return [
    ...wishes.map((feature) => `${feature} is not supported`),
    ...misnamed.map((one) => `providerOptions.${one}: ${reads}`),
    ...warnings,
  ];
}

/** What a refusal teaches, where the same can be asked without it; undefined where nothing is to be learned. */
function learnedFrom(
  error: unknown,
  { fileTypes }: PlannedCall,
  {
    limits: { refusedTypes, sealsThinking },
    mayHide,
  }: { readonly limits: LearnedLimits; readonly mayHide: boolean },
): LearnedLimits | undefined {
  if (!(error instanceof Error)) return undefined;
  if (sealsThinking && 'statusCode' in error && error.statusCode === 400) {
    const isSealing = /encrypted[ _]content/i.test(error.message);
    return isSealing ? { refusedTypes, sealsThinking: false } : undefined;
  }
  // Thrown while the package writes the request: nothing was sent.
  const isOfPackage = error.name === 'AI_UnsupportedFunctionalityError';
  if (!isOfPackage || !mayHide || fileTypes.size === 0) return undefined;
  const types = [...fileTypes];
  const named = types.filter((type) => error.message.includes(type));
  const others = types.filter((type) => !type.startsWith('image/'));
  const refused = [named, others, types].find(({ length }) => length > 0) ?? [];
  return { refusedTypes: new Set([...refusedTypes, ...refused]), sealsThinking };
}

/** What the package says it left out: known only when the call has begun, so a refusal ends it at once. */
function warningsIn(
  { warnings }: StreamPart,
  { config }: ModelRequest,
  name: string,
): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  const all: readonly Readonly<Record<string, unknown>>[] = warnings;
  return all.map(({ type, feature, setting, details, message }) => {
    const what = String(feature ?? setting ?? type);
    const why = details ?? message;
    if (type === 'unsupported' && config?.onUnsupported !== 'warn') {
      throw new UnsupportedFeatureError(name, what, typeof why === 'string' ? why : undefined);
    }
    return typeof why === 'string' ? `${what}: ${why}` : `${what} is not supported`;
  });
}

function checkEnd(
  end: AnswerEnd | undefined,
  { provider }: LanguageModel,
  model: string,
): asserts end is AnswerEnd {
  const isEnd = end !== undefined && end.unified !== 'interrupted' && isNamed(end, provider);
  if (!isEnd) {
    const message = 'the stream ended before the answer did.';
    throw new ModelError({ model, kind: 'truncated', message });
  }
  if (end.unified === 'error') {
    const message = `the model stopped because of an error of its own (${end.raw}).`;
    throw new ModelError({ model, kind: 'server', message });
  }
}

/** Some packages pass a call without a name on, and some lose it. */
function checkCalls({ content }: ModelResponse, end: AnswerEnd | undefined, model: string): void {
  const calls = functionCallsOf(content);
  const isLost = end?.unified === 'tool-calls' && calls.length === 0 && textOf(content) === '';
  if (!isLost && calls.every((call) => call.name !== '')) return;
  const message = 'the answer calls a tool and does not say which.';
  throw new ModelError({ model, kind: 'protocol', message });
}

/**
 * Packages make an end up where a stream just stops, under any word of theirs. The provider's own word tells a real one.
 * Only the responses wire has none for an ordinary end: there the tokens are counted at the end.
 */
function isNamed({ unified, raw, counted }: AnswerEnd, provider: string): boolean {
  if (raw !== undefined) return true;
  return (
    profileOf({ provider }).endsUnnamed && counted && unified !== 'other' && unified !== 'error'
  );
}
