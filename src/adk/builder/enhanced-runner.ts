import { omitUndefined } from '../../core/internal.ts';
import { isFunctionCallPart, PetrichorError, contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import { Runner } from '../runner/runner.ts';
import type { RunnerOptions } from '../runner/runner-options.ts';

/** Options of `EnhancedRunner`: the session to ask in, and how answers are read. */
export interface EnhancedRunnerOptions<T> extends RunnerOptions {
  readonly userId: string;
  readonly sessionId: string;
  readonly runConfig?: RunConfig;
  /**
   * Converts the input of `ask` to a message.
   * @throws InvalidInputError if it cannot be sent
   */
  readonly toMessage: (input: AskInput) => Content | string;
  /**
   * Converts the answers of an invocation to the result of `ask`.
   * @throws OutputSchemaError if they do not match the schema
   */
  readonly parseAnswer: (answers: readonly AgentAnswer[]) => T;
  /** True: the session service belongs to the runner and is closed with it. */
  readonly ownsSessions: boolean;
}

/** Text, content, or with an input schema a value of it. */
export type AskInput = string | Content | { readonly parts: Content['parts'] } | object;

/** The last answer of one agent. */
export interface AgentAnswer {
  readonly agent: string;
  readonly response: string;
}

/**
 * An agent did not answer: it failed, it waits for a call to be answered, or it returned no text.
 * @remedy Read `reason` and the log; answer the calls in `waitingFor` with `runAsync`.
 */
export class NoAnswerError extends PetrichorError {
  override readonly code = 'no_answer' as const;
  /** Code of the error that ended the invocation, if any. */
  readonly reason: string | undefined;
  /** Ids of the calls that wait for an answer. */
  readonly waitingFor: readonly string[];

  constructor(reason: Event | undefined, waitingFor: readonly string[]) {
    const why =
      reason?.errorMessage ??
      (waitingFor.length > 0
        ? `it waits for ${waitingFor.join(', ')}: answer with runner.runAsync().`
        : 'it returned no text.');
    super(`The agent gave no answer: ${why}`);
    this.reason = reason?.errorCode;
    this.waitingFor = waitingFor;
  }
}

/** A runner with a fixed session and the method `ask`. */
export class EnhancedRunner<T = string> extends Runner {
  readonly #options: EnhancedRunnerOptions<T>;

  constructor(options: EnhancedRunnerOptions<T>) {
    super(options);
    this.#options = options;
  }

  /**
   * Sends a message into the session and returns the answer.
   * @throws NoAnswerError if the agent fails, waits or returns no text
   * @throws errors of `runAsync`
   */
  async ask(message: AskInput): Promise<T> {
    const { userId, sessionId, runConfig, toMessage, parseAnswer } = this.#options;
    const events = await this.run({
      userId,
      sessionId,
      newMessage: toMessage(message),
      ...omitUndefined({ runConfig }),
    });
    const answers = collectAnswers(events);
    const waiting = events.at(-1)?.longRunningToolIds ?? [];
    const error = events.findLast(({ errorCode }) => errorCode !== undefined);
    if (waiting.length > 0 || error !== undefined || answers.length === 0)
      throw new NoAnswerError(error, waiting);
    return parseAnswer(answers);
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.#options.ownsSessions) await this.sessionService.close();
  }
}

/** The last answer of each agent, in the order in which they finished. */
function collectAnswers(events: readonly Event[]): readonly AgentAnswer[] {
  const last = new Map<string, string>();
  for (const { author, content, partial } of events) {
    if (partial === true || content?.role !== 'model') continue;
    const response = contentText(content);
    if (response === '' || content.parts.some(isFunctionCallPart)) continue;
    last.delete(author);
    last.set(author, response);
  }
  return [...last].map(([agent, response]) => ({ agent, response }));
}
