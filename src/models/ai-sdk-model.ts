import { getFunctionCalls, contentText, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { ResponseBuilder, type ResponseEnd } from './response/response-builder.ts';
import { ResponseSizeLimit } from './response/response-size-limit.ts';
import type { Feature } from './provider/feature.ts';
import {
  asStreamPart,
  providerFamily,
  openStream,
  type LanguageModel,
  type StreamPart,
} from './provider/language-model.ts';
import { abortedError, ModelError } from './model/model-error.ts';
import type { Model, ModelContext, ModelRequest, ModelResponse } from './model/model.ts';
import { getProviderProfile } from './provider/provider-profile.ts';
import type { Redact } from './response/redact.ts';
import { normalizeSchema, type NormalizedSchema } from './schema/normalize-schema.ts';
import { toCallError, type FailedCall } from './response/to-call-error.ts';
import { toCallOptions, type LearnedLimits, type PlannedCall } from './prompt/to-call-options.ts';
import type { ToolDeclaration } from './model/tool-declaration.ts';
import { raceWithAbort } from './model/race-with-abort.ts';
import { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';

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
  const { name = `${providerFamily(model)}/${model.modelId}`, redact = (text) => text } = options;
  const schemas = new WeakMap<ToolDeclaration, NormalizedSchema>();
  const { dialect } = getProviderProfile(model);
  // Until the service says that it does not.
  let encryptsThinking = true;
  const normalizedSchema = (tool: ToolDeclaration): NormalizedSchema => {
    const known = schemas.get(tool) ?? normalizeSchema(tool.parameters, dialect);
    schemas.set(tool, known);
    return known;
  };
  return {
    name,
    generate: async (request, context) => {
      if (context.signal.aborted) throw abortedError(name);
      // Ours too, so that whatever ends the call closes its socket.
      const ended = new AbortController();
      const signal = AbortSignal.any([context.signal, ended.signal]);
      const failed = { model: name, answering: false, redact };
      const attemptCall = async (limits: LearnedLimits): Promise<ModelResponse> => {
        const plan = await toCallOptions(model, request, normalizedSchema, limits);
        const dropped = droppedFeatureWarnings(plan, request, name);
        const call = { model, plan, dropped, name, failed };
        try {
          return await streamResponse(call, request, { ...context, signal });
        } catch (error) {
          const learned = failed.answering
            ? undefined
            : learnFromError(error, plan, {
                limits,
                mayHide: request.config?.onUnsupported !== 'refuse',
              });
          if (learned === undefined) throw error;
          encryptsThinking = learned.encryptsThinking;
          return attemptCall(learned);
        }
      };
      try {
        return await attemptCall({ refusedTypes: new Set(), encryptsThinking });
      } catch (error) {
        if (context.signal.aborted) throw abortedError(name);
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

async function streamResponse(
  { model, plan, dropped, name, failed }: RunningCall,
  request: ModelRequest,
  { signal, onDelta }: ModelContext,
): Promise<ModelResponse> {
  const builder = new ResponseBuilder({
    family: providerFamily(model),
    acceptsUnsignedThinking: getProviderProfile(model).acceptsUnsignedThinking,
    onDelta,
    toolName: plan.names.fromProvider,
    restore: plan.restore,
  });
  const opening = openStream(model, { ...plan.options, abortSignal: signal });
  const { stream } = await raceWithAbort(opening, signal);
  failed.answering = true;
  const warnings = [...dropped];
  for await (const part of readStreamParts(stream, signal, new ResponseSizeLimit(name))) {
    if (part.type === 'error') throw part['error'];
    if (part.type === 'stream-start') warnings.push(...readWarnings(part, request, name));
    builder.add(part);
  }
  signal.throwIfAborted();
  checkEnd(builder.end, model, name);
  if (warnings.length > 0) builder.setMetadata('warnings', warnings.join('; '));
  const response = builder.build();
  checkCalls(response, builder.end, name);
  return response;
}

async function* readStreamParts(
  stream: ReadableStream<unknown>,
  signal: AbortSignal,
  meter: ResponseSizeLimit,
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
const FILE_FEATURES: ReadonlySet<Feature> = new Set<Feature>(['images', 'imageUrls', 'files']);

function droppedFeatureWarnings(
  { unsupported, misnamed, optionNames, warnings }: PlannedCall,
  { config }: ModelRequest,
  name: string,
): readonly string[] {
  const features = unsupported.filter((feature) => !FILE_FEATURES.has(feature));
  const [first] = config?.onUnsupported === 'refuse' ? unsupported : features;
  if (first !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, first);
  }
  const [wrong] = misnamed;
  const reads = `this model reads ${optionNames.join(', ')}`;
  if (wrong !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, `providerOptions.${wrong}`, reads);
  }
  return [
    ...features.map((feature) => `${feature} is not supported`),
    ...misnamed.map((one) => `providerOptions.${one}: ${reads}`),
    ...warnings,
  ];
}

/** What a refusal teaches, where the same can be asked without it; undefined where nothing is to be learned. */
function learnFromError(
  error: unknown,
  { fileTypes }: PlannedCall,
  {
    limits: { refusedTypes, encryptsThinking },
    mayHide,
  }: { readonly limits: LearnedLimits; readonly mayHide: boolean },
): LearnedLimits | undefined {
  if (!(error instanceof Error)) return undefined;
  if (encryptsThinking && 'statusCode' in error && error.statusCode === 400) {
    const isAboutEncryption = /encrypted[ _]content/i.test(error.message);
    return isAboutEncryption ? { refusedTypes, encryptsThinking: false } : undefined;
  }
  // Thrown while the package writes the request: nothing was sent.
  const isPackageError = error.name === 'AI_UnsupportedFunctionalityError';
  if (!isPackageError || !mayHide || fileTypes.size === 0) return undefined;
  const types = [...fileTypes];
  const named = types.filter((type) => error.message.includes(type));
  const others = types.filter((type) => !type.startsWith('image/'));
  const refused = [named, others, types].find(({ length }) => length > 0) ?? [];
  return {
    refusedTypes: new Set([...refusedTypes, ...refused]),
    encryptsThinking: encryptsThinking,
  };
}

/** What the package says it left out: known only when the call has begun, so a refusal ends it at once. */
function readWarnings(
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
  end: ResponseEnd | undefined,
  { provider }: LanguageModel,
  model: string,
): asserts end is ResponseEnd {
  const isEnd =
    end !== undefined && end.unified !== 'interrupted' && hasFinishReason(end, provider);
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
function checkCalls({ content }: ModelResponse, end: ResponseEnd | undefined, model: string): void {
  const calls = getFunctionCalls(content);
  const isLost = end?.unified === 'tool-calls' && calls.length === 0 && contentText(content) === '';
  if (!isLost && calls.every((call) => call.name !== '')) return;
  const message = 'the answer calls a tool and does not say which.';
  throw new ModelError({ model, kind: 'protocol', message });
}

/**
 * Packages make an end up where a stream just stops, under any word of theirs. The provider's own word tells a real one.
 * Only the responses wire has none for an ordinary end: there the tokens are counted at the end.
 */
function hasFinishReason({ unified, raw, counted }: ResponseEnd, provider: string): boolean {
  if (raw !== undefined) return true;
  return (
    getProviderProfile({ provider }).omitsFinishReason &&
    counted &&
    unified !== 'other' &&
    unified !== 'error'
  );
}
