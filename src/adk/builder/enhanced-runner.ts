import { isFunctionCallPart, PetrichorError, contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import { Runner } from '../runner/runner.ts';
import type { RunnerOptions } from '../runner/runner-options.ts';

/** Where what is asked goes, and how an answer is read. */
export interface EnhancedRunnerOptions<T> extends RunnerOptions {
  readonly userId: string;
  readonly sessionId: string;
  readonly runConfig?: RunConfig;
  /** What is sent for something that is asked. @throws InvalidInputError */
  readonly toMessage: (input: AskInput) => Content | string;
  /** What the words of an invocation are. @throws OutputSchemaError */
  readonly parseAnswer: (answers: readonly AgentAnswer[]) => T;
  /** The session service is the runner's own, and closed with it. */
  readonly ownsSessions: boolean;
}

/** Words, content, or with an input schema a value of it. */
export type AskInput = string | Content | { readonly parts: Content['parts'] } | object;

/** What one of several agents said last. */
export interface AgentAnswer {
  readonly agent: string;
  readonly response: string;
}

/** The agent did not answer: it failed, or waits for someone. */
export class NoAnswerError extends PetrichorError {
  override readonly code = 'no_answer' as const;
  /** The code of the error that ended the invocation, if one did. */
  readonly reason: string | undefined;
  /** The calls that wait for someone. */
  readonly waitingFor: readonly string[];

  constructor(reason: Event | undefined, waitingFor: readonly string[]) {
    const why =
      reason?.errorMessage ??
      (waitingFor.length > 0
        ? `it waits for ${waitingFor.join(', ')}: answer with runner.runAsync().`
        : 'it said nothing.');
    super(`The agent gave no answer: ${why}`);
    this.reason = reason?.errorCode;
    this.waitingFor = waitingFor;
  }
}

/** A runner with a session at hand, in which it can be asked. */
export class EnhancedRunner<T = string> extends Runner {
  readonly #options: EnhancedRunnerOptions<T>;

  constructor(options: EnhancedRunnerOptions<T>) {
    super(options);
    this.#options = options;
  }

  /** Sends a message into the session, and gives the answer. @throws NoAnswerError, and what `runAsync` throws */
  async ask(message: AskInput): Promise<T> {
    const { userId, sessionId, runConfig, toMessage, parseAnswer } = this.#options;
    const events = await this.run({
      userId,
      sessionId,
      newMessage: toMessage(message),
      ...(runConfig !== undefined && { runConfig }),
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

/** What each agent said last, in the order in which they were done. */
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
