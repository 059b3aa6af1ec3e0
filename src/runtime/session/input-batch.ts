import type { Json, SessionKey } from '../../core/index.ts';
import { duplicateReceipt, isAnswerKey } from '../../store/rules/dedupe-key.ts';
import type {
  DocumentChange,
  InjectReceipt,
  InboxInput,
  SessionInput,
  Submission,
  SubmitResult,
} from '../../store/index.ts';
import type { Session, SessionOptions } from './session.ts';

/**
 * Inputs of one or several sessions that become durable together: all of them or, when one is refused, none.
 *
 *     const batch = runtime.batch();
 *     const session = await batch.session('s');
 *     const sent = await batch.add(() => session.send('Hi').accepted);
 *     await batch.submit();
 *     await sent.done;
 */
export interface InputBatch {
  /**
   * The session of this id, whose inputs wait for `submit`. One that does not exist is created then.
   * @throws as `Runtime.session`
   */
  session(id: string, options?: SessionOptions): Promise<Session>;

  /**
   * Runs `send`, which sends one input through a session of this batch. Resolves when the input was checked and waits,
   * with its value; `done` settles as `send` does. @throws what `send` throws before that
   */
  add<T>(send: () => Promise<T>): Promise<AddedInput<T>>;

  /**
   * Writes all inputs, in their order, with these documents, in one transaction. Once.
   * @throws AlreadyAnsweredError, SessionNotFoundError: nothing was written
   */
  submit(documents?: readonly DocumentChange[]): Promise<SubmitResult>;
}

/** An input that was checked and waits for `submit`. */
export interface AddedInput<T> {
  /** The value as it will be injected; undefined when `send` sent none. */
  readonly input: Json | undefined;
  /** Settles as `send` does, after `submit`. */
  readonly done: Promise<T>;
}

export interface InputBatchOptions {
  readonly open: (
    id: string,
    options: SessionOptions,
    inputs: PendingInputs,
  ) => Promise<{ readonly session: Session; readonly created?: NewSession }>;
  readonly submit: (submission: Submission) => Promise<SubmitResult>;
}

type NewSession = NonNullable<Submission['sessions']>[number];

/** The inputs of a batch that wait to be written. */
export class PendingInputs {
  readonly inputs: SessionInput[] = [];
  readonly #receipts = Promise.withResolvers<readonly InjectReceipt[]>();
  #added: () => void = () => {};
  #adding: Promise<unknown> = Promise.resolve();

  constructor() {
    // A batch that is never written leaves nobody to hear of it.
    this.#receipts.promise.catch(() => {});
  }

  /** Takes an input instead of the store. @throws AlreadyAnsweredError for a second answer to one call */
  async inject(key: SessionKey, input: InboxInput, dedupeKey: string): Promise<InjectReceipt> {
    const isTaken = this.forSession(key).some((one) => one.dedupeKey === dedupeKey);
    if (isTaken && isAnswerKey(dedupeKey)) return duplicateReceipt(dedupeKey, 0);
    const index = this.inputs.push({ key, input, dedupeKey }) - 1;
    this.#added();
    const receipts = await this.#receipts.promise;
    return receipts[index] ?? { inputSeq: 0, duplicate: true };
  }

  /** Those of one session, in order. */
  forSession({ appName, userId, sessionId }: SessionKey): readonly SessionInput[] {
    return this.inputs.filter(
      ({ key }) => key.sessionId === sessionId && key.userId === userId && key.appName === appName,
    );
  }

  /** One after the other: which input came of which `send` is known by its place. */
  async add<T>(send: () => Promise<T>): Promise<AddedInput<T>> {
    const adding = this.#adding.then(async () => this.#add(send));
    this.#adding = adding.catch(() => {});
    return adding;
  }

  async #add<T>(send: () => Promise<T>): Promise<AddedInput<T>> {
    const before = this.inputs.length;
    const added = new Promise<void>((resolve) => {
      this.#added = resolve;
    });
    const done = send();
    done.catch(() => {});
    await Promise.race([added, done]);
    return { input: this.inputs[before]?.input.value, done };
  }

  resolve(receipts: readonly InjectReceipt[]): void {
    this.#receipts.resolve(receipts);
  }

  reject(error: unknown): void {
    this.#receipts.reject(error);
  }
}

export function createInputBatch({ open, submit }: InputBatchOptions): InputBatch {
  const waiting = new PendingInputs();
  const created = new Map<string, NewSession>();
  return {
    session: async (id, options = {}) => {
      const opened = await open(id, options, waiting);
      if (opened.created !== undefined)
        created.set(`${opened.created.key.userId}\0${id}`, opened.created);
      return opened.session;
    },
    add: async (send) => waiting.add(send),
    submit: async (documents = []) => {
      try {
        const sessions = [...created.values()];
        const result = await submit({ documents, sessions, inputs: waiting.inputs });
        if (result.ok) waiting.resolve(result.receipts);
        else waiting.reject(new Error('A document of the batch was changed: nothing was written.'));
        return result;
      } catch (error) {
        waiting.reject(error);
        throw error;
      }
    },
  };
}
