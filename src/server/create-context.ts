import { omitUndefined } from '../core/internal.ts';
import { manageRuntime } from '../managed/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import { createIdGenerator } from '../managed/internal.ts';
import { systemClock } from '../net/index.ts';
import { AnswerAuthors } from './auth/answer-authors.ts';
import { ApiKeys, ENVIRONMENT_INDEX } from './auth/api-keys.ts';
import { AGENT_INDEX, SESSION_INDEX, WorkspaceIndex } from './auth/workspace-index.ts';
import { DEFAULT_RETRY_WINDOW_MS, IdempotentRequests } from './idempotency/idempotent-requests.ts';
import { ImportPlaces } from './http/import-places.ts';
import { ProofJobs } from './proofs/proof-jobs.ts';
import { parseProofOptions } from './proofs/proof-options.ts';
import type { Protocol } from './protocols/protocol.ts';
import type { ServerContext } from './routing/server-context.ts';
import type { ServerOptions } from './server-options.ts';
import { SecretBox } from './webhooks/secret-box.ts';
import { WebhookOutbox } from './webhooks/webhook-outbox.ts';
import { WebhookRegistry } from './webhooks/webhook-registry.ts';
import { createWebhookSender } from './webhooks/webhook-sender.ts';
import { EventProjectionCache } from './wire/event-projection-cache.ts';
import { WorkQueue } from './workers/work-queue.ts';

const DEFAULT_IMPORT_BYTES = 67_108_864;

/** The managed runtime over a runtime, or the one that it is already. */
export async function toManagedRuntime({
  runtime,
  clock,
  onError,
}: Pick<ServerOptions, 'runtime' | 'clock' | 'onError'>): Promise<ManagedRuntime> {
  if ('eventBatch' in runtime) return runtime;
  return manageRuntime(runtime, omitUndefined({ clock, onError }));
}

/** How a server tells its routes that it stops, and is told to. */
export type ServerPhases = Pick<ServerContext, 'closing' | 'draining' | 'drain' | 'isDrained'>;

/** Creates the services that the routes of a server use. */
export function createContext(
  options: Omit<ServerOptions, 'protocols'> & {
    readonly protocols: readonly Protocol[];
    readonly runtime: ManagedRuntime;
    readonly onError: (error: unknown) => void;
  },
  { closing, draining, drain, isDrained }: ServerPhases,
): ServerContext {
  const { runtime, clock = systemClock, onError } = options;
  const { store = runtime.runtime.store } = options;
  const newId = createIdGenerator(clock);
  const keys = new ApiKeys(store, clock);
  const sender = createWebhookSender(options.webhooks);
  const secrets = new SecretBox(options.secretKey, {
    isPersistent: store.durability !== 'process',
  });
  const webhooks = new WebhookRegistry({ documents: store, sender, secrets, onError });
  return {
    runtime,
    store,
    clock,
    keys,
    newId,
    agents: new WorkspaceIndex(store, AGENT_INDEX),
    environments: new WorkspaceIndex(store, ENVIRONMENT_INDEX),
    sessions: new WorkspaceIndex(store, SESSION_INDEX),
    idempotentRequests: new IdempotentRequests(
      store,
      clock,
      options.retryWindowMs ?? DEFAULT_RETRY_WINDOW_MS,
    ),
    projections: new EventProjectionCache(),
    work: new WorkQueue({
      documents: store,
      runtime,
      keys,
      clock,
      newId,
      leaseMs: options.leaseMs ?? 60_000,
    }),
    answerAuthors: new AnswerAuthors(),
    webhooks,
    webhookOutbox: new WebhookOutbox({
      store,
      runtime,
      clock,
      registry: webhooks,
      sender,
      pushFormats: new Map(
        options.protocols.flatMap(({ name, pushFormat }) =>
          pushFormat === undefined ? [] : [[name, pushFormat]],
        ),
      ),
      onError,
    }),
    proofs: new ProofJobs({
      settings: options.proofs && parseProofOptions(options.proofs),
      documents: store,
      clock,
      newId,
      onError,
    }),
    modelOrigins: options.modelOrigins ?? [],
    publicUrl: options.publicUrl,
    closing,
    draining,
    drain,
    isDrained,
    onError,
    journalFiles: new Set(),
    imports:
      options.imports === true
        ? new ImportPlaces(options.limits?.importBytes ?? DEFAULT_IMPORT_BYTES)
        : undefined,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    readerTimeoutMs: options.readerTimeoutMs ?? 30_000,
  };
}
