import type { Injection } from '../../net/index.ts';
import { InvalidStepError, StoreClosedError } from '../../store/internal.ts';
import type { InjectReceipt } from '../../store/index.ts';
import type { FinalCommitResult } from '../scheduling/committer.ts';

type Decision = PromiseWithResolvers<InjectReceipt | undefined>;

/** The inputs that a hosted session got without its inbox, until a commit or the end of the host decides about them. */
export class DirectInputs {
  readonly #waiting = new Map<Injection, Decision>();
  #state: 'open' | 'closing' | 'stopped' = 'open';

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /**
   * Waits for the step with this input. Resolves with its receipt when the step is durable, and with undefined when the
   * inbox must take the input, because no step took it.
   * @throws the error of a commit that may have written it
   */
  async whenDecided(injection: Injection): Promise<InjectReceipt | undefined> {
    const decision: Decision = Promise.withResolvers();
    this.#waiting.set(injection, decision);
    return decision.promise;
  }

  /** Decides about the inputs of a step that is being committed. Returns the result of the commit. */
  async decide(
    inputs: readonly Injection[],
    committing: Promise<FinalCommitResult>,
  ): Promise<FinalCommitResult> {
    // `stop` does not decide about them: the step may become durable.
    const decisions = inputs.map((input) => [input, this.#waiting.get(input)] as const);
    for (const input of inputs) this.#waiting.delete(input);
    try {
      const result = await committing;
      // After a conflict, the driver makes another step with them, unless it has stopped.
      const isRetried = !result.ok && result.refused === 'conflict' && this.#state !== 'stopped';
      for (const [index, [input, decision]] of decisions.entries()) {
        if (decision === undefined) continue;
        if (isRetried) this.#waiting.set(input, decision);
        else decision.resolve(result.ok ? toReceipt(result.inputs?.[index]) : undefined);
      }
      return result;
    } catch (error) {
      const isUnwritten = error instanceof InvalidStepError || error instanceof StoreClosedError;
      for (const [, decision] of decisions)
        if (isUnwritten) decision?.resolve(undefined);
        else decision?.reject(error);
      throw error;
    }
  }

  /** The inbox must take these inputs: no step will have them. */
  refuse(inputs: readonly Injection[]): void {
    for (const input of inputs) {
      this.#waiting.get(input)?.resolve(undefined);
      this.#waiting.delete(input);
    }
  }

  /** Takes no more inputs. Those that wait may still be committed. */
  close(): void {
    if (this.isOpen) this.#state = 'closing';
  }

  /** No step will have the inputs that wait. */
  stop(): void {
    this.#state = 'stopped';
    for (const { resolve } of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}

function toReceipt(inputSeq: number | undefined): InjectReceipt {
  if (inputSeq === undefined)
    throw new TypeError('The store returned no number for an input that a step accepts.');
  return { inputSeq, duplicate: false };
}
