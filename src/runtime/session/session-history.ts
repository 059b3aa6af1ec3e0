import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, newMessageId } from '../../core/index.ts';
import type { SessionStatus } from '../../core/index.ts';
import { rewindIn } from '../../agents/internal.ts';
import { checkInjection } from '../../net/index.ts';
import { checkSessionId } from '../../store/internal.ts';
import type { InputSeq } from '../../store/index.ts';
import { forkSession } from '../journal/fork-session.ts';
import { planRewind } from '../journal/plan-rewind.ts';
import type { Session, SessionForkOptions } from './session.ts';
import type { SessionAccess } from './session-access.ts';

/** The statuses in which the conversation can be rewound. */
const REWINDABLE: readonly SessionStatus[] = ['idle', 'running', 'waiting', 'failed'];

/** Goes back in a session's history: in a copy, or in the session itself. */
export class SessionHistory {
  readonly #session: SessionAccess;

  constructor(session: SessionAccess) {
    this.#session = session;
  }

  async fork({ id, upTo, atRecord }: SessionForkOptions): Promise<Session> {
    if (upTo !== undefined && atRecord !== undefined)
      throw new InvalidInputError('atRecord', 'excludes upTo: use one of them.');
    const { key, agent, services } = this.#session;
    const to = { ...key, sessionId: id };
    checkSessionId(id, 'id');
    await services.checkNewSession(to);
    await forkSession(services.store, {
      from: await this.#session.readRow(),
      agent,
      to,
      ...omitUndefined({ upTo, atRecord }),
    });
    return services.open(to, agent.name);
  }

  async rewind(beforeInvocationId: string, dedupeKey: string = newMessageId()): Promise<void> {
    const { key, agent, services, control } = this.#session;
    const inputKey = `rewind:${dedupeKey}`;
    const { inputSeq } = await services.submit(async () => {
      await control.assertStatus('a rewind', inputKey, (status) => REWINDABLE.includes(status));
      const rewind = await planRewind(services.store, key, agent.compiled, beforeInvocationId);
      const value = checkInjection(agent.compiled, rewindIn.name, rewind);
      return { key, input: { place: rewindIn.name, value }, dedupeKey: inputKey };
    });
    await this.#waitUntilConsumed(inputSeq);
  }

  /** Resolves when the session has consumed the input. */
  async #waitUntilConsumed(inputSeq: InputSeq): Promise<void> {
    const { key, services } = this.#session;
    const { lastSeq } = await this.#session.readRow();
    const isConsumed = async (): Promise<boolean> =>
      (await services.store.inbox(key, inputSeq - 1))[0]?.inputSeq !== inputSeq;
    if (await isConsumed()) return;
    for await (const event of services.readLog(key, lastSeq, {})) {
      if ('seq' in event && (await isConsumed())) return;
    }
  }
}
