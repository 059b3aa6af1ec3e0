import { archiveIn, completeIn } from '../../agents/internal.ts';
import type { Json, SessionKey } from '../../core/index.ts';
import { duplicateReceipt, isAnswerKey } from '../../store/internal.ts';
import type {
  DocumentChange,
  InjectReceipt,
  SessionInput,
  Submission,
  SubmitResult,
} from '../../store/index.ts';
import type { Session, SessionOptions } from './session.ts';

/**
 * Writes inputs of one or several sessions in one transaction: all of them or, when one is refused, none.
 *
 *     const batch = runtime.batch();
 *     const session = await batch.session('s');
 *     const sent = await batch.add(() => session.send('Hi').accepted);
 *     await batch.submit();
 *     await sent.done;
 */
export interface InputBatch {
  /**
   * Opens a session whose inputs wait for `submit`. A session that does not exist is created by `submit`.
   * @throws as `Runtime.session`
   */
  session(id: string, options?: SessionOptions): Promise<Session>;

  /**
   * Runs `send`, which sends one input through a session of this batch. Resolves when the input has been validated and
   * added. @throws every error of `send` before that
   */
  add<T>(send: () => Promise<T>): Promise<AddedInput<T>>;

  /**
   * Writes all inputs in order, together with these documents, in one transaction. Call it once.
   * @throws AlreadyAnsweredError, SessionNotFoundError when nothing was written
   */
  submit(documents?: readonly DocumentChange[]): Promise<SubmitResult>;
}

/** A validated input that waits for `submit`. */
export interface AddedInput<T> {
  /** The value that will be injected. Undefined when `send` sent no input. */
  readonly input: Json | undefined;
  /** Settles like `send`, after `submit`. */
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

/** The inputs of a batch, until `submit` writes them. */
export class PendingInputs {
  readonly inputs: SessionInput[] = [];
  readonly #receipts = Promise.withResolvers<readonly InjectReceipt[]>();
  #added: () => void = () => {};
  #adding: Promise<unknown> = Promise.resolve();

  constructor() {
    // If nothing waits for the receipts, a failed batch must not cause an unhandled rejection.
    this.#receipts.promise.catch(() => {});
  }

  /** Collects an input in place of the store. @throws AlreadyAnsweredError for a second answer to one call */
  async inject({ key, input, dedupeKey }: SessionInput): Promise<InjectReceipt> {
    const isDuplicate = this.forSession(key).some((pending) => pending.dedupeKey === dedupeKey);
    if (isDuplicate && isAnswerKey(dedupeKey)) return duplicateReceipt(dedupeKey, 0);
    const index = this.inputs.push({ key, input, dedupeKey }) - 1;
    this.#added();
    const receipts = await this.#receipts.promise;
    return receipts[index] ?? { inputSeq: 0, duplicate: true };
  }

  /** The inputs of one session, in order. */
  forSession({ appName, userId, sessionId }: SessionKey): readonly SessionInput[] {
    return this.inputs.filter(
      ({ key }) => key.sessionId === sessionId && key.userId === userId && key.appName === appName,
    );
  }

  /** Runs one `send` at a time, so that the next input is known to be its input. */
  async add<T>(send: () => Promise<T>): Promise<AddedInput<T>> {
    const adding = this.#adding.then(async () => this.#add(send));
    this.#adding = adding.catch(() => {});
    return adding;
  }

  async #add<T>(send: () => Promise<T>): Promise<AddedInput<T>> {
    const index = this.inputs.length;
    const added = new Promise<void>((resolve) => {
      this.#added = resolve;
    });
    const done = send();
    done.catch(() => {});
    await Promise.race([added, done]);
    return { input: this.inputs[index]?.input.value, done };
  }

  /** The status that the inputs of this batch give to a session. Undefined when they do not close it. */
  findClosing(key: SessionKey): 'archived' | 'completed' | undefined {
    const places = new Set(this.forSession(key).map(({ input }) => input.place));
    if (places.has(archiveIn.name)) return 'archived';
    return places.has(completeIn.name) ? 'completed' : undefined;
  }

  resolve(receipts: readonly InjectReceipt[]): void {
    this.#receipts.resolve(receipts);
  }

  reject(error: unknown): void {
    this.#receipts.reject(error);
  }
}

export function createInputBatch({ open, submit }: InputBatchOptions): InputBatch {
  const pending = new PendingInputs();
  const created = new Map<string, NewSession>();
  return {
    session: async (id, options = {}) => {
      const opened = await open(id, options, pending);
      if (opened.created !== undefined)
        created.set(`${opened.created.key.userId}\0${id}`, opened.created);
      return opened.session;
    },
    add: async (send) => pending.add(send),
    submit: async (documents = []) => {
      try {
        const sessions = [...created.values()];
        const result = await submit({ documents, sessions, inputs: pending.inputs });
        if (result.ok) pending.resolve(result.receipts);
        else
          pending.reject(
            new Error('Nothing was written: a document of the batch was changed meanwhile. Retry.'),
          );
        return result;
      } catch (error) {
        pending.reject(error);
        throw error;
      }
    },
  };
}
