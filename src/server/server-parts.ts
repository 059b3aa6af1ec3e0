import type { ManagedRuntime } from '../managed/index.ts';
import type { Clock } from '../net/index.ts';
import type { Store } from '../store/index.ts';
import type { Attempts } from './attempts.ts';
import type { ApiKeys } from './api-keys.ts';
import type { WebhookOutbox } from './webhook-outbox.ts';
import type { WireFaces } from './wire-faces.ts';
import type { WorkQueue } from './work-queue.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** What the routes work with. */
export interface ServerParts {
  readonly runtime: ManagedRuntime;
  readonly store: Store;
  readonly clock: Clock;
  readonly keys: ApiKeys;
  readonly newId: (prefix: string) => string;
  readonly agents: WorkspaceIndex;
  readonly environments: WorkspaceIndex;
  readonly sessions: WorkspaceIndex;
  readonly attempts: Attempts;
  readonly faces: WireFaces;
  readonly work: WorkQueue;
  readonly webhooks: WebhookOutbox;
  /** Origins that a caller's model may be at. */
  readonly modelOrigins: readonly string[];
  /** Aborted when the server closes: streams end, and can be resumed. */
  readonly closing: AbortSignal;
  readonly keepAliveMs: number;
  readonly stallMs: number;
}
