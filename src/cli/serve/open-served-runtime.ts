import { omitUndefined, readMember } from '../../core/internal.ts';
import { openManagedRuntime } from '../../managed/index.ts';
import type { ManagedRuntime, ManagedRuntimeOptions } from '../../managed/index.ts';
import { failureLog, registerAgents, workerTools } from '../../server/index.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import type { Store } from '../../store/index.ts';
import { toFailureJson } from '../command/failure-json.ts';
import { oneLine } from '../terminal/printable.ts';
import { assertKnownTools, listMissingKeys } from './check-served-agents.ts';
import type { ServedCall } from './serve-options.ts';
import { warnAboutExports, warnAboutKeys, writeFailure } from './serve-output.ts';
import type { ServedAgents, ServedDefinition } from './served-agents.ts';
import { createServedTools } from './served-tools.ts';

/** The workspace of the agents of a file. */
export const DEFAULT_WORKSPACE = 'default';

/** What a served runtime runs, and where. */
export interface ServedRuntimePlan {
  /** Empty: no file. */
  readonly file: string;
  readonly served: ServedAgents;
  readonly store: Store;
  readonly observers: NonNullable<ManagedRuntimeOptions['observers']>;
  readonly onError: (error: unknown) => void;
  /** Default: none. */
  readonly interceptors?: ManagedRuntimeOptions['interceptors'] | undefined;
  /** Default: no limits. */
  readonly quotas?: ManagedRuntimeOptions['quotas'] | undefined;
  /** Default: the servers find sessions in the store. */
  readonly dispatcher?: ManagedRuntimeOptions['dispatcher'] | undefined;
  /** For live sessions. Default: none. */
  readonly live?: ManagedRuntimeOptions['live'] | undefined;
  /**
   * Creates the function that resolves models, for agents from code, and for definitions with these origins. Default: by
   * name, with the keys of the environment.
   */
  readonly createModels?:
    | ((modelOrigins: readonly string[] | undefined) => (ref: ModelRef) => Promise<Model>)
    | undefined;
}

/** Opens the runtime of a file with agents, with their tools, and registers their definitions. */
export async function openServedRuntime(
  call: ServedCall,
  {
    file,
    served,
    store,
    observers,
    interceptors,
    onError,
    live,
    quotas,
    dispatcher,
    createModels,
  }: ServedRuntimePlan,
): Promise<ManagedRuntime> {
  const { values, env, clock } = call;
  const { tools: _, definitions, code, leftOut, builtIns: __, ...services } = served;
  const { builtIns, toolNames, ...removing } = createServedTools(call, served);
  if (toolNames !== undefined) assertKnownTools(file, definitions, toolNames);
  warnAboutExports(call, file, leftOut);
  const modelOrigins = [...values['model-origin'], ...listModelOrigins(definitions)];
  const runtime = await openManagedRuntime({
    ...services,
    ...omitUndefined({
      app: values.app,
      models: services.resolver ?? createModels?.(undefined),
      resolver: services.resolver ?? createModels?.(modelOrigins),
      live,
      quotas,
      dispatcher,
      interceptors,
    }),
    agents: code.map(({ source }) => source),
    store,
    env,
    modelOrigins,
    clock,
    observers: [...observers, failureLog((failure) => writeFailure(call, failure))],
    ...removing,
    builtIns: workerTools(builtIns),
    onError,
  });
  try {
    await registerAgents(
      { runtime, store },
      DEFAULT_WORKSPACE,
      definitions.map(({ value }) => value),
      { labels: definitions.map(({ label }) => label) },
    );
  } catch (error) {
    await runtime[Symbol.asyncDispose]();
    throw error;
  }
  if (served.resolver === undefined && createModels === undefined)
    warnAboutKeys(call, listMissingKeys(file, definitions, env));
  return runtime;
}

/** Writes internal errors to the error stream, one line each. */
export function createErrorOutput({
  values,
  stderr,
}: Pick<ServedCall, 'values' | 'stderr'>): (error: unknown) => void {
  return (error) => {
    const { code, message } = toFailureJson(error);
    stderr.write(
      values.json
        ? `${JSON.stringify(toFailureJson(error))}\n`
        : `${code}: ${oneLine(message, Infinity)}\n`,
    );
  };
}

/**
 * The origins of the models in the agents file. Its author is the operator, so they are allowed.
 */
export function listModelOrigins(definitions: readonly ServedDefinition[]): readonly string[] {
  return definitions.flatMap(({ value }) => {
    const url = readMember(readMember(value, 'model'), 'base_url');
    return typeof url === 'string' && /^https?:/.test(url) ? (URL.parse(url)?.origin ?? []) : [];
  });
}
