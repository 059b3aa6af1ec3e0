import type { SessionKey } from '../core/index.ts';
import type { ManagedRuntime } from '../managed/index.ts';
import type { Clock } from '../net/index.ts';
import type { Store } from '../store/index.ts';
import { createContext } from './create-context.ts';
import { exportSession, type ExportSessionOptions } from './retention/export-session.ts';

/** Reads sessions as the lines of journal files, without a server. */
export function createExporter({
  runtime,
  store,
  clock,
}: {
  readonly runtime: ManagedRuntime;
  readonly store: Store;
  readonly clock: Clock;
}): (key: SessionKey, options: ExportSessionOptions) => AsyncIterable<object> {
  const never = new AbortController().signal;
  const context = createContext(
    { runtime, store, clock, keys: 'required', protocols: [], onError: () => {} },
    { closing: never, draining: never, drain: () => {}, isDrained: () => false },
  );
  return (key, options) => exportSession(context, key, options);
}
