import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { delay } from '../../../src/client/delay.ts';
import { untilReached } from '../api/until-reached.ts';
import { batched } from '../state/batched.ts';
import { client } from '../state/connection.ts';
import { lists } from '../state/lists.ts';

/** What was read last. */
export interface Followed<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  /** Reads again now. */
  readonly reload: () => void;
}

/** Changes of sessions that come within this time are one reason to read again. */
const BATCH_MS = 1000;

/**
 * Reads again every `everyMs` milliseconds, and when a session changes, because a run of a schedule starts one or sends
 * it a message. What was read for another key is dropped.
 */
export function useFollowed<T>(
  read: () => Promise<T>,
  { everyMs, key = '' }: { readonly everyMs: number; readonly key?: string },
): Followed<T> {
  const [found, setFound] = useState<Omit<Followed<T>, 'reload'> & { readonly key: string }>();
  const reload = useRef(() => {});
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    let changed = Promise.withResolvers<void>();
    reload.current = () => changed.resolve();
    const follow = async (): Promise<void> => {
      while (!signal.aborted) {
        changed = Promise.withResolvers();
        const value = await untilReached(read, signal);
        if (!signal.aborted) setFound({ key, value, error: undefined });
        await Promise.race([delay(everyMs, signal), changed.promise]);
      }
    };
    follow().catch((cause: unknown) => {
      if (signal.aborted) return;
      const error = cause instanceof Error ? cause : new Error(String(cause));
      setFound({ key, value: undefined, error });
    });
    const readSoon = batched(() => reload.current(), BATCH_MS);
    const stop = effect(() => {
      if (lists.value.sessions.rows.value.length > 0) readSoon();
    });
    return () => {
      stop();
      ended.abort();
    };
  }, [client.value, key]);
  const current = found?.key === key ? found : undefined;
  return { value: current?.value, error: current?.error, reload: () => reload.current() };
}
