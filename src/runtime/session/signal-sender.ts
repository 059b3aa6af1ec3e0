import { assertInputSize, isJsonObject, newMessageId, parseUserContent } from '../../core/index.ts';
import type { InvocationId } from '../../core/index.ts';
import { archiveIn, interruptIn, listAnsweringAgents, userIn } from '../../agents/internal.ts';
import type { OutcomeDefinition } from '../../agents/index.ts';
import { currentPlaceName } from '../../net/internal.ts';
import type { AnyPlace } from '../../net/index.ts';
import type { InjectReceipt } from '../../store/index.ts';
import { toAppendInput } from './append-event.ts';
import type { AppendOptions, AppendReceipt, EventToAppend } from './append-event.ts';
import { toOutcomeInput } from './define-outcome.ts';
import type { DefineOutcomeOptions, OutcomeReceipt } from './define-outcome.ts';
import { findNextTurn } from './find-turn.ts';
import type { SessionAccess } from './session-access.ts';

/** Sends inputs that are no messages: signals, appended events, outcomes and interrupts. */
export class SignalSender {
  readonly #session: SessionAccess;

  constructor(session: SessionAccess) {
    this.#session = session;
  }

  async append(event: EventToAppend, options: AppendOptions): Promise<AppendReceipt> {
    const { key, services, control } = this.#session;
    const { place, value, dedupeKey } = toAppendInput(event, options, services.now());
    const checked = this.#session.validateInput(place.name, value);
    const { duplicate } = await services.submit(async () => {
      await control.assertStatus('appending an event', dedupeKey);
      return { key, input: { place: place.name, value: checked }, dedupeKey };
    });
    return { eventId: value.event.id, duplicate };
  }

  async defineOutcome(
    definition: OutcomeDefinition,
    options: DefineOutcomeOptions,
  ): Promise<OutcomeReceipt> {
    const { place, value, dedupeKey } = toOutcomeInput(this.#session.agent, definition, options);
    return { ...(await this.inject(place, value, dedupeKey)), outcomeId: value.outcomeId };
  }

  async inject(
    place: string | AnyPlace,
    value: unknown,
    dedupeKey: string,
  ): Promise<InjectReceipt> {
    const { key, agent, services, control } = this.#session;
    const name = currentPlaceName(
      agent.compiled.formerNames,
      typeof place === 'string' ? place : place.name,
    );
    assertInputSize(value, name, services.maxInputBytes);
    const message =
      name === userIn.name
        ? this.#withTraceContext(this.#withAnsweringAgents(parseSignalMessage(value)))
        : value;
    const checked = this.#session.validateInput(name, message);
    const inputKey = `signal:${this.#originalName(name)}:${dedupeKey}`;
    const action = name === userIn.name ? 'sending a message' : `an input to "${name}"`;
    return services.submit(async () => {
      await control.assertStatus(
        action,
        inputKey,
        name === archiveIn.name ? (status) => status !== 'archived' : undefined,
      );
      return { key, input: { place: name, value: checked }, dedupeKey: inputKey };
    });
  }

  /** Interrupts the current turn; with an invocation, only that turn. */
  async interrupt(only?: InvocationId): Promise<void> {
    const { key, services, control } = this.#session;
    // The net discards an interrupt whose turn has ended meanwhile, so it never stops the next turn.
    if (only !== undefined && (await this.#findCurrentTurn()).current !== only) {
      await control.assertStatus('an interrupt', undefined);
      return;
    }
    await services.submit(async () => {
      await control.assertStatus('an interrupt', undefined);
      const { running, current } = await this.#findCurrentTurn();
      const invocationId = only ?? current ?? `none:${newMessageId()}`;
      return {
        key,
        input: { place: interruptIn.name, value: { invocationId } },
        // A turn that runs is interrupted once. One that has not begun may miss the first interrupt.
        dedupeKey: `interrupt:${running === invocationId ? running : newMessageId()}`,
      };
    });
  }

  /** The turn that runs or waits, and otherwise the turn of the next message. */
  async #findCurrentTurn(): Promise<{
    readonly running: InvocationId | undefined;
    readonly current: InvocationId | undefined;
  }> {
    const { key, services } = this.#session;
    // The inbox before the running turn: a message that starts its turn in between is then found in one of the two.
    const next = findNextTurn(await services.listUnread(key));
    const running = await this.#session.findRunningTurn();
    return { running, current: running ?? next };
  }

  /** The first name of a place. A signal that is repeated after the place got another name has the same key. */
  #originalName(place: string): string {
    return this.#session.agent.compiled.places.get(place)?.formerNames[0] ?? place;
  }

  /** Adds the agents that answer to an output that a message requests. */
  #withAnsweringAgents(message: unknown): unknown {
    if (!isJsonObject(message) || !isJsonObject(message['metadata'])) return message;
    const { metadata } = message;
    const { requestedOutput } = metadata;
    if (!isJsonObject(requestedOutput)) return message;
    const agents = listAnsweringAgents(this.#session.agent);
    return {
      ...message,
      metadata: { ...metadata, requestedOutput: { agents, ...requestedOutput } },
    };
  }

  /** Adds the trace context to a message that is sent as a signal. */
  #withTraceContext(message: unknown): unknown {
    const { agent, services } = this.#session;
    const traceContext = services.propagateContext(agent.name);
    if (traceContext === undefined || !isJsonObject(message)) return message;
    const { metadata } = message;
    return {
      ...message,
      metadata: { ...(isJsonObject(metadata) ? metadata : {}), traceContext },
    };
  }
}

/** Applies the rules of user content to a message that is sent as a signal. @throws InvalidInputError */
function parseSignalMessage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value)) return value;
  return { ...value, content: parseUserContent(value.content) };
}
