import type { ManagedRuntime } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import type { AnswerAuthors } from '../auth/answer-authors.ts';
import type { ApiKeys } from '../auth/api-keys.ts';
import type { WorkspaceIndex } from '../auth/workspace-index.ts';
import type { ImportPlaces } from '../http/import-places.ts';
import type { IdempotentRequests } from '../idempotency/idempotent-requests.ts';
import type { ProofJobs } from '../proofs/proof-jobs.ts';
import type { WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import type { WebhookRegistry } from '../webhooks/webhook-registry.ts';
import type { EventProjectionCache } from '../wire/event-projection-cache.ts';
import type { WorkQueue } from '../workers/work-queue.ts';

/** Services that the routes use. */
export interface ServerContext {
  readonly runtime: ManagedRuntime;
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: ApiKeys;
  readonly newId: (prefix: string) => string;
  readonly agents: WorkspaceIndex;
  readonly environments: WorkspaceIndex;
  readonly sessions: WorkspaceIndex;
  readonly idempotentRequests: IdempotentRequests;
  readonly projections: EventProjectionCache;
  readonly work: WorkQueue;
  /** Who gave the latest answers to calls. */
  readonly answerAuthors: AnswerAuthors;
  readonly webhooks: WebhookRegistry;
  readonly webhookOutbox: WebhookOutbox;
  readonly proofs: ProofJobs;
  /** Origins that a caller may use as the `base_url` of a model. */
  readonly modelOrigins: readonly string[];
  /** The address of the server for its clients, without a trailing slash. Undefined: that of each request. */
  readonly publicUrl: string | undefined;
  /** Aborted when the server accepts no more changes, because its process is about to end. */
  readonly draining: AbortSignal;
  /** Begins to drain, because an operator asked for it over HTTP. */
  readonly drain: () => void;
  /** True when all sessions were given away. */
  readonly isDrained: () => boolean;
  /** Aborted when the server closes. Streams then end and can be resumed. */
  readonly closing: AbortSignal;
  /** Receives internal errors that no response shows. */
  readonly onError: (error: unknown) => void;
  /** Journal files that are being sent. Each holds a connection of the store. */
  readonly journalFiles: Set<object>;
  /** Undefined: no journal files are imported. */
  readonly imports: ImportPlaces | undefined;
  readonly keepAliveMs: number;
  readonly readerTimeoutMs: number;
}
