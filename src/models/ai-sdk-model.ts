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
import {
  toCallOptions,
  type ForeignTool,
  type LearnedLimits,
  type PlannedCall,
} from './prompt/to-call-options.ts';
import type { ToolDeclaration } from './model/tool-declaration.ts';
import { raceWithAbort } from './model/race-with-abort.ts';
import { UnsupportedFeatureError } from './model/unsupported-feature-error.ts';

/** Options of `aiSdkModel`. */
export interface AiSdkModelOptions {
  /** The name of the model in the log and in errors. Default: `provider/model`. */
  readonly name?: string;
  /** Removes secrets from the provider's error messages. Default: no change. */
  readonly redact?: Redact;
}

/** The options of `aiSdkModel`. */
export const AI_SDK_MODEL_OPTIONS: OptionTable = optionTable<AiSdkModelOptions>('aiSdkModel', {
  name: true,
  redact: true,
});

/**
 * Wraps a model of the AI SDK specification as a `Model`: Gemini, OpenAI, Anthropic, Ollama and
 * every other provider with an AI SDK package. All differences between providers are handled here
 * and in the functions it calls. It does not retry or buffer. A response without a proper end is an
 * error.
 */
export function aiSdkModel(model: LanguageModel, options: AiSdkModelOptions = {}): Model {
  checkOptions(AI_SDK_MODEL_OPTIONS, options);
  const { name = `${providerFamily(model)}/${model.modelId}`, redact = (text) => text } = options;
  const schemas = new WeakMap<ToolDeclaration, NormalizedSchema>();
  const { dialect } = getProviderProfile(model);
  // True until the service rejects encrypted thinking.
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
      // A second signal, so that the socket is closed however the call ends.
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
  // Ends a pending read even if the package ignores the signal.
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

/**
 * Files are part of the conversation, not requested features: they are rejected only with
 * `onUnsupported: 'refuse'`.
 */
const FILE_FEATURES: ReadonlySet<Feature> = new Set<Feature>(['images', 'imageUrls', 'files']);

function droppedFeatureWarnings(
  { unsupported, misnamed, foreignTools, optionNames, warnings }: PlannedCall,
  { config }: ModelRequest,
  name: string,
): readonly string[] {
  const features = unsupported.filter((feature) => !FILE_FEATURES.has(feature));
  const [first] = config?.onUnsupported === 'refuse' ? unsupported : features;
  if (first !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, first);
  }
  const [firstMisnamed] = misnamed;
  const advice = `this model reads ${optionNames.join(', ')}`;
  if (firstMisnamed !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, `providerOptions.${firstMisnamed}`, advice);
  }
  const [foreign] = foreignTools;
  if (foreign !== undefined && config?.onUnsupported !== 'warn') {
    throw new UnsupportedFeatureError(name, `tool ${foreign.id}`, describeRunTools(foreign));
  }
  return [
    ...features.map((feature) => `${feature} is not supported`),
    ...foreignTools.map((tool) => `tool ${tool.id}: ${describeRunTools(tool)}`),
    ...misnamed.map((optionName) => `providerOptions.${optionName}: ${advice}`),
    ...warnings,
  ];
}

function describeRunTools({ runs }: ForeignTool): string {
  return runs.length === 0
    ? 'this API runs no tools of providers'
    : `this model runs tools of ${[...new Set(runs)].join(', ')} only`;
}

/**
 * What an error teaches about the service, if the request can be repeated without the cause;
 * otherwise undefined.
 */
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
  // Thrown while the package builds the request, so nothing was sent.
  const isPackageError = error.name === 'AI_UnsupportedFunctionalityError';
  if (!isPackageError || !mayHide || fileTypes.size === 0) return undefined;
  const types = [...fileTypes];
  const named = types.filter((type) => error.message.includes(type));
  const others = types.filter((type) => !type.startsWith('image/'));
  const refused = [named, others, types].find(({ length }) => length > 0) ?? [];
  return {
    refusedTypes: new Set([...refusedTypes, ...refused]),
    encryptsThinking,
  };
}

/**
 * Reads the features that the package dropped. They are known only when the call has begun, so a
 * rejection ends the call.
 */
function readWarnings(
  { warnings }: StreamPart,
  { config }: ModelRequest,
  name: string,
): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  const all: readonly Readonly<Record<string, unknown>>[] = warnings;
  return all.map(({ type, feature, setting, details, message }) => {
    const subject = String(feature ?? setting ?? type);
    const reason = details ?? message;
    if (type === 'unsupported' && config?.onUnsupported !== 'warn') {
      throw new UnsupportedFeatureError(
        name,
        subject,
        typeof reason === 'string' ? reason : undefined,
      );
    }
    return typeof reason === 'string' ? `${subject}: ${reason}` : `${subject} is not supported`;
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
    const message = 'the stream ended before the response was complete.';
    throw new ModelError({ model, kind: 'truncated', message });
  }
  if (end.unified === 'error') {
    const message = `the model stopped because of an internal error (${end.raw}).`;
    throw new ModelError({ model, kind: 'server', message });
  }
}

/** Some packages return a call without a name, and some drop it. */
function checkCalls({ content }: ModelResponse, end: ResponseEnd | undefined, model: string): void {
  const calls = getFunctionCalls(content);
  const isLost = end?.unified === 'tool-calls' && calls.length === 0 && contentText(content) === '';
  if (!isLost && calls.every((call) => call.name !== '')) return;
  const message = 'the response calls a tool without naming it.';
  throw new ModelError({ model, kind: 'protocol', message });
}

/**
 * Packages invent a finish reason when a stream just stops. A raw reason from the provider proves a
 * real end. Only the OpenAI responses API has no raw reason for an ordinary end; there the token
 * counts prove it.
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
