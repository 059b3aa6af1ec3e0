import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import type { Store } from '../../src/store/index.ts';

/** One call of a store method. */
export interface StoreCall {
  readonly method: string;
  /** What is read or written, for the methods of documents and for `submit`. */
  readonly subject: string | undefined;
  /** The functions of `src/` that made the call, innermost first. */
  readonly callers: readonly string[];
}

/** A store that counts the calls that a request waits for. */
export interface CountingStore {
  readonly store: Store;
  /** Runs a request and returns the calls that it waited for, in order. */
  readonly count: <T>(run: () => Promise<T>) => Promise<CountedRequest<T>>;
}

/** A finished request. */
export interface CountedRequest<T> {
  readonly result: T;
  readonly calls: readonly StoreCall[];
}

/**
 * Counts the calls of every method of a store. Each call of a request is held for a turn of the event loop. If the
 * request has ended by then, it did not wait for the call: the session's turn, or a webhook, made it.
 */
export function countStoreCalls(target: Store): CountingStore {
  const requests = new AsyncLocalStorage<{ readonly calls: StoreCall[]; hasEnded: boolean }>();
  const store = new Proxy(target, {
    get: (from, name) => {
      const member: unknown = Reflect.get(from, name, from);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: unknown[]): unknown => {
        const request = requests.getStore();
        const call = (): unknown => Reflect.apply(member, from, args);
        if (request === undefined || request.hasEnded) return call();
        const counted = { method: name, subject: toSubject(name, args[0]), callers: readCallers() };
        if (ITERABLES.has(name)) {
          request.calls.push(counted);
          return call();
        }
        if (name === 'subscribe') return call();
        return (async () => {
          await setImmediate();
          if (!request.hasEnded) request.calls.push(counted);
          return call();
        })();
      };
    },
  });
  return {
    store,
    count: async (run) => {
      const request = { calls: [] as StoreCall[], hasEnded: false };
      const result = await requests.run(request, run);
      request.hasEnded = true;
      return { result, calls: request.calls };
    },
  };
}

/** Methods that return an iterable at once. */
const ITERABLES: ReadonlySet<string> = new Set(['read', 'steps', 'listSteps']);

function toSubject(method: string, argument: unknown): string | undefined {
  const listKinds = (documents: readonly { readonly kind: string }[]): string =>
    documents.map(({ kind }) => kind).join(', ');
  switch (method) {
    case 'document':
      return String(argument);
    case 'documents':
      return (argument as { readonly kind: string }).kind;
    case 'writeDocuments':
      return listKinds(argument as readonly { readonly kind: string }[]);
    case 'submit': {
      const { documents = [], inputs = [] } = argument as {
        readonly documents?: readonly { readonly kind: string }[];
        readonly inputs?: readonly unknown[];
      };
      return `${listKinds(documents)}, inputs: ${inputs.length}`;
    }
    default:
      return undefined;
  }
}

function readCallers(): readonly string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const { stack = '' } = new Error('stack');
  Error.stackTraceLimit = limit;
  const frames = stack.split('\n').flatMap((line) => {
    const [, name = 'a function', file] =
      /at (?:async )?(?:(\S+) .*)?[\s(](?:file:\/\/)?\/\S*?\/src\/(\S+?\.ts):/.exec(line) ?? [];
    return file === undefined ? [] : [`${name} in ${file}`];
  });
  return frames.slice(0, 4);
}
