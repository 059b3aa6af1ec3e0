import { isRecord, omitUndefined } from '../../core/internal.ts';
import {
  assertInputSize,
  deriveInvocationId,
  getFunctionResponses,
  InvalidInputError,
  InvalidOutputError,
  isFunctionResponsePart,
  newMessageId,
  parseUserContent,
  userContent,
  validateStateDelta,
} from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { listAnsweringAgents, userIn } from '../../agents/internal.ts';
import type { RequestedOutput } from '../../agents/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import type { AnyPlace } from '../../net/index.ts';
import { createOutputSchema } from '../../tools/internal.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';
import { findCurrentWait } from '../log/find-current-wait.ts';
import { findReportedCalls } from '../log/find-reported-call.ts';
import { findSeqBeforeClosing, findSeqBeforeFirst } from './find-turn.ts';
import { toMessageMetadata } from './message-metadata.ts';
import type { SendOptions } from './session.ts';
import type { SessionAccess } from './session-access.ts';
import { createTurn } from './turn.ts';
import type { SentInput, Turn, TurnOptions } from './turn.ts';

/** An input whose turn its sender reads. */
export interface NewInput {
  readonly place: AnyPlace;
  readonly value: unknown;
  readonly dedupeKey: string;
  /** The session of the called agent that gets the input. Default: this session. */
  readonly session?: string;
}

/** Sends messages, and other inputs whose turn the sender reads. */
export class MessageSender {
  readonly #session: SessionAccess;
  readonly #listPending: TurnOptions['listPending'];

  constructor(session: SessionAccess, listPending: TurnOptions['listPending']) {
    this.#session = session;
    this.#listPending = listPending;
  }

  /** Sends a message. @throws InvalidInputError, InvalidToolError, DuplicateToolError, InputTooLargeError */
  send(message: string | Content, options: SendOptions): Turn {
    const { key, agent, services } = this.#session;
    assertMessage(message);
    assertInputSize(message, 'message', services.maxInputBytes);
    const content =
      typeof message === 'string'
        ? userContent(message)
        : parseUserContent(message, { functionResponses: 'allow' });
    if (content.role !== 'user' || content.parts.length === 0) {
      throw new InvalidInputError('message', 'must have the role "user" and at least one part.');
    }
    const messageId = options.messageId ?? newMessageId();
    const { stateDelta = {}, output } = options;
    const metadata = toMessageMetadata({
      runConfig: options.runConfig,
      traceContext: services.propagateContext(agent.name),
      requestedOutput:
        output === undefined
          ? undefined
          : this.#requestOutput(createOutputSchema(output).jsonSchema),
      clientTools: options.clientTools,
      custom: options.metadata,
    });
    const delta = validateStateDelta(stateDelta);
    const fields = omitUndefined({
      stateDelta: Object.keys(delta).length === 0 ? undefined : delta,
      metadata,
    });
    const invocationId = deriveInvocationId(messageId);
    return createTurn({
      session: key.sessionId,
      invocationId,
      ...this.waits,
      sent: this.sendAfter(async () => ({
        place: userIn,
        value: { messageId, invocationId, content: await this.#checkResults(content), ...fields },
        dedupeKey: `message:${messageId}`,
      })),
      readLog: (from, filter) => services.readLog(key, from, {}, filter),
      begins: (event) => event.type === 'user.message' && event.invocationId === invocationId,
      findBlockingWait: async (from) => {
        const wait = await findCurrentWait(services.store, key);
        const isOtherTurn = wait !== undefined && wait.invocationId !== invocationId;
        return isOtherTurn && wait.seq <= from ? wait : undefined;
      },
    });
  }

  /** Sends a message and resolves with the answer as a value of `output`. @throws InvalidOutputError, TurnNotCompletedError */
  async ask<S extends ToolParameters>(
    message: string | Content,
    options: SendOptions,
    output: S,
  ): Promise<InferArgs<S>> {
    const { parse } = createOutputSchema(output);
    const text = await this.send(message, options).text();
    const parsed = await parse(text);
    if (parsed.ok) return parsed.value;
    throw new InvalidOutputError(this.#session.key.sessionId, text, parsed.issues);
  }

  /** What a turn needs to find out what it waits for. */
  get waits(): Pick<TurnOptions, 'findWait' | 'listPending'> {
    const { key, services } = this.#session;
    return {
      findWait: async () => services.read(async () => findCurrentWait(services.store, key)),
      listPending: this.#listPending,
    };
  }

  /** Sends an input and returns the log position before it, from where its effects can be read. */
  async sendAfter(input: () => Promise<NewInput>): Promise<SentInput> {
    const { key, services, control } = this.#session;
    let position = { from: 0, wasWaiting: false };
    let sent: unknown;
    const { inputSeq, duplicate } = await services.submit(async () => {
      const { from, wasWaiting, status } = await this.#session.readLogPosition();
      const { place, value, dedupeKey, session = key.sessionId } = await input();
      const checked = this.#session.validateInput(place.name, value);
      if (place === userIn) await control.assertAllowed(status, 'sending a message', dedupeKey);
      position = { from, wasWaiting };
      sent = value;
      const target = { ...key, sessionId: session };
      return { key: target, input: { place: place.name, value: checked }, dedupeKey };
    });
    if (!duplicate) return { inputSeq, duplicate, ...position };
    const { store, read } = services;
    const earlier = await read(
      async () =>
        (await findSeqBeforeFirst(store, key, sent)) ??
        // The session was closed before the turn of the input began.
        (await findSeqBeforeClosing(store, key, position.from)),
    );
    return { inputSeq, duplicate, ...position, from: earlier ?? position.from };
  }

  /** The content, if its results are for calls of long-running tools that have a first result. @throws InvalidInputError */
  async #checkResults(content: Content): Promise<Content> {
    const callIds = getFunctionResponses(content).map(({ id }) => id);
    if (callIds.length === 0) return content;
    const { key, services } = this.#session;
    const names = new Map(
      (await findReportedCalls(services.store, key, callIds)).map((call) => [
        call.callId,
        call.name,
      ]),
    );
    const parts = content.parts.map((part, index) => {
      if (!isFunctionResponsePart(part)) return part;
      const { functionResponse } = part;
      const name = names.get(functionResponse.id);
      if (name !== undefined) return { functionResponse: { ...functionResponse, name } };
      throw new InvalidInputError(
        `content.parts[${index}].functionResponse`,
        `is the result of a tool call, but "${functionResponse.id.slice(0, 200)}" is no call of a long-running tool with a first result: approve, deny or answer a call that waits.`,
      );
    });
    return { ...content, parts };
  }

  #requestOutput(schema: JsonSchema): RequestedOutput {
    return { schema, agents: listAnsweringAgents(this.#session.agent) };
  }
}

/** @throws InvalidInputError for a message that is neither text nor an object */
function assertMessage(message: unknown): void {
  if (typeof message === 'string' || isRecord(message)) return;
  const kind = Array.isArray(message) ? 'a list' : message === null ? 'null' : typeof message;
  throw new InvalidInputError(
    'message',
    `must be text, or content such as { role: 'user', parts: [{ text: 'Hi' }] }; it is ${kind}.`,
  );
}
