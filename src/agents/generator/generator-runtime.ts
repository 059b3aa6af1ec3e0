import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import { applyYield } from './apply-yield.ts';
import type { StepResult, YieldRules } from './apply-yield.ts';
import { endGenerator, GeneratorCache, toGenerator } from './generator-cache.ts';
import type { CachedGenerator, Generator } from './generator-cache.ts';
import { findReply } from './generator-step.ts';
import type { GeneratorStep } from './generator-step.ts';
import { LiveContext } from './live-context.ts';
import type { ExtendContext, GeneratorContext, StepInputs } from './live-context.ts';
import { parseYield } from './parse-yield.ts';
import type { ParsedYield, YieldForm } from './parse-yield.ts';

/** What a runtime knows about the function it runs. */
export interface GeneratorOptions<
  Step extends GeneratorStep,
  Context extends GeneratorContext,
> extends YieldRules<Step> {
  /** Calls the function. It returns a generator, a promise or a value. */
  readonly run: (context: Context, step: Step) => unknown;
  readonly extendContext: ExtendContext<Step, Context>;
  readonly form: YieldForm;
  /** Whether a generator that asked a question resumes with the answer. Otherwise it ends at the question. */
  readonly resumesWithAnswer?: boolean;
}

/**
 * Runs the generators of one custom agent or one node, step by step. A step is the code between two yields. A generator
 * stays in memory between its steps. If it is not there, for example after a crash, it runs again from its beginning and
 * skips the yields it had made.
 */
export class GeneratorRuntime<Step extends GeneratorStep, Context extends GeneratorContext> {
  readonly #options: GeneratorOptions<Step, Context>;
  readonly #cache = new GeneratorCache<LiveContext<Step, Context>>();

  constructor(options: GeneratorOptions<Step, Context>) {
    this.#options = options;
  }

  /**
   * Runs a generator to its next yield, or a function to its end.
   * @throws InvalidInputError for an invalid yield
   * @throws Error when a generator makes fewer yields than before
   */
  async runStep(inputs: StepInputs<Step>): Promise<StepResult<Step>> {
    const { step, effect } = inputs;
    const { host, signal } = effect;
    const { identity, run, extendContext, form } = this.#options;
    const cached = this.#cache.take(host, step);
    const live = cached?.live ?? new LiveContext(identity, inputs, extendContext);
    const returned = cached === undefined ? run(live.context, step) : undefined;
    const generator = cached?.generator ?? toGenerator(returned);
    if (generator === undefined) {
      const next = { done: true, value: await returned };
      return this.#toResult(inputs, live.opened, next, step.yielded);
    }
    signal.addEventListener('abort', () => endGenerator(generator), { once: true });
    let kept: CachedGenerator<LiveContext<Step, Context>> | undefined;
    try {
      // The writes and actions of a replay were committed before. They are dropped: the step is entered afterwards.
      if (cached === undefined) await replayYields(form.name, generator, step);
      const opened = live.enter(inputs);
      const next = await generator.next(findReply(step, step.yielded));
      const result = this.#toResult(inputs, opened, next, step.yielded + 1);
      if (this.#resumes(result.next)) kept = { generator, live };
      return result;
    } finally {
      if (kept === undefined) endGenerator(generator);
      else this.#cache.keep(host, step, kept);
    }
  }

  /** Runs a function to its end and merges its yields, which are not committed one by one. */
  async runToEnd(inputs: StepInputs<Step>): Promise<StepResult<Step>> {
    const { identity, run, extendContext, form } = this.#options;
    const live = new LiveContext(identity, inputs, extendContext);
    const returned = run(live.context, inputs.step);
    const generator = toGenerator(returned);
    if (generator === undefined)
      return this.#toResult(inputs, live.opened, { done: true, value: await returned }, 0);
    const end = (): void => endGenerator(generator);
    inputs.effect.signal.addEventListener('abort', end, { once: true });
    try {
      let merged: ParsedYield | undefined;
      for (;;) {
        const next = await generator.next();
        const parsed = parseYield(next, form);
        merged = merged === undefined ? parsed : mergeYields(form.name, merged, parsed);
        if (next.done === true)
          return applyYield(this.#options, inputs, live.opened, merged, true, 0);
      }
    } finally {
      end();
    }
  }

  #resumes(next: StepResult<Step>['next']): boolean {
    const { resumesWithAnswer = false } = this.#options;
    return next === 'step' || next === 'runSubAgent' || (next === 'ask' && resumesWithAnswer);
  }

  #toResult(
    inputs: StepInputs<Step>,
    opened: OpenedCallbackContext,
    next: IteratorResult<unknown, unknown>,
    yielded: number,
  ): StepResult<Step> {
    const parsed = parseYield(next, this.#options.form);
    return applyYield(this.#options, inputs, opened, parsed, next.done === true, yielded);
  }
}

/**
 * Runs a new generator through the yields that were made before.
 * @throws Error when it ends after fewer yields than before
 */
async function replayYields(
  name: string,
  generator: Generator,
  step: GeneratorStep,
): Promise<void> {
  for (let index = 0; index < step.yielded; index++) {
    const { done } = await generator.next(findReply(step, index));
    if (done === true)
      throw new Error(
        `"${name}" ended after ${index} yields, but had yielded ${step.yielded} times before. Make it deterministic between yields.`,
      );
  }
}

function mergeYields(name: string, before: ParsedYield, next: ParsedYield): ParsedYield {
  if (before.output !== undefined && next.output !== undefined)
    throw new Error(`"${name}" gave two outputs for one item.`);
  const parts = [...(before.content?.parts ?? []), ...(next.content?.parts ?? [])];
  return {
    ...before,
    ...next,
    ...(parts.length > 0 && { content: { role: 'model', parts } }),
    stateDelta: { ...before.stateDelta, ...next.stateDelta },
    actions: { ...before.actions, ...next.actions },
    endInvocation: before.endInvocation || next.endInvocation,
  };
}
